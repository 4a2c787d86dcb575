"""What a seat must not know does not reach it by any byte of the wire."""

from __future__ import annotations

import types

import pytest
from examples.kuhn_poker import kuhn_poker
from tests.service import hush
from tests.service.leakgate import WireLeakError, check_wire_leaks
from tests.service.leakmutants import GAMES, RESTARTED, SERVERS, watch_truth
from tests.service.leakscripts import RESTARTS, SCRIPTS
from tests.service.worlds import Rules

import fritillary_games.butterfly_garden
import fritillary_games.lepidoptery
import fritillary_games.lost_cities
from fritillary import Game, Plugin, VariantInfo, hookimpl
from fritillary.testing import check_leaks, check_sampler

HUSH = Rules(hush.plugin(), plies=45)

RULES = {
    "hush": HUSH,
    "hush-3-without-table": Rules(
        hush.plugin_without_table(), seats=3, actions=hush.TABLE, plies=45
    ),
    "kuhn-poker": Rules(Plugin("kuhn-poker", kuhn_poker), plies=3),
    "lepidoptery": Rules(Plugin("lepidoptery", fritillary_games.lepidoptery)),
    "lost-cities": Rules(
        Plugin("lost-cities", fritillary_games.lost_cities),
        options={"games": 1},
        plies=120,
    ),
    "butterfly-garden": Rules(
        Plugin("butterfly-garden", fritillary_games.butterfly_garden)
    ),
    "butterfly-garden-4": Rules(
        Plugin("butterfly-garden", fritillary_games.butterfly_garden), seats=4
    ),
}

#: What every seat must have been sent, whatever the game.
HEARD = {
    "welcome",
    "match_offer",
    "match_offer.resumed",
    "match_status",
    "phase.MATCH_PHASE_WAITING",
    "event.action",
    "event.ended",
    "event.ruling",
    "ruling.own.FAULT_ILLEGAL",
    "ruling.other.FAULT_ILLEGAL",
    "decision_request",
    "decision_request.again",
    "closed.DECISION_CLOSURE_ACCEPTED",
    "closed.DECISION_CLOSURE_RULED",
    "closed.DECISION_CLOSURE_WITHDRAWN",
    "match_ended",
    "error.decision.stale",
    "error.decision.unknown",
    "error.match.unknown",
    "error.seat.wrong",
}

#: What the journal must have told.
TOLD = {
    "journal.bot.connected",
    "journal.match.made",
    "journal.match.started",
    "journal.match.ruling",
    "journal.match.ended",
}

#: What is left to chance where less is tried: with more than two seats.
RARE = {"closed.DECISION_CLOSURE_WITHDRAWN"}

#: What spectators must have been sent.
WATCHED = {
    "watch.view",
    "watch.event",
    "watch.status",
    "watch.ended",
    "event.action",
    "event.ruling",
    "ruling.other.FAULT_ILLEGAL",
}


def scripts_for(name, viewer):
    """Return both encodings and both forms, and one of the other endings in turn."""
    place = sum(map(ord, name)) + (0 if viewer is None else 1 + viewer)
    usual = SCRIPTS[:4] if RULES[name].seats == 2 else SCRIPTS[:2]
    return (*usual, SCRIPTS[4 + place % 5])


@pytest.mark.parametrize(
    ("name", "viewer"),
    [
        (name, viewer)
        for name, rules in RULES.items()
        for viewer in (None, *range(rules.seats))
    ],
)
async def test_worlds_that_look_alike_send_equal_bytes(name, viewer):
    scripts = scripts_for(name, viewer)
    report = await check_wire_leaks(RULES[name], viewer, scripts=scripts)
    assert report.different == report.pairs == len(scripts)
    assert report.turns >= report.pairs
    wanted = WATCHED if viewer is None else HEARD
    assert report.kinds >= (wanted if RULES[name].seats == 2 else wanted - RARE)
    assert report.kinds >= TOLD
    if name.startswith("hush"):
        assert report.secrets
        assert "source.ACTION_SOURCE_SUBSTITUTE" in report.kinds


@pytest.mark.parametrize(
    ("name", "viewer"),
    [
        *(("hush", viewer) for viewer in (None, 0, 1)),
        *(("lepidoptery", viewer) for viewer in (None, 0, 1)),
        ("hush-3-without-table", 2),
    ],
)
async def test_a_restart_of_the_server_tells_nothing_either(name, viewer, tmp_path):
    report = await check_wire_leaks(
        RULES[name], viewer, scripts=RESTARTS, folder=tmp_path
    )
    assert report.different == report.pairs == len(RESTARTS)
    if viewer is not None:
        assert report.kinds >= {"goodbye.server.stopping", "match_offer.resumed"}


def test_every_ending_has_its_turn():
    turns = {
        script.ending
        for name, rules in RULES.items()
        for viewer in range(rules.seats)
        for script in scripts_for(name, viewer)
    }
    assert turns == {script.ending for script in SCRIPTS}


@pytest.mark.parametrize("plugin", [hush.plugin(), hush.plugin_without_table()])
def test_the_game_of_the_gate_is_sound(plugin):
    game = Game(plugin)
    check_leaks(game, matches=3)
    check_sampler(game, matches=3)


# --------------------------------------------------------------------- the gate bites


#: The scripts that show most first.
TELLING = tuple(SCRIPTS[number] for number in (1, 3, 0, 2))


@pytest.mark.parametrize("name", GAMES)
async def test_a_game_that_leaks_is_caught(name):
    variant, viewer, where = GAMES[name]
    with pytest.raises(WireLeakError, match=where):
        await check_wire_leaks(HUSH, viewer, scripts=TELLING, variants=(variant,))


@pytest.mark.parametrize("name", SERVERS)
async def test_a_server_that_leaks_is_caught(name, monkeypatch):
    change, viewer, where = SERVERS[name]
    watch_truth(monkeypatch)
    change(monkeypatch)
    with pytest.raises(WireLeakError, match=where):
        await check_wire_leaks(HUSH, viewer, scripts=TELLING)


@pytest.mark.parametrize("name", RESTARTED)
async def test_a_restart_that_leaks_is_caught(name, monkeypatch, tmp_path):
    change, viewer, where = RESTARTED[name]
    watch_truth(monkeypatch)
    change(monkeypatch)
    with pytest.raises(WireLeakError, match=where):
        await check_wire_leaks(HUSH, viewer, scripts=RESTARTS, folder=tmp_path)


async def test_a_run_without_differences_is_vacuous():
    @hookimpl
    def describe_variant():
        return VariantInfo(
            id="still",
            title="Still",
            summary="Moves nothing.",
            version=1,
            games=("kuhn-poker",),
        )

    @hookimpl(wrapper=True)
    def shuffle_hidden(state, seat, dealer):
        cards = state.cards
        yield
        state.cards = cards

    still = Plugin(
        "still",
        types.SimpleNamespace(
            describe_variant=describe_variant, shuffle_hidden=shuffle_hidden
        ),
    )
    with pytest.raises(WireLeakError, match="vacuous: 0 of 1 pairs"):
        await check_wire_leaks(
            RULES["kuhn-poker"], 0, scripts=SCRIPTS[:1], reference=(still,)
        )
