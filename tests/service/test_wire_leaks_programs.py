"""Programs that the arena starts know what their seat may, and nobody hears them."""

from __future__ import annotations

import pytest
from tests.service import hush
from tests.service.leakgate import WireLeakError
from tests.service.leakprogramfaults import DECK, TALKATIVE
from tests.service.leakprograms import SEAT, play_with_a_program
from tests.service.worlds import Rules

RULES = Rules(hush.plugin(), plies=30)

pytestmark = pytest.mark.system


async def test_a_program_that_dials_in_is_given_what_its_seat_may_know(tmp_path):
    told, _ = await play_with_a_program(RULES, tmp_path, viewer=SEAT)
    surroundings, *frames = told.given
    assert set(surroundings) == {"argv", "environ", "cwd", "descriptors"}
    assert len(frames) > 5


async def test_a_program_of_lines_is_given_what_its_seat_may_know(tmp_path):
    told, _ = await play_with_a_program(
        RULES, tmp_path, viewer=SEAT, kind="stdio", how="lines"
    )
    surroundings, *lines = told.given
    assert "FRITILLARY_TOKEN" not in surroundings["environ"]
    assert lines[0]["type"] == "start"
    assert sum(one["type"] == "ask" for one in lines) > 1


async def test_what_a_program_says_that_dies_twice_is_for_referees_alone(tmp_path):
    told, _ = await play_with_a_program(
        RULES, tmp_path, viewer=1 - SEAT, how="fail", loud=True
    )
    assert len([one for one in told.given if isinstance(one, dict)]) == 2
    assert b"the program ended with exit code 3" in told.record


async def test_what_a_program_of_lines_says_is_for_referees_alone(tmp_path):
    await play_with_a_program(
        RULES, tmp_path, viewer=1 - SEAT, kind="stdio", how="lines", loud=True
    )


async def test_what_a_program_says_that_never_dials_in_is_for_referees_alone(tmp_path):
    told, _ = await play_with_a_program(
        RULES, tmp_path, viewer=1 - SEAT, how="look", loud=True
    )
    assert len(told.given) == 1


@pytest.mark.parametrize("name", TALKATIVE)
async def test_a_server_that_tells_too_much_is_caught(name, monkeypatch, tmp_path):
    one = TALKATIVE[name]
    one.change(monkeypatch)
    with pytest.raises(WireLeakError, match=one.where):
        await play_with_a_program(
            RULES, tmp_path, viewer=one.viewer, how=one.how, loud=one.viewer != SEAT
        )


async def test_a_game_that_leaks_to_a_program_of_lines_is_caught(tmp_path):
    with pytest.raises(WireLeakError, match="given to a program: observation"):
        await play_with_a_program(
            RULES, tmp_path, viewer=SEAT, kind="stdio", how="lines", variants=(DECK,)
        )
