"""Events of every kind, as Hypothesis draws them."""

from __future__ import annotations

from hypothesis import strategies as st

from fritillary.core.limits import MAX_INT
from fritillary.record.events import (
    ActionTaken,
    ChanceDrawn,
    Dealt,
    Ended,
    GameRef,
    Header,
    OutcomeData,
    Paused,
    Resigned,
    Restarted,
    Resumed,
    Revealed,
    Ruling,
    SeatTerms,
    VariantRef,
)
from fritillary.record.terms import (
    MAX_MS,
    RETRYABLE,
    ClockSettings,
    Consequence,
    EndKind,
    Fault,
    FaultRule,
    LinkBank,
    PlayerInfo,
    Policy,
    Source,
    Terms,
)

INTS = (
    st.integers(-2, 4)
    | st.sampled_from([MAX_INT, -MAX_INT])
    | st.integers(-MAX_INT, MAX_INT)
)
TEXTS = st.text(max_size=12)
MAYBE = st.none() | INTS
MS = st.integers(0, MAX_MS) | st.integers(0, 5_000)
HEX = st.binary(max_size=40).map(bytes.hex)
HASHES = st.binary(min_size=32, max_size=32).map(bytes.hex)
NONCES = st.binary(max_size=32).map(bytes.hex)


@st.composite
def clocks(draw):
    maybe = st.none() | MS
    base, move, turn = draw(maybe), draw(maybe), draw(maybe)
    return ClockSettings(
        base_ms=base,
        increment_ms=None if base is None else draw(maybe),
        move_ms=move,
        turn_ms=turn,
        bank_ms=None if move is None and turn is None else draw(maybe),
        preparation_ms=draw(maybe),
    )


@st.composite
def policies(draw):
    special = []
    for fault in draw(st.lists(st.sampled_from(list(Fault)), unique=True)):
        if fault is Fault.REFEREE_ERROR:
            continue
        consequences = [Consequence.FORFEIT, Consequence.VOID]
        if fault is not Fault.REFUSED_TO_START:
            consequences.append(Consequence.SUBSTITUTE)
        retries = draw(st.integers(0, 3)) if fault in RETRYABLE else 0
        consequence = draw(st.sampled_from(consequences))
        special.append(FaultRule(fault, consequence, retries))
    bank = LinkBank(loss_ms=draw(MS), total_ms=draw(MS), restarts=draw(st.just(2)))
    return Policy.of(*special, stand_in=draw(TEXTS), link=bank)


TERMS = st.builds(
    Terms, policy=policies(), margin_ms=MS, ceiling_ms=MS, offer_ms=MS, ready_ms=MS
)
PLAYERS = st.builds(
    PlayerInfo, name=TEXTS, version=TEXTS, build=TEXTS, author=TEXTS, player=TEXTS
)
HEADERS = st.builds(
    Header,
    format=st.just(1),
    framework=TEXTS,
    match_id=st.from_regex(r"[A-Za-z0-9._-]{1,64}", fullmatch=True),
    game=st.builds(
        GameRef,
        id=TEXTS,
        rules_version=INTS,
        distribution=TEXTS,
        variants=st.lists(st.builds(VariantRef, TEXTS, INTS), max_size=2).map(tuple),
    ),
    options=HEX,
    seats=st.lists(st.builds(SeatTerms, PLAYERS, clocks()), max_size=3).map(tuple),
    terms=TERMS,
    algorithm=TEXTS,
    commitment=HASHES,
    created_at_ms=INTS,
    labels=st.dictionaries(TEXTS, TEXTS, max_size=3),
)
OUTCOMES = st.builds(
    OutcomeData,
    TEXTS,
    st.lists(INTS, max_size=4).map(tuple),
    st.lists(st.integers(1, 4) | INTS, max_size=4).map(tuple),
)
DEALTS = st.builds(Dealt, st.lists(NONCES, max_size=4).map(tuple))
ACTIONS = st.builds(
    ActionTaken,
    seat=INTS,
    index=MAYBE,
    action=st.none() | HEX,
    source=st.sampled_from(Source),
    charged_ms=INTS,
    server_ms=MAYBE,
    think_ms=MAYBE,
    round_trip_ms=MAYBE,
    left_ms=MAYBE,
    note=TEXTS,
    probabilities=st.lists(st.integers(0, 10**6), max_size=3).map(tuple),
)
RULINGS = st.builds(
    Ruling,
    fault=st.sampled_from(Fault),
    consequence=st.sampled_from(Consequence),
    code=TEXTS,
    message=TEXTS,
    seat=MAYBE,
    offending=HEX
    | st.builds(
        lambda kind, rest: (kind + rest).hex(),
        st.sampled_from([b"index:", b"text:", b"data:", b"bytes:"]),
        st.binary(max_size=20)
        | st.sampled_from([b"0", b"7", b"-1", b"9" * 5_000, b"pass", b"{}", b"[1e9]"]),
    ),
    charged_ms=INTS,
    attempt=INTS,
    left_ms=MAYBE,
)
PLAY = (
    ACTIONS
    | st.builds(ChanceDrawn, st.none() | HEX)
    | RULINGS
    | st.builds(Resigned, INTS, INTS)
    | st.builds(Paused, TEXTS, MAYBE, INTS)
    | st.just(Resumed())
    | st.builds(Restarted, MAYBE, INTS)
)
ENDS = st.builds(
    Ended,
    kind=st.sampled_from(EndKind),
    code=TEXTS | st.sampled_from(["host.closing", "fault.late", "referee.error"]),
    message=TEXTS,
    outcome=st.none() | OUTCOMES,
)
REVEALS = st.builds(Revealed, HASHES, HASHES)
EVENTS = HEADERS | DEALTS | PLAY | ENDS | REVEALS
