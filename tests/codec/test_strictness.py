"""Data that are almost right are refused, and the path names the bad field."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import pytest
from attrs import define, evolve, field, frozen
from tests.codec import zoo
from tests.codec.zoo import CODEC

from fritillary.codec.values import ValueCodec
from fritillary.core.errors import CodecError, InvalidOptionsError

STATE = zoo.some_state()
DATA = CODEC.observation_to_data(STATE)


def changed(path: list[str | int], value: Any) -> Any:
    """Return the data of the state with one part replaced."""
    data = copy.deepcopy(DATA)
    part = data
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    return data


@pytest.mark.parametrize(
    ("at", "value", "path", "reason"),
    [
        (["to_move"], "7", "$.to_move", "expected an integer, got '7'"),
        (["to_move"], True, "$.to_move", "expected an integer, got true"),
        (["to_move"], None, "$.to_move", "expected an integer, got null"),
        (["over"], 1, "$.over", "expected true or false, got 1"),
        (["over"], "true", "$.over", "expected true or false, got 'true'"),
        (["note"], 3, "$.note", "expected text, got 3"),
        (["note"], None, "$.note", "expected text, got null"),
        (["colour"], "green", "$.colour", "expected one of red, blue; got 'green'"),
        (["colour"], ["red"], "$.colour", "expected one of red, blue; got a list of 1"),
        (["size"], True, "$.size", "expected one of 1, 2; got true"),
        (["size"], "1", "$.size", "expected one of 1, 2; got '1'"),
        (["hand"], [2, 1], "$.hand", "expected a list in rising order"),
        (["hand"], [0], "$.hand", "0 is out of range"),
        (["hand"], [5] * 8, "$.hand", "5 occurs too often"),
        (["hand"], [1, "2"], "$.hand[1]", "expected an integer, got '2'"),
        (["hand"], 7, "$.hand", "expected a list, got 7"),
        (["table"], [3, 3], "$.table", "3 occurs too often"),
        (["table"], [True], "$.table[0]", "expected an integer, got true"),
        (["table"], [10**15], "$.table", "1000000000000000 is out of range"),
        (["hands", 1], [11], "$.hands[1]", "11 is out of range"),
        (["deck"], "5", "$.deck", "expected a list, got '5'"),
        (["deck"], {"0": 5}, "$.deck", "expected a list, got a map"),
        (["deck", 2], False, "$.deck[2]", "expected an integer, got false"),
        (["flags", 1], 0, "$.flags[1]", "expected true or false, got 0"),
        (["words", 0], 1, "$.words[0]", "expected text, got 1"),
        (["rows", 0, 1], None, "$.rows[0][1]", "expected an integer, got null"),
        (["rows", 1], 5, "$.rows[1]", "expected a list, got 5"),
        (["pair"], [3], "$.pair", "expected 2 items, got 1"),
        (["pair"], None, "$.pair", "expected a list, got null"),
        (["pair", 1], "x", "$.pair[1]", "expected one of red, blue; got 'x'"),
        (["scores"], [], "$.scores", "expected a map, got a list of 0"),
        (["scores", "a"], "1", "$.scores.a", "expected an integer, got '1'"),
        (["scores", "a b"], "1", "$.scores['a b']", "expected an integer, got '1'"),
        (
            ["heaps", "left", 0, "cards", 1],
            "2",
            "$.heaps.left[0].cards[1]",
            "expected an integer, got '2'",
        ),
        (["heaps", "left", 0], 1, "$.heaps.left[0]", "expected a map, got 1"),
        (["heaps", "left", 0], {}, "$.heaps.left[0]", "field 'cards' is missing"),
        (
            ["heaps", "left", 0],
            {"cards": [], "hidden": True},
            "$.heaps.left[0]",
            "unknown field 'hidden'",
        ),
        (["cages", 1, "last"], "x", "$.cages[1].last", None),
        (["cages", 0, "last", "pieces"], [1], "$.cages[0].last.pieces", None),
        (["cages", 0, "last", "type"], "swop", "$.cages[0].last", None),
        (["spare", "keeper"], 5, "$.spare.keeper", "expected text, got 5"),
        (["spare"], {"keeper": None}, "$.spare", "field 'animals' is missing"),
        (["spare"], {"animals": [-1]}, "$.spare.animals", "-1 is out of range"),
        (
            ["spare"],
            {"animals": [], "keeper": None, "next": None},
            "$.spare",
            "unknown field 'next'",
        ),
        (["moves", 0], {"type": "move"}, "$.moves[0]", "field 'piece' is missing"),
        (["moves", 0, "by"], "1", "$.moves[0].by", "expected an integer, got '1'"),
        (["moves", 1, "type"], "move", "$.moves[1]", "field 'piece' is missing"),
        (["moves", 1, "x"], 1, "$.moves[1]", "unknown field 'x'"),
        (
            ["moves", 1],
            {"piece": 1},
            "$.moves[1]",
            "expected a map with 'type' one of move, swap, give-up; got a map",
        ),
        (
            ["moves", 1],
            {"type": ["move"], "piece": 1},
            "$.moves[1]",
            "expected a map with 'type' one of move, swap, give-up; got type a list",
        ),
        (
            ["moves", 1],
            None,
            "$.moves[1]",
            "expected a map with 'type' one of move, swap, give-up; got null",
        ),
        (["last"], [], "$.last", None),
        (["x" * 50], 1, "$", f"unknown field '{'x' * 40}...'"),
        (["options"], {}, "$.options", "options do not travel inside"),
        (["derived"], 8, "$", "unknown field 'derived'"),
    ],
    ids=str,
)
def test_the_path_leads_to_the_bad_field(
    at: list[str | int], value: Any, path: str, reason: str | None
) -> None:
    data = changed(at, value)
    with pytest.raises(CodecError) as caught:
        CODEC.observation_from_data(data, STATE.options)
    assert caught.value.path == path
    if reason is not None:
        assert caught.value.reason.startswith(reason)
    assert caught.value.code == "codec.invalid"


@pytest.mark.parametrize("name", DATA)
def test_a_missing_field_is_named_unless_it_has_a_default(name: str) -> None:
    data = {key: value for key, value in DATA.items() if key != name}
    if name == "last":
        assert CODEC.observation_from_data(data, STATE.options).last is None
        return
    with pytest.raises(CodecError, match=f"field '{name}' is missing"):
        CODEC.observation_from_data(data, STATE.options)
    # As many fields as there should be: the unknown one is the better hint.
    with pytest.raises(CodecError, match="unknown field 'other'"):
        CODEC.observation_from_data({**data, "other": 1}, STATE.options)


def test_errors_are_found_in_data_with_gaps_as_well() -> None:
    data = changed(["to_move"], "7")
    del data["last"]
    with pytest.raises(CodecError) as caught:
        CODEC.observation_from_data(data, STATE.options)
    assert caught.value.path == "$.to_move"


@pytest.mark.parametrize("data", [None, 1, "x", [], [DATA], True], ids=repr)
def test_a_state_is_a_map(data: Any) -> None:
    with pytest.raises(CodecError, match="expected a map, got"):
        CODEC.observation_from_data(data, STATE.options)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (2**53, "53 bits"),
        (-(2**53), "53 bits"),
        (2**5000, "53 bits"),
        (1.0, "float is not allowed"),
        (float("nan"), "float is not allowed"),
        (b"x", "bytes is not allowed"),
        ({1, 2}, "set is not allowed"),
        ((1, 2), "tuple is not allowed"),
        ("\ud800", "lone surrogate"),
        ({1: 2}, "map keys are strings, not int"),
        ({"\udc00": 2}, "lone surrogate"),
        (zoo.Colour.RED, "Colour is not allowed"),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_data_that_are_not_plain_are_refused_at_every_door(
    value: Any, reason: str
) -> None:
    for give in (
        lambda data: CODEC.observation_from_data({"to_move": data}, STATE.options),
        lambda data: CODEC.action_from_data({"type": "move", "piece": data}),
        lambda data: CODEC.options_from_data({"width": data}),
    ):
        with pytest.raises((CodecError, InvalidOptionsError), match=reason):
            give(value)


# ------------------------------------------------------------------------ options


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"width": 10}, "zoo: width: 'width' must be in"),
        ({"width": "3"}, "zoo: width: expected an integer, got '3'"),
        ({"label": "too long"}, "zoo: label: Length of 'label' must be <= 5"),
        ({"colours": ["pink"]}, r"zoo: colours\[0\]: expected one of red, blue"),
        ({"hight": 3}, "zoo: options: unknown field 'hight'"),
        ([], "zoo: options: expected a map, got a list of 0"),
        (None, "zoo: options: expected a map, got null"),
    ],
    ids=str,
)
def test_bad_options_name_the_option(data: Any, message: str) -> None:
    with pytest.raises(InvalidOptionsError, match=message) as caught:
        CODEC.options_from_data(data)
    assert "Attribute(" not in caught.value.message


def _odd(instance: Any, attribute: Any, value: int) -> None:
    if value % 2 == 0:
        msg = "must be odd"
        raise ValueError(msg)


def _no_words(instance: Any, attribute: Any, value: int) -> None:
    if value < 0:
        raise ArithmeticError


def _shorten(value: str) -> str:
    if value == "long":
        msg = "cannot be shortened"
        raise RuntimeError(msg)
    return value[:2]


def _rising(values: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(values))


@frozen
class Picky:
    """Options that look twice."""

    odd: int = field(default=1, validator=_odd)
    small: int = field(default=2, validator=_no_words)
    short: str = field(default="", converter=_shorten)
    listed: tuple[int, ...] = field(default=(), converter=_rising)

    def __attrs_post_init__(self) -> None:
        if self.small > 9 * self.odd:
            msg = "small is too large for odd"
            raise ValueError(msg)


@define
class PickyState:
    options: Picky


PICKY = ValueCodec(
    evolve(zoo.INFO, options=Picky, state=PickyState, observation=PickyState)
)
WHOLE = {"odd": 3, "small": 5, "short": "a", "listed": [1]}


@pytest.mark.parametrize("base", [{}, WHOLE], ids=["with gaps", "complete"])
@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"odd": 2}, "zoo: odd: must be odd"),
        ({"small": -1}, "zoo: small: ArithmeticError"),
        ({"short": "long"}, "zoo: short: cannot be shortened"),
        ({"small": 99}, "zoo: options: small is too large for odd"),
    ],
    ids=str,
)
def test_a_validator_that_does_not_name_its_field_is_traced_to_it(
    base: dict[str, Any], data: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidOptionsError) as caught:
        PICKY.options_from_data({**base, **data})
    assert caught.value.message == message


def test_converters_are_applied() -> None:
    assert PICKY.options_from_data(WHOLE) == Picky(3, 5, "a", (1,))
    assert PICKY.options_from_data({"short": "abc"}).short == "ab"
    state = PickyState(Picky())
    assert PICKY.decode_state(PICKY.encode_state(state), state.options) == state


# ------------------------------------------------------------------- what is encoded


@pytest.mark.parametrize(
    ("name", "value", "path", "reason"),
    [
        ("to_move", 0.5, "$.to_move", "float is not allowed"),
        ("to_move", float("nan"), "$.to_move", "float is not allowed"),
        ("to_move", 2**53, "$.to_move", "53 bits"),
        ("to_move", 2**60, "$.to_move", "53 bits"),
        ("to_move", -(2**53), "$.to_move", "53 bits"),
        ("to_move", 2**70, "$.to_move", "53 bits"),
        ("to_move", {1, 2}, "$.to_move", "set is not allowed"),
        ("to_move", b"x", "$.to_move", "bytes is not allowed"),
        ("note", "\ud800", "$.note", "lone surrogate"),
        ("deck", (1, 2.5), "$.deck[1]", "float is not allowed"),
        ("rows", [(1,), (2**62,)], "$.rows[1][0]", "53 bits"),
        ("scores", {"a": 1e300}, "$.scores.a", "float is not allowed"),
        ("words", (zoo.Shade.DARK,), "$.words[0]", "Shade is not allowed"),
        ("scores", {1: 1}, "$", "map keys are strings, not int"),
        ("moves", ["pass"], "$", "str is none of Move, Swap, GiveUp"),
        ("hand", -1, "$", "a negative integer holds items out of range"),
        ("hand", 1 << 30, "$", "the integer holds items out of range"),
    ],
    ids=str,
)
def test_what_other_languages_cannot_read_is_not_written(
    name: str, value: Any, path: str, reason: str
) -> None:
    state = zoo.some_state()
    setattr(state, name, value)
    with pytest.raises(CodecError) as caught:
        CODEC.encode_state(state)
    assert caught.value.path == path
    assert reason in caught.value.reason


def test_large_plain_values_are_written() -> None:
    state = zoo.some_state()
    state.deck = (2**53 - 1, -(2**53 - 1), 2**32, -(2**31) - 1)
    state.words = ("\U0001f98b" * 300, "Ë\x80")
    state.rows = [(1,)] * 100
    raw = CODEC.encode_state(state)
    assert CODEC.decode_state(raw, state.options) == state
