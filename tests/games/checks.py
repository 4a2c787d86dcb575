"""Checks that are made of each of our games."""

from __future__ import annotations

from typing import Any

import pytest

from fritillary import InvalidOptionsError


def check_wrong_options(game: Any, data: dict[str, Any], where: str, what: str) -> None:
    """Check that options are refused in one line.

    Args:
        game: the rules.
        data: the options.
        where: the field that is wrong.
        what: is said of it.
    """
    with pytest.raises(InvalidOptionsError) as caught:
        game.options(data)
    message = caught.value.message
    assert where in message
    assert what in message
    assert "\n" not in message
    assert message.startswith(f"{game.id}: ")


def check_notations(table: Any, size: int) -> None:
    """Check that each of so many actions of a table has a notation that names it."""
    for index, (each, text) in enumerate(zip(table.actions, table.texts, strict=True)):
        assert table.parse(text) is each
        assert table.parse(f"  {text.upper()} ") is each
        assert table.at(index) is each
        assert table.index[each] == index
    assert len(set(table.texts)) == size


def check_report(statistics: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Check that the report of a module of statistics names every setting."""
    statistics.main(["--games", "3"])
    printed = capsys.readouterr().out
    for setting in statistics.SETTINGS:
        assert f"{setting.name}: 3 games" in printed


def check_interrupt(
    statistics: Any,
    setting: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Check that an interrupt of statistics prints what there is.

    Args:
        statistics: the module.
        setting: the name of its first one.
        capsys: of the test.
        monkeypatch: of the test.
    """
    play = statistics.play

    def interrupted(*arguments: Any) -> None:
        if arguments[2] == 2:
            raise KeyboardInterrupt
        play(*arguments)

    monkeypatch.setattr(statistics, "play", interrupted)
    statistics.measure(10)
    printed = capsys.readouterr().out
    assert f"{setting}: 2 games" in printed
    assert printed.endswith("interrupted\n")
