"""Rulings, and what follows from them."""

from __future__ import annotations

from tests.record.lies import (
    lie,
    other_legal,
    outcome,
    rule,
)
from tests.record.support import (
    change,
    closed,
    find,
    registry,
)

from fritillary.core.errors import RecordError
from fritillary.record.events import (
    ActionTaken,
    ChanceDrawn,
    Ended,
    Paused,
    Resigned,
    Ruling,
)
from fritillary.record.terms import (
    Consequence,
    EndKind,
    Fault,
    Source,
    Terms,
    parse_policy,
)
from fritillary.referee.verify import verify

# ------------------------------------------------------------------------------ rulings


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
    return rule(events, Fault.CRASHED, find(events, ActionTaken, 1, seat=1))


@lie("chance", "it is not the turn of seat")
def a_ruling_while_chance_has_its_part(events):
    return rule(events, Fault.CRASHED, find(events, ChanceDrawn))


@lie("played", "it is not the turn of seat")
def a_ruling_after_the_last_action(events):
    return rule(events, Fault.CRASHED, find(events, Ended))


# ------------------------------------------------------------- chosen for somebody else


@lie("ruled", "the deal gives another action for the seat")
def another_substitute(events):
    number = find(events, ActionTaken, source=Source.SUBSTITUTE)
    return other_legal(events, number)


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
    return other_legal(events, number)


@lie("stand-in", "seat 1 was forfeited before")
def a_forfeited_seat_that_plays_on(events):
    number = find(events, ActionTaken, source=Source.STAND_IN)
    return change(events, number, source=Source.PLAYER)


@lie("stand-in", "only a forfeited seat has a stand-in")
def a_stand_in_of_a_seat_that_plays(events):
    number = find(events, ActionTaken, seat=0)
    return change(events, number, source=Source.STAND_IN)


# ------------------------------------------------------------------------- resignations


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


# --------------------------------------------------------------------- before the match


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
    return rule(events, Fault.REFUSED_TO_START, find(events, ActionTaken, 1))


@lie("withdrawn-before-the-deal", "a seat refuses to start, but not before play")
def a_refusal_before_the_deal(events):
    return rule(events, Fault.REFUSED_TO_START, 1)


@lie("withdrawn-before-the-deal", "nothing was dealt")
def a_ruling_before_the_deal(events):
    return rule(events, Fault.CRASHED, 1)


@lie("withdrawn-before-the-deal", "forfeited, yet nothing had ended the match")
def a_winner_before_the_deal(events):
    number = find(events, Ended)
    return change(events, number, kind=EndKind.FORFEITED, outcome=outcome((1, 0)))


@lie("deal-failed", "the rules fail: .* ZeroDivisionError: new_state")
def a_withdrawal_from_a_match_that_could_not_be_dealt(events):
    del events[find(events, Ruling)]
    number = find(events, Ended)
    change(events, number, kind=EndKind.WITHDRAWN, code="host.closing")
    return 1


@lie("deal-failed", "the rules fail: .* ZeroDivisionError: new_state")
def play_in_a_match_that_could_not_be_dealt(events):
    events.insert(find(events, Ruling), Resigned(0))
    return 1


# -------------------------------------------------------------------- the referee fails


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
    return change(events, number, kind=EndKind.PLAYED, outcome=outcome((1, 0)))


@lie("referee-error", "a seat refuses to start, but not before play")
def a_refusal_after_the_referee_failed(events):
    return rule(events, Fault.REFUSED_TO_START, find(events, Ended))
