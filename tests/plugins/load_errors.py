"""The errors of games and variants that break the contract."""

from __future__ import annotations

import pytest

from fritillary import Game, Plugin, PluginError


def error_of(plugin: Plugin, *variants: Plugin) -> PluginError:
    with pytest.raises(PluginError) as caught:
        Game(plugin, variants)
    return caught.value


def expect(error: PluginError, code: str, *words: str) -> None:
    for word in words:
        assert word in error.message
    assert error.code == code
