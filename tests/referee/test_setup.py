"""What a match is made of: its setup, and the names of its players."""

from __future__ import annotations

from typing import Any

import pytest
from tests.examples.test_tic_tac_toe import GAME as TIC_TAC_TOE
from tests.ids import steady
from tests.referee import race
from tests.referee.support import Scripted

from fritillary import BaseBot, FritillaryError, UniformBot
from fritillary.core.errors import UsageError
from fritillary.record.terms import UNTIMED_CEILING_MS, ClockSettings, Terms
from fritillary.referee.lineup import (
    local_bots,
    local_player,
    make_bot,
    parse_player,
)
from fritillary.referee.setup import MatchSetup, new_match_id, usual_terms


def setup(**more: Any) -> MatchSetup:
    return MatchSetup(
        **{"game": race.GAME, "players": [Scripted(), Scripted()], **more}
    )


def test_it_needs_no_more_than_a_game_and_players():
    one, other = setup(), setup()
    assert one.options == race.Options()
    assert one.clocks == (ClockSettings(), ClockSettings())
    assert one.terms.ceiling_ms == UNTIMED_CEILING_MS
    assert len({one.seed, one.salt, other.seed, other.salt}) == 4
    assert one.match_id != other.match_id


def test_the_ceiling_follows_from_clocks_and_plies():
    clocks = (ClockSettings(base_ms=1_000), ClockSettings(move_ms=10))
    plies = race.GAME.info.max_plies
    expected = 60_000 + 50 * plies + 1_000 + 10 * plies
    assert setup(clocks=clocks).terms.ceiling_ms == expected
    terms = usual_terms(race.GAME, clocks, Terms(margin_ms=0, offer_ms=7))
    assert (terms.ceiling_ms, terms.offer_ms) == (expected - 50 * plies, 7)


@pytest.mark.parametrize(
    "wrong",
    [
        {"players": [Scripted()]},
        {"clocks": (ClockSettings(),)},
        {"seed": b"short"},
        {"salt": bytes(33)},
        {"match_id": ""},
        {"match_id": "a/b"},
        {"match_id": "x" * 65},
    ],
    ids=steady,
)
def test_what_is_out_of_range_is_refused(wrong):
    with pytest.raises(FritillaryError):
        setup(**wrong)


def test_its_text_holds_no_secret():
    made = setup(seed=b"s" * 32, salt=b"t" * 32)
    assert "ssss" not in repr(made)
    assert "tttt" not in repr(made)


def test_match_ids_are_fit_for_file_names():
    ids = {new_match_id() for _ in range(50)}
    assert len(ids) == 50
    assert all(setup(match_id=one) for one in ids)


# ----------------------------------------------------------------------- the lineup


class Greedy(BaseBot):
    def __init__(self, depth=1, name="x", *, deep=False):
        if depth < 1:
            raise ValueError("depth must be at least 1")
        self.settings = (depth, name, deep)

    def decide(self, ask):
        return ask.legal[0]


GAME = race.registry(bots=lambda: {"greedy": Greedy}).game("race")


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("uniform", "local", "uniform"),
        (" greedy ", "local", "greedy"),
        ("human", "human", "human"),
        ("python:bots.mine:Bot", "python", "bots.mine:Bot"),
        ("remote:Bot_1.a-b", "remote", "Bot_1.a-b"),
        ("exec:./bot 'with space' --x", "exec", "./bot"),
    ],
)
def test_a_player_is_one_string(text, kind, name):
    spec = parse_player(text)
    assert (spec.kind, spec.name) == (kind, name)
    assert spec.text == text
    if kind == "exec":
        assert spec.command == ("./bot", "with space", "--x")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Uniform!",
        "exec:",
        "exec:'open",
        "python:module",
        "python:a:b:c",
        "remote:",
        "remote:a b",
        "greedy:depth",
        "greedy:=1",
        "greedy:",
    ],
)
def test_a_string_that_names_no_player_is_refused_with_the_mend(text):
    with pytest.raises(UsageError) as error:
        parse_player(text)
    assert error.value.code == "usage.player"


def test_parameters_reach_the_bot_with_their_types():
    bot: Any = make_bot(parse_player("greedy:depth=3,name=deep,deep=true"), GAME)
    assert bot.settings == (3, "deep", True)
    bot = make_bot(parse_player("greedy:deep=false"), GAME)
    assert bot.settings == (1, "x", False)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("gredy", "did you mean 'greedy'"),
        ("nobody", "known: flat-mc, greedy, ismcts, uniform"),
        ("greedy:width=3", "width"),
        ("greedy:depth=0", "depth must be at least 1"),
        ("uniform:depth=1", "argument"),
    ],
)
def test_a_bot_that_cannot_be_made_is_refused(text, part):
    with pytest.raises(UsageError, match=part):
        make_bot(parse_player(text), GAME)


def test_every_game_has_the_bots_that_play_any_game_and_its_own():
    assert set(local_bots(GAME)) == {"flat-mc", "greedy", "ismcts", "uniform"}


def test_where_nothing_is_hidden_mcts_plays_too():
    assert "mcts" in local_bots(TIC_TAC_TOE)
    player = local_player(parse_player("uniform"), GAME)
    assert isinstance(player.bot, UniformBot)
    assert (player.info.name, player.info.player) == ("uniform", "uniform")
