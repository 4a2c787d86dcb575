from __future__ import annotations

import attrs
import pytest
from examples.pig import pig
from tests.record import guess
from tests.record.support import (
    RECORDS,
    Scripted,
    change,
    closed,
    find,
    game,
    open_events,
    play,
    record_of,
    registry,
    uniform,
)

from fritillary import Game, Plugin, Registry
from fritillary.core.errors import RecordError
from fritillary.record.events import (
    ActionTaken,
    Closed,
    Dealt,
    Ended,
    GameRef,
    VariantRef,
)
from fritillary.record.reader import deal_seed, read_record
from fritillary.record.replay import Replay, replayed
from fritillary.referee.verify import verify


def replay_of(name):
    return replayed(read_record(record_of(name)), registry())


@pytest.mark.parametrize("name", RECORDS)
def test_every_record_can_be_replayed(name):
    replay = replay_of(name)
    steps = list(replay.steps())
    assert [step.event for step in steps] == list(replay.record.events)
    assert [step.number for step in steps] == list(range(len(steps)))
    plies = [step.ply for step in steps]
    assert plies == sorted(plies)
    assert plies[-1] == replay.ply == sum(step.action is not None for step in steps)


def test_a_replay_leads_to_the_position_of_the_match():
    replay = replay_of("played")
    steps = list(replay.steps())
    outcome = replay.game.outcome_of(replay.state)
    ended = replay.record.find(Ended)
    assert ended.outcome.scores == outcome.scores
    action = next(step for step in steps if step.action is not None)
    assert replay.table.actions[action.event.index] == action.action


def test_without_a_deal_there_is_no_state():
    replay = replay_of("withdrawn-before-the-deal")
    list(replay.steps())
    assert replay.state is None
    replay = replay_of("deal-failed")
    list(replay.steps())
    assert replay.state is None


def test_a_record_of_a_sealed_deal_is_read_but_not_replayed():
    record = read_record(play("pig", uniform, uniform, reveal=False), unfinished=True)
    assert not record.finished
    for use in (lambda: replayed(record, registry()), lambda: deal_seed(record)):
        with pytest.raises(RecordError, match="not revealed") as caught:
            use()
        assert caught.value.code == "record.sealed"


def test_an_unfinished_record_cannot_be_replayed_without_its_seed():
    record = read_record(record_of("played")[:2_000], unfinished=True)
    with pytest.raises(RecordError, match="not revealed"):
        replayed(record, registry())


def test_a_record_of_a_game_of_an_id_that_two_distributions_have():
    both = Registry()
    both.add_game(Plugin("one", pig, "one"))
    both.add_game(Plugin("two", pig, "two"))
    record = read_record(record_of("chance"))
    with pytest.raises(RecordError, match="event 0: several plugins"):
        replayed(record, both)
    events = open_events(record_of("chance"))
    change(events, 0, game=GameRef("pig", 1, "two"))
    found = verify(closed(events), both)
    assert found.game_id == "pig"
    change(events, 0, game=GameRef("pig", 1, "three"))
    with pytest.raises(RecordError, match="event 0: no game 'three:pig'"):
        verify(closed(events), both)


def test_of_a_game_that_is_not_installed_is_told_which_it_was():
    events = open_events(record_of("chance"))
    gone = GameRef("pig", 3, "farm\n", (VariantRef("fast", 2),))
    change(events, 0, game=gone)
    with pytest.raises(RecordError) as caught:
        verify(closed(events), Registry())
    assert caught.value.code == "record.game"
    assert "no game 'pig'" in caught.value.message
    told = "it was played with pig rules 3, variant fast 2, of the distribution farm"
    assert told in caught.value.message
    assert len(caught.value.message.splitlines()) == 1


def test_a_record_with_a_variant_is_replayed_with_it():
    raw = play("lepidoptery+no-pass", uniform, uniform)
    assert verify(raw, registry()).game_id == "lepidoptery+no-pass"
    events = open_events(raw)
    change(events, 0, game=attrs.evolve(events[0].game, variants=()))
    # Under the plain rules passes are legal, so another uniform choice might have
    # been made; but what was played is legal in both.
    assert verify(closed(events), registry()).game_id == "lepidoptery"


@pytest.mark.parametrize("hook", ["apply_action", "legal_actions"])
def test_rules_that_fail_are_named_with_the_event(hook):
    # Played under rules that work, replayed under those that do not.
    raw = play("guess", uniform, uniform)
    events = open_events(raw)

    class Failing:
        pass

    for name in dir(guess):
        setattr(Failing, name, getattr(guess, name))

    def fails(*_):
        raise ZeroDivisionError

    broken: Game = Game(Plugin("guess", guess))
    replay = Replay(read_record(raw), broken)
    attribute = {"apply_action": "apply", "legal_actions": "legal_actions"}[hook]
    object.__setattr__(broken, attribute, fails)
    with pytest.raises(RecordError, match="the rules fail with ZeroDivis") as caught:
        list(replay.steps())
    assert caught.value.code == "record.rules"
    number = find(events, ActionTaken) if hook == "legal_actions" else 2
    assert caught.value.message.startswith(f"event {number}: ")


def test_an_error_of_whoever_looks_at_the_steps_stays_its_own():
    steps = replay_of("played").steps()
    next(steps)
    with pytest.raises(KeyError):
        steps.throw(KeyError("mine"))


def test_options_that_break_the_table_are_refused(monkeypatch):
    broken: Game = Game(Plugin("pig", pig))

    def fails(*_):
        raise ZeroDivisionError

    object.__setattr__(broken, "table", fails)
    with pytest.raises(RecordError, match="event 0: the rules fail with ZeroDiv"):
        Replay(read_record(record_of("chance")), broken)


def test_the_deal_uses_the_nonces():
    def record(*nonces):
        players = [Scripted(nonce=nonce) for nonce in nonces]
        return read_record(play("pig", players=players, setup={"nonces_wanted": True}))

    one, two, none = record(b"a", b""), record(b"", b"a"), record(b"", b"")
    assert len({deal_seed(found) for found in (one, two, none)}) == 3
    assert none.find(Dealt) == Dealt(("", ""))
    assert deal_seed(none) == deal_seed(read_record(record_of("chance")))


def test_the_last_event_of_a_class_is_found_or_nothing():
    record = read_record(record_of("played"))
    assert record.find(Closed) is record.events[-1]
    assert read_record(record_of("withdrawn-before-the-deal")).find(Dealt) is None
    assert game("pig").info.id == "pig"
