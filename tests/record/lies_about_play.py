"""What was played, and how long it took."""

from __future__ import annotations

import attrs
from examples.pig import pig
from tests.record.lies import (
    clock_of,
    hide,
    lie,
    rule,
)
from tests.record.support import (
    change,
    closed,
    find,
    game,
    registry,
)

from fritillary.core.errors import RecordError
from fritillary.record.events import (
    ActionTaken,
    ChanceDrawn,
    Ended,
    Paused,
    Resigned,
    Restarted,
    Resumed,
    Ruling,
)
from fritillary.record.terms import (
    Fault,
)
from fritillary.referee.verify import verify

# ------------------------------------------------------------------------------ actions


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
    raw = game("guess").codec.encode_action(hide(3))
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


# ------------------------------------------------------------------------------- chance


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
    raw = game("guess").codec.encode_action(hide(3))
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


# ------------------------------------------------------------------------------- clocks


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
    seats = (header.seats[0], attrs.evolve(header.seats[1], clock=clock_of(59_000)))
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
    return rule(events, Fault.LATE, find(events, ActionTaken))


# ------------------------------------------------------------------------------- pauses


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


# ----------------------------------------------------------------------------- restarts


@lie("paused", "nobody was asked, yet time was charged")
def a_restart_that_costs_nobody_time(events):
    number = find(events, Paused) + 1
    events.insert(number, Restarted(None, 5))
    return number


@lie("paused", "nobody was asked, yet time was charged")
def a_restart_that_charges_in_a_pause(events):
    number = find(events, Paused) + 1
    events.insert(number, Restarted(events[number - 1].seat, 5))
    return number


@lie("paused", "it is not the turn of seat 1")
def a_restart_that_charges_the_other_seat(events):
    number = find(events, Paused)
    events.insert(number, Restarted(1, 5))
    return number


@lie("paused", "is charged 9001 ms of")
def a_restart_that_costs_more_than_there_is(events):
    number = find(events, Paused)
    events.insert(number, Restarted(events[number].seat, 9_001))
    return number


@lie("played", "the match was over before")
def a_restart_after_the_last_action(events):
    number = find(events, Ended)
    events.insert(number, Restarted())
    return number


@lie("resigned", "the match had ended before")
def a_restart_after_the_end(events):
    number = find(events, Ended)
    events.insert(number, Restarted())
    return number
