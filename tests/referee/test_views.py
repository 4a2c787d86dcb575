"""What each receiver is told: nonces and offers, masks, numbers, late watchers."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from tests.referee import race
from tests.referee.local import local
from tests.referee.race import Options, Step
from tests.referee.support import SEED, SIGNER, Scripted, check_sound, played, run

from fritillary import BaseBot, Plugin, VariantInfo, hookimpl
from fritillary.record.events import ChanceDrawn
from fritillary.record.terms import EndKind
from fritillary.record.writer import MemorySink
from fritillary.referee.match import Match
from fritillary.referee.seen import Acted, Finish
from fritillary.referee.setup import MatchSetup

# ------------------------------------------------------------------------ nonces


def test_nonces_are_mixed_into_the_deal_in_the_order_of_seats():
    def deal(*nonces, wanted=True):
        players = [Scripted(nonce=nonce) for nonce in nonces]
        game = played(players, nonces_wanted=wanted)
        secrets = tuple(game.match.state.secrets)
        return secrets, game

    plain, _ = deal(b"", b"", wanted=False)
    assert deal(b"", b"")[0] == plain
    assert deal(b"a", b"b", wanted=False)[0] == plain
    one, game = deal(b"a", b"b")
    assert game.result.reveal.nonces == (b"a", b"b")
    assert [player.offer.nonce_wanted for player in game.players] == [True, True]
    assert len({plain, one, deal(b"b", b"a")[0], deal(b"", b"b")[0]}) == 4
    assert deal(b"a", b"b")[0] == one


@pytest.mark.parametrize("nonce", [b"x" * 33, "text", None])
def test_a_nonce_that_does_not_fit_is_a_refusal(nonce):
    game = played([Scripted(nonce=nonce), Scripted()], nonces_wanted=True)
    [ruling] = game.rulings
    assert (ruling.seat, ruling.code) == (0, "offer.nonce")


def test_offers_bind_the_deal_and_give_each_seat_its_own_seed():
    game = played([Scripted(), Scripted()])
    offers = [player.offer for player in game.players]
    header = game.record.header
    assert {offer.commitment.hex() for offer in offers} == {header.commitment}
    assert len({offer.bot_seed for offer in offers}) == 2
    assert all(0 <= offer.bot_seed < 2**53 for offer in offers)
    assert SEED.hex() not in repr(offers)


# ------------------------------------------------------------- masks and numbering


def test_each_receiver_has_its_own_dense_numbers_where_actions_are_masked():
    options = Options(wind=True)
    game = played([Scripted(), Scripted()], registry=race.masked(), options=options)
    own, other = game.players
    # Four winds and eight steps and the end; the winds are seen by seat 0 alone.
    assert len(own.events) == 13
    assert len(other.events) == 9
    assert len(game.watching.events) == 9
    assert [event.ply for event in other.events][:3] == [1, 2, 4]
    for seat, player in enumerate(game.players):
        for body in player.bodies:
            if isinstance(body, Acted):
                assert (body.action == Step(0)) == (body.seat != seat)
    hidden = game.all(ChanceDrawn)
    assert [event.action for event in hidden] == [None] * 4


def test_an_open_wind_stands_in_the_record():
    game = played([Scripted(), Scripted()], options=Options(wind=True))
    winds = game.all(ChanceDrawn)
    assert len(winds) == 4
    assert all(wind.action for wind in winds)
    assert len(game.players[1].events) == 13


def test_what_is_not_seen_may_pass_through_a_variant():
    @hookimpl
    def describe_variant():
        return VariantInfo(
            id="wrapped", title="W", summary="s", version=1, games=("race",)
        )

    @hookimpl(wrapper=True)
    def observe_action(state, action, seat):
        return (yield)

    variant = SimpleNamespace(
        describe_variant=describe_variant, observe_action=observe_action
    )
    registry = race.masked()
    registry.add_variant(Plugin("wrapped", variant))
    game = played(
        [Scripted(), Scripted()],
        registry=registry,
        game="race+wrapped",
        options=Options(wind=True),
    )
    assert game.finish.kind is EndKind.PLAYED
    assert len(game.players[1].events) == 9


def test_local_bots_hear_events_once_each_in_order():
    heard = []

    class Listening(BaseBot):
        light = True

        def decide(self, ask):
            heard.extend(ask.events)
            return ask.legal[0]

    game = played([local(Listening()), Scripted()])
    assert [event.number for event in heard] == list(range(1, 7))
    assert heard == game.watching.events[:6]


def test_a_late_watcher_is_told_everything():
    game = played([Scripted(), Scripted()])

    class Late:
        def __init__(self):
            self.told = []

        on_event = on_end = lambda self, what: self.told.append(what)

    late = Late()
    game.match.teller.watch(late)
    assert late.told == [*game.watching.events, game.result]
    assert isinstance(late.told[-2].body, Finish)


def test_no_seed_is_revealed_while_it_must_be_kept():
    async def main():
        loop = asyncio.get_running_loop()
        setup = MatchSetup(game=race.GAME, players=[Scripted(), Scripted()], seed=SEED)
        sink = MemorySink()
        result = await Match(setup, sink, SIGNER, now=loop.time, reveal=False).run()
        return result, sink.getvalue()

    result, raw = run(main())
    assert result.reveal is None
    assert SEED.hex().encode() not in raw
    assert SEED not in raw


def test_the_sound_check_is_not_vacuous():
    game = played([Scripted(), Scripted()])
    game.players[0].log.pop(0)
    with pytest.raises(AssertionError):
        check_sound(game)
