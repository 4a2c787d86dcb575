"""Every record that the referee writes holds."""

from __future__ import annotations

import attrs
import pytest
from examples.pig import pig
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.record.guess import Options
from tests.record.support import (
    RECORDS,
    SIGNER,
    Scripted,
    after,
    all_events,
    breaks,
    change,
    closed,
    end,
    fault,
    find,
    game,
    in_turn,
    open_events,
    pause,
    play,
    record_of,
    registry,
    resign,
    uniform,
)

from fritillary import BaseBot, UniformBot
from fritillary.core.errors import RecordError
from fritillary.record.choice import MAX_OFFENDING
from fritillary.record.events import (
    ActionTaken,
    ChanceDrawn,
    Ended,
    Paused,
    Resigned,
    Restarted,
    Resumed,
    Revealed,
    Ruling,
)
from fritillary.record.reader import read_record
from fritillary.record.terms import (
    Consequence,
    EndKind,
    Fault,
    PlayerInfo,
    Source,
    Terms,
    parse_policy,
)
from fritillary.referee.player import Answer, LocalPlayer
from fritillary.referee.verify import verify

ENDS = {
    "played": (EndKind.PLAYED, ""),
    "ruled": (EndKind.PLAYED, ""),
    "forfeited": (EndKind.FORFEITED, "fault.illegal"),
    "void": (EndKind.VOID, "fault.illegal"),
    "chance": (EndKind.PLAYED, ""),
    "hidden": (EndKind.PLAYED, ""),
    "stand-in": (EndKind.FORFEITED, "match.forfeited"),
    "late": (EndKind.FORFEITED, "fault.late"),
    "late-forgiven": (EndKind.PLAYED, ""),
    "resigned": (EndKind.FORFEITED, "seat.resigned"),
    "crashed": (EndKind.FORFEITED, "match.forfeited"),
    "refused": (EndKind.FORFEITED, "fault.refused-to-start"),
    "refused-one": (EndKind.FORFEITED, "match.forfeited"),
    "nobody-ready": (EndKind.VOID, "fault.refused-to-start"),
    "paused": (EndKind.PLAYED, ""),
    "withdrawn": (EndKind.WITHDRAWN, "host.closing"),
    "withdrawn-in-a-pause": (EndKind.WITHDRAWN, "host.closing"),
    "withdrawn-before-the-deal": (EndKind.WITHDRAWN, "host.closing"),
    "adjudicated": (EndKind.ADJUDICATED, "host.closing"),
    "referee-error": (EndKind.VOID, "referee.error"),
    "too-long": (EndKind.VOID, "referee.error"),
    "deal-failed": (EndKind.VOID, "referee.error"),
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_of_every_kind_holds(name):
    raw = record_of(name)
    found = verify(raw, registry(), key=SIGNER.public.hex())
    record = read_record(raw)
    assert (found.ended.kind, found.ended.code) == ENDS[name]
    assert found.record == record
    assert found.final_hash == raw[-32:].hex()
    assert found.key == SIGNER.public.hex()
    assert found.plies == sum(
        type(event).__name__ in {"ActionTaken", "ChanceDrawn"}
        for event in record.events
    )


def test_the_records_hold_what_their_names_say():
    def count(name, kind, **fields):
        events = all_events(record_of(name))
        return sum(
            isinstance(event, kind)
            and all(getattr(event, key) == value for key, value in fields.items())
            for event in events
        )

    assert count("ruled", Ruling, consequence=Consequence.RETRY) == 2
    assert count("ruled", Ruling, attempt=2) == 1
    assert count("ruled", Ruling, fault=Fault.MALFORMED) == 1
    assert count("ruled", ActionTaken, source=Source.SUBSTITUTE) == 1
    assert count("stand-in", ActionTaken, source=Source.STAND_IN) >= 2
    assert count("late-forgiven", Ruling, fault=Fault.LATE) == 1
    assert count("late-forgiven", ActionTaken, server_ms=1_040, charged_ms=1_000) == 1
    assert count("refused", Ruling) == count("nobody-ready", Ruling) == 2
    assert count("paused", Paused) == count("withdrawn-in-a-pause", Paused) == 1
    assert all_events(record_of("hidden"))[1].nonces == ("", "01", "0202")


# ------------------------------------------------------------------------- any match


def illegal(player, request):
    """Answer with what is refused, one way or the other."""
    if not player.table.listed:
        return Answer(data={"type": "hide", "digit": 1})
    illegal = [action for action in player.table.actions if action not in request.legal]
    return Answer(action=illegal[0]) if illegal else Answer(text="nothing is illegal")


CHOOSES = {
    "uniform": uniform,
    "slow": after(700),
    "at the margin": after(1_050),
    "late": after(1_900),
    "stalled": after(70_000),
    "illegal": illegal,
    "illegal and slow": after(600, illegal),
    "no text": lambda *_: Answer(text="\ud800 nonsense"),
    "no index": lambda *_: Answer(index=-1),
    "no data": lambda *_: Answer(data={"type": [None]}),
    "nothing": lambda *_: Answer(),
    "remarks": lambda _, request: Answer(
        action=request.legal[0], note="a remark", think_ms=3, round_trip_ms=1
    ),
    "resign": resign,
    "crashed": fault(Fault.CRASHED),
    "disconnected": fault(Fault.DISCONNECTED),
    "flooding": fault(Fault.FLOODING, offending=b"\xff" * 5_000),
    "malformed": fault(Fault.MALFORMED, offending=b"bytes:\xff"),
    "pause": pause,
    "abort": end(EndKind.WITHDRAWN),
    "void": end(EndKind.VOID, "host.lost"),
    "breaks": breaks,
}

SCRIPTS = st.lists(
    st.sampled_from([*CHOOSES, *["uniform"] * 12, "illegal", "slow"]), max_size=10
)
POLICIES = st.lists(
    st.sampled_from(
        [
            "illegal=retry:1,substitute",
            "illegal=retry:2,forfeit",
            "illegal=substitute",
            "malformed=retry:1,forfeit",
            "malformed=void",
            "late=substitute",
            "crashed=substitute",
            "stalled=substitute",
            "flooding=void",
            "refused-to-start=void",
            "stand-in=uniform",
        ]
    ),
    max_size=4,
    unique_by=lambda text: text.partition("=")[0],
)
TIMES = st.sampled_from(
    ["", "1s", "1s+1s", "move=1s", "move=500ms,bank=3s", "turn=2s", "5s+500ms"]
)


@settings(max_examples=2 * settings().max_examples)
@given(
    st.sampled_from(["lepidoptery", "lepidoptery+no-pass", "pig", "guess"]),
    st.lists(st.tuples(SCRIPTS, st.integers(0, 9)), min_size=2, max_size=4),
    TIMES,
    POLICIES,
    st.booleans(),
)
def test_whatever_the_players_do_the_record_holds(name, scripts, clock, policy, mixed):
    if name.startswith("lepidoptery"):
        scripts = scripts[:2]
    players = [
        Scripted(
            in_turn(*(CHOOSES[word] for word in words)),
            name=f"player {seat}",
            nonce=bytes(refuses),
            refuses=not refuses,
        )
        for seat, (words, refuses) in enumerate(scripts)
    ]
    options = {
        "pig": pig.Options(target=10, rounds=6),
        "guess": Options(rounds=3),
    }.get(name)
    raw = play(
        name,
        players=players,
        clock=clock,
        options=options,
        terms=Terms(policy=parse_policy(policy), ceiling_ms=60_000),
        setup={"nonces_wanted": mixed},
    )
    verify(raw, registry())


class Careless(BaseBot):
    """A quick bot that plays illegal actions now and then."""

    light = True

    def __init__(self):
        self.asked = 0

    def decide(self, ask):
        self.asked += 1
        table = ask.game.table(ask.observation.options, 2)
        if self.asked % 3 == 0:
            return table.actions[0]
        return ask.rng.choice(ask.legal)


@pytest.mark.parametrize("clock", ["", "1min+1s", "move=1s,bank=3s,turn=10s"])
@pytest.mark.parametrize(
    "policy", ["illegal=forfeit", "illegal=retry:1,substitute", "illegal=void"]
)
def test_matches_of_bots_of_this_process_hold(clock, policy):
    import asyncio

    from fritillary.record.terms import parse_clock
    from fritillary.record.writer import MemorySink
    from fritillary.referee.match import Match
    from fritillary.referee.setup import MatchSetup

    players = [
        LocalPlayer(bot, PlayerInfo("bot")) for bot in (UniformBot(), Careless())
    ]
    sink = MemorySink()
    setup = MatchSetup(
        game=game("lepidoptery"),
        players=players,
        clocks=[parse_clock(clock)] * 2,
        terms=Terms(policy=parse_policy([policy])),
    )
    asyncio.run(Match(setup, sink, SIGNER).run())
    verify(sink.getvalue(), registry())


def test_choices_of_another_stand_in_are_checked_for_legality_only():
    def choose(ask):
        return ask.legal[-1]

    raw = play(
        "pig",
        uniform,
        in_turn(uniform, resign),
        uniform,
        options=pig.Options(target=10, rounds=9),
        terms=Terms(policy=parse_policy(["stand-in=other"])),
        stand_in=choose,
    )
    verify(raw, registry())
    events = open_events(raw)
    number = find(events, ActionTaken, source=Source.STAND_IN)
    change(events, number, index=9)
    with pytest.raises(RecordError, match=f"event {number}: index 9"):
        verify(closed(events), registry())


def test_an_illegal_choice_that_was_cut_is_believed_where_there_is_no_table():
    raw = play("guess", in_turn(fault(Fault.CRASHED)), uniform)
    events = open_events(raw)
    number = find(events, Ruling)
    cut = b"data:" + b"x" * MAX_OFFENDING
    change(
        events,
        number,
        fault=Fault.ILLEGAL,
        code="action.illegal",
        offending=cut[:MAX_OFFENDING].hex(),
    )
    change(events, find(events, Ended), code="fault.illegal")
    verify(closed(events), registry())


def test_a_long_text_is_judged_by_its_beginning():
    # "hold" and thousands of spaces are the action "hold", which is illegal at first.
    long = "hold" + " " * 5_000
    raw = play("pig", lambda *_: Answer(text=long), uniform)
    events = all_events(raw)
    assert events[find(events, Ruling)].fault is Fault.ILLEGAL
    verify(raw, registry())


def test_a_text_with_half_a_character_is_judged_as_it_came():
    # Written with a question mark instead, it would be another text.
    raw = play("pig", lambda *_: Answer(text="roll\ud800"), uniform)
    events = all_events(raw)
    assert events[find(events, Ruling)].fault is Fault.MALFORMED
    verify(raw, registry())


def test_attempts_are_counted_anew_after_a_resignation():
    raw = play(
        "guess",
        in_turn(illegal, resign),
        in_turn(illegal, uniform),
        uniform,
        policy=["illegal=retry:1,forfeit"],
    )
    events = all_events(raw)
    assert [event.attempt for event in events if isinstance(event, Ruling)] == [1, 1]
    assert find(events, Resigned)
    verify(raw, registry())


def test_the_first_seat_that_refuses_may_end_the_match():
    players = [Scripted(refuses=True), Scripted(), Scripted(refuses=True)]
    raw = play("pig", players=players, policy=["refused-to-start=void"])
    events = open_events(raw)
    assert find(events, Ruling, seat=0) == 2
    verify(raw, registry())
    events.insert(3, attrs.evolve(events[2], seat=2))
    with pytest.raises(RecordError, match="event 3: the match had ended before"):
        verify(closed(events), registry())


def test_all_seats_are_ruled_on_if_none_gets_ready():
    for policy in ("forfeit", "void"):
        players = [Scripted(refuses=True) for _ in range(3)]
        raw = play("pig", players=players, policy=[f"refused-to-start={policy}"])
        rulings = [e for e in all_events(raw) if isinstance(e, Ruling)]
        assert [ruling.seat for ruling in rulings] == [0, 1, 2]
        assert {ruling.consequence for ruling in rulings} == {Consequence.VOID}
        verify(raw, registry())


def test_a_match_may_pause_where_no_decision_is_open():
    events = open_events(record_of("chance"))
    number = find(events, ChanceDrawn)
    events[number:number] = [Paused("a pause"), Resumed()]
    verify(closed(events), registry())


def test_a_server_may_start_anew_where_no_decision_is_open():
    events = open_events(record_of("chance"))
    events.insert(find(events, ChanceDrawn), Restarted())
    verify(closed(events), registry())


def test_a_server_may_start_anew_in_a_pause():
    events = open_events(record_of("paused"))
    events.insert(find(events, Paused) + 1, Restarted())
    verify(closed(events), registry())


def test_an_adjudication_may_leave_the_outcome_open():
    raw = play("pig", uniform, end(EndKind.ADJUDICATED))
    assert verify(raw, registry()).ended.outcome is None


def test_a_sealed_record_is_refused_with_the_reason():
    raw = play("pig", uniform, uniform, reveal=False)
    with pytest.raises(RecordError, match=r"either the deal is held back, or"):
        verify(raw, registry())


def test_an_unfinished_record_is_refused_with_the_reason():
    raw = record_of("played")
    end_of = raw.rindex(b"revealed") - 8
    with pytest.raises(RecordError, match=r"cut off|before it is closed"):
        verify(raw[:end_of], registry())
    assert find(all_events(raw), Revealed)
