"""Records of games that are not installed any more."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Run, one_line

from fritillary.plugins.discovery import Registry


@pytest.mark.parametrize("command", ["verify", "show", "export"])
def test_what_is_missing_is_one_clear_line(
    run: Run, frec: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(Registry, "load", Registry.games)
    code, out, error = run(command, frec)
    assert (code, out) == (1, "")
    told = one_line(error)
    assert str(frec) in told
    assert "no game 'lepidoptery'" in told
    assert "lepidoptery rules 1, of the distribution fritillary" in told
