"""How a match ended, and under which header."""

from __future__ import annotations

import attrs
from tests.record.lies import (
    first_failure,
    lepidoptery,
    lie,
    outcome,
)
from tests.record.support import (
    SALT,
    change,
    find,
    game,
)

from fritillary import SealedDealer
from fritillary.core.commitment import commitment
from fritillary.record.events import (
    ChanceDrawn,
    Dealt,
    Ended,
    GameRef,
    OutcomeData,
    Revealed,
    VariantRef,
)
from fritillary.record.terms import (
    EndKind,
)

# ------------------------------------------------------------------------------ the end


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
    return change(events, number, outcome=outcome((1, 0), "four-in-line"))


@lie("void", "the match was void, not withdrawn")
def a_void_match_as_if_it_was_withdrawn(events):
    return change(events, find(events, Ended), kind=EndKind.WITHDRAWN)


@lie("withdrawn", "a match that does not count has no outcome")
def an_outcome_of_a_withdrawn_match(events):
    return change(events, find(events, Ended), outcome=outcome((1, 0)))


@lie("withdrawn", "nothing in the record leads to the end 'fault.late'")
def a_withdrawal_by_a_fault_that_was_not_ruled(events):
    return change(events, find(events, Ended), code="fault.late")


@lie("withdrawn", "nothing in the record leads to the end ''")
def a_withdrawal_without_a_code(events):
    return change(events, find(events, Ended), code="")


@lie("withdrawn", "forfeited, yet nothing had ended the match")
def a_forfeit_that_nobody_ruled(events):
    number = find(events, Ended)
    return change(events, number, kind=EndKind.FORFEITED, outcome=outcome((1, 0)))


@lie("adjudicated", "not one of 2 seats")
def an_adjudication_for_other_seats(events):
    return change(events, find(events, Ended), outcome=outcome((3, 2, 1)))


@lie("adjudicated", "is not of the form 1, 1, 3")
def an_adjudication_without_a_winner(events):
    outcome = OutcomeData("jury", (1, 1), (2, 2))
    return change(events, find(events, Ended), outcome=outcome)


# ---------------------------------------------------------------------- header and deal


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
    return first_failure(events)


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
    return change(events, 0, game=lepidoptery(VariantRef("magic", 1)))


@lie("played", "under rules 2 of lepidoptery; installed are rules 1")
def another_rules_version(events):
    return change(events, 0, game=GameRef("lepidoptery", 2))


@lie("played", "with variant no-pass 9; installed is no-pass 1")
def another_version_of_a_variant(events):
    return change(events, 0, game=lepidoptery(VariantRef("no-pass", 9)))


@lie("played", "the game is lepidoptery\\+no-pass, not 'lepidoptery\\+no-pass'")
def a_variant_in_the_name_of_the_game(events):
    return change(events, 0, game=GameRef("lepidoptery+no-pass", 1))


@lie("played", "the game is lepidoptery, not 'fritillary:lepidoptery'")
def a_distribution_in_the_name_of_the_game(events):
    return change(events, 0, game=GameRef("fritillary:lepidoptery", 1))


@lie("played", "named twice")
def a_variant_named_twice(events):
    twice = (VariantRef("no-pass", 1),) * 2
    return change(events, 0, game=lepidoptery(*twice))


@lie("played", "options of lepidoptery|lepidoptery: options|expected a map")
def options_that_are_none(events):
    return change(events, 0, options="01")


@lie("played", "not msgpack")
def options_that_are_no_bytes(events):
    return change(events, 0, options="c1")


@lie("played", "not canonical")
def options_in_other_bytes(events):
    return change(events, 0, options="")
