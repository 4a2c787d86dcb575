"""No option of ours or of an example is so large that a match cannot be played."""

from typing import Any

import pytest
from tests.testing.test_golden import SOURCES, find_game

from fritillary import FritillaryError

ABSURD = (10**9, -(10**9))


def absurd(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Return options of which one value is absurd, each in another way."""
    found: list[dict[str, Any]] = []
    for name, value in data.items():
        match value:
            case bool():
                pass
            case int() | None:
                found += [{name: number} for number in ABSURD]
            case [first, *rest]:
                found.append({name: [first] * 100_000})
                if isinstance(first, int):
                    found += [{name: [number, *rest]} for number in ABSURD]
            case []:
                found.append({name: ["x"] * 100_000})
    return found


@pytest.mark.parametrize("name", SOURCES)
def test_absurd_options_are_refused_in_one_line(name: str) -> None:
    game = find_game(SOURCES[name])
    for options in absurd(game.codec.options_to_data(game.info.options())):
        with pytest.raises(FritillaryError) as caught:
            game.options(options)
        assert caught.value.code == "options.invalid"
        assert len(caught.value.message) < 200
        assert "\n" not in caught.value.message


def test_the_largest_heaps_of_nim_have_a_table_and_end_in_time() -> None:
    game = find_game(SOURCES["nim"])
    heaps = [100] * 10
    table = game.table(game.options({"heaps": heaps}), 2)
    # One stone a ply is the longest match.
    assert len(table) == sum(heaps) == game.info.max_plies


@pytest.mark.parametrize("heaps", [[], [0], [101], [1] * 11])
def test_heaps_of_nim_have_bounds(heaps: list[int]) -> None:
    with pytest.raises(FritillaryError, match="heaps"):
        find_game(SOURCES["nim"]).options({"heaps": heaps})
