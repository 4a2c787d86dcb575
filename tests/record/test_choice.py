"""How a refused choice is kept: as much as is needed to refuse it again."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.record.guess import Guess
from tests.record.support import game

from fritillary.core.errors import CodecError, InvalidActionError
from fritillary.record.choice import (
    MAX_OFFENDING,
    action_of,
    can_judge,
    choice_bytes,
    received_bytes,
    was_cut,
)

LEPIDOPTERY = game("lepidoptery")
TABLE = LEPIDOPTERY.table(LEPIDOPTERY.info.options(), 2)
OPEN = game("guess").table(game("guess").info.options(), 2)
DIGITS = tuple(map(Guess, range(10)))

#: All that JSON can say within 53 bits, and lone surrogates besides.
DATA = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.text(st.characters(exclude_categories=()), max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "digit", "rank"]), inner)
    ),
    max_leaves=6,
)


def meant(resolve):
    try:
        return resolve()
    except (InvalidActionError, CodecError):
        return None


@given(st.integers(-3, 600) | st.integers())
def test_an_index_is_judged_as_it_was(index):
    raw = choice_bytes(index=index)
    assert can_judge(raw)
    for table, legal in ((TABLE, ()), (OPEN, DIGITS)):
        again = meant(lambda t=table, a=legal: action_of(raw, t, a))
        assert again == meant(lambda t=table, a=legal: t.at(index, a))


@given(
    st.text(st.characters(exclude_categories=()), max_size=30)
    | st.sampled_from(TABLE.texts)
    | st.sampled_from(["guess 3", "GUESS  3", "guess ?", "guess 11"])
)
@example("guess 3" + " " * 5_000)
@example("pass" + " " * 5_000)
@example("é" * 5_000)
@example(" " + "é" * 5_000)
@example("pass\ud800")
def test_a_text_is_judged_as_it_was(text):
    raw = choice_bytes(text=text)
    assert len(raw) <= MAX_OFFENDING
    assert can_judge(raw)
    for table, legal in ((TABLE, ()), (OPEN, DIGITS)):
        again = meant(lambda t=table, a=legal: action_of(raw, t, a))
        assert again == meant(lambda t=table, a=legal: t.parse(text, a))


@given(DATA | st.builds(lambda digit: {"type": "guess", "digit": digit}, st.integers()))
def test_data_are_judged_as_they_were(data):
    raw = choice_bytes(data=data)
    assert can_judge(raw)
    for table in (TABLE, OPEN):
        again = meant(lambda t=table: action_of(raw, t, ()))
        assert again == meant(lambda t=table: t.structure(data))


def test_data_that_were_cut_cannot_be_judged():
    raw = choice_bytes(data="x" * MAX_OFFENDING)
    assert len(raw) == MAX_OFFENDING
    assert was_cut(raw)
    assert not can_judge(raw)
    assert not can_judge(b"index:" + b"1" * MAX_OFFENDING)


def test_what_could_not_be_read_cannot_be_judged():
    raw = received_bytes(b"\xff" * 5_000)
    assert raw == (b"bytes:" + b"\xff" * 5_000)[:MAX_OFFENDING]
    for kept in (raw, b"bytes:", b"", b"nonsense"):
        assert not can_judge(kept)
        with pytest.raises(InvalidActionError):
            action_of(kept, TABLE, ())


def test_an_index_of_too_many_digits_is_no_choice():
    with pytest.raises(ValueError, match="digits"):
        choice_bytes(index=10**5_000)
    with pytest.raises(InvalidActionError):
        action_of(b"index:" + b"9" * 4_090, TABLE, ())


@given(st.binary(max_size=60), st.sampled_from([b"", b"index:", b"text:", b"data:"]))
def test_foreign_bytes_mean_an_action_or_none(raw, kind):
    for table in (TABLE, OPEN):
        action = meant(lambda t=table: action_of(kind + raw, t, DIGITS))
        assert action is None or type(action) in {Guess, *LEPIDOPTERY.info.actions}
