"""A lying host: what it alters, chains anew and signs with the right key.

Each lie is refused, and the error names the event that does not hold.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest
from attrs import frozen
from examples.pig import pig
from tests.record.support import (
    RECORDS,
    SALT,
    change,
    closed,
    find,
    game,
    open_events,
    record_of,
    registry,
)

from fritillary import SealedDealer
from fritillary.core.commitment import commitment
from fritillary.core.errors import RecordError
from fritillary.record.events import (
    ActionTaken,
    ChanceDrawn,
    Dealt,
    Ended,
    GameRef,
    Header,
    OutcomeData,
    Paused,
    RecordEvent,
    Resigned,
    Resumed,
    Revealed,
    Ruling,
    VariantRef,
)
from fritillary.record.terms import (
    ClockSettings,
    Consequence,
    EndKind,
    Fault,
    Source,
    Terms,
    parse_policy,
)
from fritillary.referee.verify import verify

#: Changes the events; returns the number of the one that does not hold.
Change = Callable[[list[RecordEvent]], int]


@frozen
class Lie:
    base: str
    words: str
    change: Change


LIES: dict[str, Lie] = {}


def lie(base: str, words: str) -> Callable[[Change], Change]:
    """Add a lie about the record of that name, refused with such words."""

    def add(function: Change) -> Change:
        name = function.__name__.replace("_", "-")
        assert name not in LIES
        LIES[name] = Lie(base, words, function)
        return function

    return add


# --------------------------------------------------------------------------- actions


@lie("played", "is not legal for seat")
def an_action_that_is_not_legal(events):
    number = find(events, ActionTaken, 3)
    for index in range(500):
        change(events, number, index=index)
        try:
            verify(closed(events), registry())
        except RecordError as error:
            if "not legal" in error.message:
                break
    return number


@lie("played", "index 100000 is not in the table")
def an_action_that_is_none(events):
    return change(events, find(events, ActionTaken), index=100_000)


@lie("played", "index -1 is not in the table")
def an_action_with_a_negative_index(events):
    return change(events, find(events, ActionTaken), index=-1)


@lie("played", "seat 1 acts; it is seat 0's turn")
def an_action_of_the_other_seat(events):
    return change(events, find(events, ActionTaken, seat=0), seat=1)


@lie("played", "seat 99 acts")
def an_action_of_no_seat(events):
    return change(events, find(events, ActionTaken, seat=0), seat=99)


@lie("played", "in the wrong form")
def an_action_as_bytes_where_there_is_a_table(events):
    return change(events, find(events, ActionTaken), index=None, action="80")


@lie("played", "in the wrong form")
def an_action_in_both_forms(events):
    return change(events, find(events, ActionTaken), action="80")


@lie("hidden", "in the wrong form")
def an_action_by_index_where_there_is_no_table(events):
    return change(events, find(events, ActionTaken), index=0, action=None)


@lie("hidden", "not msgpack")
def an_action_of_no_bytes(events):
    return change(events, find(events, ActionTaken), action="")


@lie("hidden", "no action of guess")
def an_action_of_other_data(events):
    return change(events, find(events, ActionTaken), action="80")


@lie("hidden", "not canonical")
def an_action_in_other_bytes(events):
    number = find(events, ActionTaken)
    codec = game("guess").codec
    action = codec.action_to_data(
        codec.action_from_data({"type": "guess", "digit": 1, "why": ""})
    )
    assert action["why"] == ""
    # The same action with the default left out.
    raw = b"\x82\xa4type\xa5guess\xa5digit\x01"
    return change(events, number, action=raw.hex())


@lie("hidden", "'hide 3' is not legal")
def an_action_of_chance_by_a_seat(events):
    raw = game("guess").codec.encode_action(_hide(3))
    return change(events, find(events, ActionTaken), action=raw.hex())


@lie("played", "a seat acts where no seat is to act")
def an_action_after_the_end(events):
    number = find(events, Ended)
    events.insert(number, events[find(events, ActionTaken)])
    return number


@lie("played", "played, yet nothing had ended the match")
def the_last_action_dropped(events):
    del events[find(events, ActionTaken, -1)]
    return find(events, Ended)


@lie("chance", "chance acts where it has no part")
def an_action_dropped(events):
    number = find(events, ActionTaken)
    del events[number]
    return number


@lie("too-long", "at most 20 plies")
def more_plies_than_the_game_announces(events):
    number = find(events, Ruling)
    events[number] = ChanceDrawn()
    return number


# ----------------------------------------------------------------------------- chance


@lie("chance", "the deal gives another chance outcome")
def another_face_of_the_die(events):
    number = find(events, ChanceDrawn)
    drawn = events[number].action
    faces = (game("pig").codec.encode_action(pig.Face(n)).hex() for n in (1, 2))
    return change(events, number, action=next(f for f in faces if f != drawn))


@lie("chance", "in the wrong form: everyone may see it")
def a_public_chance_outcome_hidden(events):
    return change(events, find(events, ChanceDrawn), action=None)


@lie("hidden", "in the wrong form: it is hidden")
def a_hidden_chance_outcome_shown(events):
    raw = game("guess").codec.encode_action(_hide(3))
    return change(events, find(events, ChanceDrawn), action=raw.hex())


@lie("chance", "a seat acts where no seat is to act")
def a_chance_outcome_dropped(events):
    number = find(events, ChanceDrawn)
    del events[number]
    return number


@lie("played", "chance acts where it has no part")
def chance_in_a_game_that_has_none(events):
    events.insert(2, ChanceDrawn("80"))
    return 2


# ----------------------------------------------------------------------------- clocks


@lie("played", "is charged 6 ms, not 7")
def less_time_charged(events):
    return change(events, find(events, ActionTaken, 2), charged_ms=6)


@lie("played", "has 61986 ms left, not 61987 ms")
def more_time_left(events):
    # Twice 7 ms were taken, and twice 1000 ms added.
    number = find(events, ActionTaken, 1, seat=1)
    return change(events, number, left_ms=61_987)


@lie("played", "has 60993 ms left, not no limit")
def no_time_left_where_there_is_a_clock(events):
    return change(events, find(events, ActionTaken), left_ms=None)


@lie("hidden", "has no limit left, not 5 ms")
def time_left_where_there_is_no_clock(events):
    return change(events, find(events, ActionTaken), left_ms=5)


@lie("played", "took 60051 ms of 60000 ms")
def a_decision_beyond_the_allowance_and_the_margin(events):
    number = find(events, ActionTaken)
    return change(events, number, server_ms=60_051, charged_ms=60_000)


@lie("played", "the time that the decision took is missing")
def the_time_of_a_decision_left_out(events):
    return change(events, find(events, ActionTaken), server_ms=None)


@lie("hidden", "the time that the decision took is missing")
def a_decision_before_it_was_asked_for(events):
    number = find(events, ActionTaken)
    return change(events, number, server_ms=-5, charged_ms=-5)


@lie("played", "ms left, not")
def another_clock(events):
    header = events[0]
    seats = (header.seats[0], attrs.evolve(header.seats[1], clock=_clock(59_000)))
    change(events, 0, seats=seats)
    return find(events, ActionTaken, seat=1)


@lie("played", "ms of 60000 ms")
def a_smaller_margin(events):
    number = find(events, ActionTaken)
    change(events, number, server_ms=60_040, charged_ms=60_000, left_ms=1_000)
    change(events, 0, terms=attrs.evolve(events[0].terms, margin_ms=39))
    return number


@lie("ruled", "ms left, not")
def a_ruling_that_leaves_more_time(events):
    number = find(events, Ruling)
    return change(events, number, left_ms=events[number].left_ms + 1)


@lie("ruled", "is charged 60001 ms of 60000 ms")
def a_ruling_that_charges_more_than_there_is(events):
    return change(events, find(events, Ruling), charged_ms=60_001)


@lie("resigned", "is charged -1 ms")
def a_resignation_that_gives_time(events):
    return change(events, find(events, Resigned), charged_ms=-1)


@lie("late", "the clock had not run out")
def a_clock_that_had_not_run_out(events):
    number = find(events, Ruling)
    return change(events, number, charged_ms=events[number].charged_ms - 1, left_ms=1)


@lie("hidden", "the clock had not run out")
def a_clock_that_runs_out_where_there_is_none(events):
    return _rule(events, Fault.LATE, find(events, ActionTaken))


# ----------------------------------------------------------------------------- rulings


@lie("forfeited", "forfeited, yet nothing had ended the match")
def a_ruling_left_out(events):
    del events[find(events, Ruling)]
    return find(events, Ended)


@lie("forfeited", "the choice was legal, not illegal")
def a_ruling_on_a_legal_choice(events):
    number = find(events, Ruling)
    for index in range(500):
        change(events, number, offending=(b"index:%d" % index).hex())
        try:
            verify(closed(events), registry())
        except RecordError:
            break
    return number


@lie("forfeited", "the choice was malformed, not illegal")
def a_ruling_on_a_choice_of_no_action(events):
    return change(events, find(events, Ruling), offending=b"text:nonsense".hex())


@lie("forfeited", "the choice was illegal, not malformed")
def a_ruling_of_another_kind(events):
    return change(events, find(events, Ruling), fault=Fault.MALFORMED)


@lie("forfeited", "the illegal choice is missing")
def a_ruling_without_the_choice(events):
    return change(events, find(events, Ruling), offending="")


@lie("forfeited", "the illegal choice is missing")
def a_ruling_on_a_choice_too_long_for_the_table(events):
    cut = (b'data:"' + bytes(5_000))[:4_096]
    return change(events, find(events, Ruling), offending=cut.hex())


@lie("forfeited", "the policy says forfeit after illegal, not void")
def another_consequence(events):
    change(events, find(events, Ruling), consequence=Consequence.VOID)
    change(events, find(events, Ended), kind=EndKind.VOID, outcome=None)
    return find(events, Ruling)


@lie("ruled", "the policy says retry after illegal, not substitute")
def no_second_attempt(events):
    number = find(events, Ruling)
    return change(events, number, consequence=Consequence.SUBSTITUTE)


@lie("ruled", "this was attempt 1, not 2")
def another_attempt(events):
    return change(events, find(events, Ruling), attempt=2)


@lie("ruled", "this was attempt 1, not 2")
def the_first_attempt_left_out(events):
    number = find(events, Ruling)
    del events[number]
    return number


@lie("ruled", "the policy says forfeit after illegal, not retry")
def another_policy(events):
    terms = Terms(policy=parse_policy(["illegal=forfeit"]))
    change(events, 0, terms=terms)
    return find(events, Ruling)


@lie("ruled", "it is not the turn of seat 0")
def a_ruling_on_the_other_seat(events):
    return change(events, find(events, Ruling), seat=0)


@lie("ruled", "it is not the turn of seat -1")
def a_ruling_on_no_seat_of_the_match(events):
    return change(events, find(events, Ruling), seat=-1)


@lie("ruled", "the ruling names no seat")
def a_ruling_on_nobody(events):
    return change(events, find(events, Ruling), seat=None)


@lie("stand-in", "seat 1 was forfeited before")
def a_ruling_on_a_forfeited_seat(events):
    return _rule(events, Fault.CRASHED, find(events, ActionTaken, 1, seat=1))


@lie("chance", "it is not the turn of seat")
def a_ruling_while_chance_has_its_part(events):
    return _rule(events, Fault.CRASHED, find(events, ChanceDrawn))


@lie("played", "it is not the turn of seat")
def a_ruling_after_the_last_action(events):
    return _rule(events, Fault.CRASHED, find(events, Ended))


# ---------------------------------------------------------- chosen for somebody else


@lie("ruled", "the deal gives another action for the seat")
def another_substitute(events):
    number = find(events, ActionTaken, source=Source.SUBSTITUTE)
    return _other_legal(events, number)


@lie("ruled", "the substituted action is missing")
def a_substituted_action_of_the_player(events):
    number = find(events, ActionTaken, source=Source.SUBSTITUTE)
    return change(events, number, source=Source.PLAYER)


@lie("ruled", "the substituted action is missing")
def the_end_instead_of_a_substituted_action(events):
    number = find(events, ActionTaken, source=Source.SUBSTITUTE)
    events[number:-1] = [Ended(EndKind.WITHDRAWN, "host.closing")]
    return number


@lie("ruled", "the substituted action is missing")
def a_pause_instead_of_a_substituted_action(events):
    number = find(events, ActionTaken, source=Source.SUBSTITUTE)
    events.insert(number, Paused())
    return number


@lie("ruled", "the substituted action is missing")
def a_resignation_instead_of_a_substituted_action(events):
    number = find(events, ActionTaken, source=Source.SUBSTITUTE)
    events.insert(number, Resigned(1))
    return number


@lie("played", "nothing was to be substituted")
def a_substitute_that_nobody_ruled(events):
    number = find(events, ActionTaken)
    return change(events, number, source=Source.SUBSTITUTE)


@lie("ruled", "nobody was asked, yet time was taken")
def a_substitute_that_took_time(events):
    number = find(events, ActionTaken, source=Source.SUBSTITUTE)
    return change(events, number, charged_ms=1)


@lie("ruled", "nobody was asked, yet there are remarks")
def a_substitute_with_a_remark(events):
    number = find(events, ActionTaken, source=Source.SUBSTITUTE)
    return change(events, number, note="my best move")


@lie("stand-in", "the deal gives another action for the seat")
def another_stand_in(events):
    number = find(events, ActionTaken, 1, source=Source.STAND_IN)
    return _other_legal(events, number)


@lie("stand-in", "seat 1 was forfeited before")
def a_forfeited_seat_that_plays_on(events):
    number = find(events, ActionTaken, source=Source.STAND_IN)
    return change(events, number, source=Source.PLAYER)


@lie("stand-in", "only a forfeited seat has a stand-in")
def a_stand_in_of_a_seat_that_plays(events):
    number = find(events, ActionTaken, seat=0)
    return change(events, number, source=Source.STAND_IN)


# ------------------------------------------------------------------------ resignations


@lie("resigned", "forfeited, yet nothing had ended the match")
def a_resignation_left_out(events):
    del events[find(events, Resigned)]
    return find(events, Ended)


@lie("stand-in", "seat 1 was forfeited before")
def a_second_resignation(events):
    number = find(events, Resigned) + 1
    events.insert(number, events[number - 1])
    return number


@lie("resigned", "the match had ended before")
def a_second_resignation_after_the_end(events):
    number = find(events, Resigned) + 1
    events.insert(number, events[number - 1])
    return number


@lie("resigned", "it is not the turn of seat 0")
def a_resignation_of_the_other_seat(events):
    return change(events, find(events, Resigned), seat=0)


@lie("resigned", "the match had ended before")
def an_action_after_a_resignation(events):
    number = find(events, Ended)
    events.insert(number, events[find(events, ActionTaken)])
    return number


# ------------------------------------------------------------------ before the match


@lie("refused", "seats are ruled on once each, in their order")
def a_refusal_ruled_on_twice(events):
    events[find(events, Ruling, 1)] = events[find(events, Ruling)]
    return find(events, Ruling, 1)


@lie("refused", "seats are ruled on once each, in their order")
def refusals_in_another_order(events):
    events[2:4] = reversed(events[2:4])
    return 3


@lie("refused", "the policy says forfeit after refused-to-start, not void")
def a_refusal_that_voids(events):
    del events[find(events, Ruling, 1)]
    change(events, find(events, Ruling), consequence=Consequence.VOID)
    end = find(events, Ended)
    change(events, end, kind=EndKind.VOID, outcome=None)
    return find(events, Ruling)


@lie("nobody-ready", "the policy says forfeit after refused-to-start, not void")
def one_seat_that_was_ready_after_all(events):
    del events[find(events, Ruling, 1)]
    return find(events, Ruling)


@lie("nobody-ready", "the policy says void after refused-to-start, not forfeit")
def a_winner_although_nobody_was_ready(events):
    for nth in (0, 1):
        change(events, find(events, Ruling, nth), consequence=Consequence.FORFEIT)
    return find(events, Ruling)


@lie("refused", "the ruling names no seat")
def a_refusal_of_no_seat(events):
    return change(events, find(events, Ruling), seat=3)


@lie("refused", "the ruling names no seat")
def a_refusal_of_nobody(events):
    return change(events, find(events, Ruling), seat=None)


@lie("refused", "no clock runs before play")
def a_refusal_that_costs_time(events):
    return change(events, find(events, Ruling), charged_ms=1)


@lie("played", "a seat refuses to start, but not before play")
def a_refusal_in_the_midst_of_play(events):
    return _rule(events, Fault.REFUSED_TO_START, find(events, ActionTaken, 1))


@lie("withdrawn-before-the-deal", "a seat refuses to start, but not before play")
def a_refusal_before_the_deal(events):
    return _rule(events, Fault.REFUSED_TO_START, 1)


@lie("withdrawn-before-the-deal", "nothing was dealt")
def a_ruling_before_the_deal(events):
    return _rule(events, Fault.CRASHED, 1)


@lie("withdrawn-before-the-deal", "forfeited, yet nothing had ended the match")
def a_winner_before_the_deal(events):
    number = find(events, Ended)
    return change(events, number, kind=EndKind.FORFEITED, outcome=_outcome((1, 0)))


@lie("deal-failed", "the rules fail with ZeroDivisionError: new_state")
def a_withdrawal_from_a_match_that_could_not_be_dealt(events):
    del events[find(events, Ruling)]
    number = find(events, Ended)
    change(events, number, kind=EndKind.WITHDRAWN, code="host.closing")
    return 1


@lie("deal-failed", "the rules fail with ZeroDivisionError: new_state")
def play_in_a_match_that_could_not_be_dealt(events):
    events.insert(find(events, Ruling), Resigned(0))
    return 1


# ----------------------------------------------------------------------------- pauses


@lie("paused", "something happens during a pause")
def play_during_a_pause(events):
    del events[find(events, Resumed)]
    return find(events, Paused) + 1


@lie("paused", "it goes on without a pause")
def a_pause_left_out(events):
    number = find(events, Paused)
    del events[number]
    return number


@lie("paused", "something happens during a pause")
def a_pause_in_a_pause(events):
    number = find(events, Paused)
    events.insert(number, events[number])
    return number + 1


@lie("paused", "is charged 9001 ms of")
def a_pause_that_costs_more_than_there_is(events):
    return change(events, find(events, Paused), charged_ms=9_001)


@lie("paused", "nobody was asked, yet time was charged")
def a_pause_that_costs_nobody_time(events):
    return change(events, find(events, Paused), seat=None)


@lie("paused", "it is not the turn of seat 1")
def a_pause_of_the_other_seat(events):
    return change(events, find(events, Paused), seat=1)


@lie("played", "the match was over before")
def a_pause_after_the_last_action(events):
    number = find(events, Ended)
    events.insert(number, Paused())
    return number


@lie("resigned", "the match had ended before")
def a_pause_after_the_end(events):
    number = find(events, Ended)
    events.insert(number, Paused())
    return number


# ------------------------------------------------------------------- the referee fails


@lie("referee-error", "the policy says void after referee-error, not forfeit")
def a_failure_of_the_referee_that_forfeits(events):
    return change(events, find(events, Ruling), consequence=Consequence.FORFEIT)


@lie("referee-error", "no seat is to blame")
def a_failure_of_the_referee_with_a_culprit(events):
    return change(events, find(events, Ruling), seat=1)


@lie("referee-error", "no seat is to blame")
def a_failure_of_the_referee_that_costs_time(events):
    return change(events, find(events, Ruling), left_ms=1)


@lie("referee-error", "has the code 'referee.error'")
def a_failure_of_the_referee_by_another_code(events):
    return change(events, find(events, Ruling), code="fault.late")


@lie("referee-error", "the match had ended before")
def a_second_failure_of_the_referee(events):
    number = find(events, Ruling)
    events.insert(number, events[number])
    return number + 1


@lie("referee-error", "the match was void, not played")
def a_result_although_the_referee_failed(events):
    number = find(events, Ended)
    return change(events, number, kind=EndKind.PLAYED, outcome=_outcome((1, 0)))


@lie("referee-error", "a seat refuses to start, but not before play")
def a_refusal_after_the_referee_failed(events):
    return _rule(events, Fault.REFUSED_TO_START, find(events, Ended))


# ---------------------------------------------------------------------------- the end


@lie("played", "the outcome is")
def the_other_winner(events):
    number = find(events, Ended)
    old = events[number].outcome
    return change(
        events,
        number,
        outcome=OutcomeData(old.reason, old.scores[::-1], old.placing[::-1]),
    )


@lie("hidden", "the outcome is")
def another_placing(events):
    number = find(events, Ended)
    old = events[number].outcome
    placing = (1, 1, 1) if old.placing != (1, 1, 1) else (1, 2, 2)
    return change(events, number, outcome=attrs.evolve(old, placing=placing))


@lie("chance", "the outcome is")
def other_scores(events):
    number = find(events, Ended)
    old = events[number].outcome
    scores = (old.scores[0] + 1, old.scores[1])
    return change(events, number, outcome=attrs.evolve(old, scores=scores))


@lie("chance", "the outcome is")
def another_reason(events):
    number = find(events, Ended)
    old = events[number].outcome
    return change(events, number, outcome=attrs.evolve(old, reason="rounds"))


@lie("played", "the outcome is .*, not none")
def no_outcome(events):
    return change(events, find(events, Ended), outcome=None)


@lie("played", "the match was played, not withdrawn")
def a_match_that_was_played_withdrawn(events):
    number = find(events, Ended)
    return change(
        events, number, kind=EndKind.WITHDRAWN, code="host.closing", outcome=None
    )


@lie("played", "it ended by '', not 'fault.late'")
def a_code_for_a_match_that_was_played(events):
    return change(events, find(events, Ended), code="fault.late")


@lie("forfeited", "it ended by 'fault.illegal', not 'fault.late'")
def another_code_of_a_forfeit(events):
    return change(events, find(events, Ended), code="fault.late")


@lie("forfeited", "the match was forfeited, not played")
def a_forfeit_as_if_it_was_played(events):
    return change(events, find(events, Ended), kind=EndKind.PLAYED)


@lie("stand-in", "the match was forfeited, not played")
def a_match_played_on_as_if_all_had_played(events):
    return change(events, find(events, Ended), kind=EndKind.PLAYED, code="")


@lie("stand-in", "the outcome is")
def a_forfeited_seat_not_placed_last(events):
    number = find(events, Ended)
    old = events[number].outcome
    assert old.placing[1] == 3
    return change(events, number, outcome=attrs.evolve(old, placing=(1, 1, 3)[::-1]))


@lie("void", "the outcome is none, not 'four-in-line'")
def an_outcome_of_a_void_match(events):
    number = find(events, Ended)
    return change(events, number, outcome=_outcome((1, 0), "four-in-line"))


@lie("void", "the match was void, not withdrawn")
def a_void_match_as_if_it_was_withdrawn(events):
    return change(events, find(events, Ended), kind=EndKind.WITHDRAWN)


@lie("withdrawn", "a match that does not count has no outcome")
def an_outcome_of_a_withdrawn_match(events):
    return change(events, find(events, Ended), outcome=_outcome((1, 0)))


@lie("withdrawn", "nothing in the record leads to the end 'fault.late'")
def a_withdrawal_by_a_fault_that_was_not_ruled(events):
    return change(events, find(events, Ended), code="fault.late")


@lie("withdrawn", "nothing in the record leads to the end ''")
def a_withdrawal_without_a_code(events):
    return change(events, find(events, Ended), code="")


@lie("withdrawn", "forfeited, yet nothing had ended the match")
def a_forfeit_that_nobody_ruled(events):
    number = find(events, Ended)
    return change(events, number, kind=EndKind.FORFEITED, outcome=_outcome((1, 0)))


@lie("adjudicated", "not one of 2 seats")
def an_adjudication_for_other_seats(events):
    return change(events, find(events, Ended), outcome=_outcome((3, 2, 1)))


@lie("adjudicated", "is not of the form 1, 1, 3")
def an_adjudication_without_a_winner(events):
    outcome = OutcomeData("jury", (1, 1), (2, 2))
    return change(events, find(events, Ended), outcome=outcome)


# ----------------------------------------------------------------- header and deal


@lie("played", "do not open the commitment")
def another_commitment(events):
    change(events, 0, commitment="00" * 32)
    return find(events, Revealed)


@lie("played", "do not open the commitment")
def another_seed(events):
    return change(events, find(events, Revealed), seed="11" * 32)


@lie("played", "do not open the commitment")
def another_salt(events):
    return change(events, find(events, Revealed), salt="11" * 32)


@lie("played", "do not open the commitment")
def another_match_id(events):
    change(events, 0, match_id="m-other")
    return find(events, Revealed)


@lie("played", "do not open the commitment")
def other_options(events):
    other = game("lepidoptery").info.presets["bga"]
    change(events, 0, options=game("lepidoptery").codec.encode_options(other).hex())
    return find(events, Revealed)


@lie("played", "not legal|gives another|index")
def another_seed_with_a_commitment_to_it(events):
    seed = SealedDealer(b"x" * 32).derive("other")
    bound = commitment("m-test", bytes.fromhex(events[0].options), seed, SALT)
    change(events, 0, commitment=bound.hex())
    change(events, find(events, Revealed), seed=seed.hex())
    return _first_failure(events)


@lie("chance", "the deal gives another chance outcome")
def a_nonce_that_no_seat_sent(events):
    change(events, find(events, Dealt), nonces=("ff", "ff"))
    return find(events, ChanceDrawn)


@lie("hidden", "the outcome is")
def another_nonce(events):
    # What chance hid shows only in the scores.
    change(events, find(events, Dealt), nonces=("", "01", "0203"))
    return find(events, Ended)


@lie("hidden", "one nonce per seat, or none")
def a_nonce_too_few(events):
    return change(events, find(events, Dealt), nonces=("", "01"))


@lie("played", "the deal's algorithm 'mine' is not known")
def another_algorithm(events):
    return change(events, 0, algorithm="mine")


@lie("played", "is played by 2 seats, not 3")
def more_seats_than_the_game_has(events):
    header = events[0]
    return change(events, 0, seats=(*header.seats, header.seats[0]))


@lie("played", "is played by 2 seats, not 0")
def no_seats(events):
    return change(events, 0, seats=())


@lie("played", "no game 'chess'")
def a_game_that_is_not_installed(events):
    return change(events, 0, game=GameRef("chess", 1))


@lie("played", "no variant 'magic'")
def a_variant_that_is_not_installed(events):
    return change(events, 0, game=_lepidoptery(VariantRef("magic", 1)))


@lie("played", "under rules 2 of lepidoptery; installed are rules 1")
def another_rules_version(events):
    return change(events, 0, game=GameRef("lepidoptery", 2))


@lie("played", "with variant no-pass 9; installed is no-pass 1")
def another_version_of_a_variant(events):
    return change(events, 0, game=_lepidoptery(VariantRef("no-pass", 9)))


@lie("played", "the game is lepidoptery\\+no-pass, not 'lepidoptery\\+no-pass'")
def a_variant_in_the_name_of_the_game(events):
    return change(events, 0, game=GameRef("lepidoptery+no-pass", 1))


@lie("played", "the game is lepidoptery, not 'fritillary:lepidoptery'")
def a_distribution_in_the_name_of_the_game(events):
    return change(events, 0, game=GameRef("fritillary:lepidoptery", 1))


@lie("played", "named twice")
def a_variant_named_twice(events):
    twice = (VariantRef("no-pass", 1),) * 2
    return change(events, 0, game=_lepidoptery(*twice))


@lie("played", "options of lepidoptery|lepidoptery: options|expected a map")
def options_that_are_none(events):
    return change(events, 0, options="01")


@lie("played", "not msgpack")
def options_that_are_no_bytes(events):
    return change(events, 0, options="c1")


@lie("played", "not canonical")
def options_in_other_bytes(events):
    return change(events, 0, options="")


# ------------------------------------------------------------------------- the helpers


def _hide(digit: int) -> Any:
    return game("guess").codec.action_from_data({"type": "hide", "digit": digit})


def _clock(base_ms: int) -> ClockSettings:
    return ClockSettings(base_ms=base_ms, increment_ms=1_000)


def _lepidoptery(*variants: VariantRef) -> GameRef:
    return GameRef("lepidoptery", 1, "fritillary", variants)


def _outcome(scores: tuple[int, ...], reason: str = "jury") -> OutcomeData:
    places = tuple(1 + sum(other > score for other in scores) for score in scores)
    return OutcomeData(reason, scores, places)


def _rule(events: list[RecordEvent], kind: Fault, number: int) -> int:
    """Add a ruling on who acts next in the record, or has acted last."""
    seats = [event.seat for event in events[number:] if isinstance(event, ActionTaken)]
    seat = seats[0] if seats else 0
    ruling = Ruling(kind, Consequence.FORFEIT, f"fault.{kind.value}", "", seat)
    events.insert(number, ruling)
    return number


def _other_legal(events: list[RecordEvent], number: int) -> int:
    """Change an action to another one that the rules allow there."""
    old = events[number].index
    for index in range(200):
        if index == old:
            continue
        change(events, number, index=index)
        with pytest.raises(RecordError) as caught:
            verify(closed(events), registry())
        if "the deal gives another" in caught.value.message:
            return number
    pytest.fail("there was no choice")


def _first_failure(events: list[RecordEvent]) -> int:
    with pytest.raises(RecordError) as caught:
        verify(closed(events), registry())
    number = int(caught.value.message.removeprefix("event ").split(":")[0])
    assert number <= find(events, ActionTaken, 3)
    return number


# --------------------------------------------------------------------------- the tests


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_written_anew_without_a_lie_still_holds(name):
    raw = record_of(name)
    assert closed(open_events(raw)) == raw
    verify(raw, registry())


@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_refused_and_its_event_named(name):
    events = open_events(record_of(LIES[name].base))
    number = LIES[name].change(events)
    with pytest.raises(RecordError, match=LIES[name].words) as caught:
        verify(closed(events), registry())
    assert caught.value.message.startswith(f"event {number}: ")
    assert "\n" not in caught.value.message


def test_the_lies_are_many():
    assert len(LIES) >= 25
