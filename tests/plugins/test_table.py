"""The action table: nothing unknown, out of range or mistyped gets in."""

# ruff: noqa: ARG005 - hooks have all their arguments, used or not

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from attrs import evolve, frozen
from hypothesis import given
from hypothesis import strategies as st
from tests.plugins import nim
from tests.plugins.nim import Take

from fritillary import Game, InvalidActionError, PluginError
from fritillary.codec.packing import pack
from fritillary.core.errors import AmbiguousActionError
from fritillary.core.info import MAX_TABLE
from fritillary.plugins import table as tables

OPTIONS = nim.Options()
TABLE = Game(nim.plugin()).table(OPTIONS, 2)
OPEN = Game(nim.plugin(all_actions=None)).table(OPTIONS, 2)


def table_of(actions: Any, **hooks: Any) -> Any:
    plugin = nim.plugin(all_actions=lambda options, seats: actions, **hooks)
    return Game(plugin).table(OPTIONS, 2)


def error_of(actions: Any, **hooks: Any) -> str:
    with pytest.raises(PluginError) as caught:
        table_of(actions, **hooks)
    assert caught.value.code == "plugin.table"
    return caught.value.message


# --------------------------------------------------------------- a table is sound


@frozen
class Other:
    number: int


@frozen
class Unhashable:
    number: int

    def __hash__(self) -> int:
        msg = "no hash today"
        raise TypeError(msg)


def test_an_action_is_listed_once() -> None:
    said = error_of([Take(1), Take(2), Take(1)])
    assert said == "nim: all_actions() repeats Take(number=1); list it once"


def test_notations_differ_in_more_than_case_and_spacing() -> None:
    texts = {1: "Take a", 2: "take  A", 3: "take b"}
    said = error_of(
        [Take(1), Take(3), Take(2)], format_action=lambda action: texts[action.number]
    )
    assert "format_action() writes two actions as 'take  A'" in said
    assert "make them differ in letters or digits" in said


@pytest.mark.parametrize("text", ["", "  ", None, 7, b"x"], ids=repr)
def test_a_notation_is_text(text: Any) -> None:
    said = error_of([Take(1)], format_action=lambda action: text)
    assert f"format_action() writes Take(number=1) as {text!r}" in said


def test_a_notation_is_short() -> None:
    said = error_of([Take(1)], format_action=lambda action: "x" * 201)
    assert "in 201 letters; 200 at most" in said


@pytest.mark.parametrize("action", [Other(1), 1, None], ids=str)
def test_only_the_classes_of_the_game_are_listed(action: Any) -> None:
    said = error_of([Take(1), action])
    assert f"holds {action!r}, whose class is not in GameInfo.actions" in said


def test_an_action_without_a_hash_is_named() -> None:
    plugin = nim.plugin(
        all_actions=lambda options, seats: [Unhashable(1)],
        **nim.described(actions=(Unhashable,)),
    )
    with pytest.raises(PluginError, match=r"no hash \(no hash today\); build it from"):
        Game(plugin).table(OPTIONS, 2)


@pytest.mark.parametrize("number", [0, MAX_TABLE + 1])
def test_a_table_has_at_least_one_and_at_most_so_many_actions(number: int) -> None:
    said = error_of([Take(k) for k in range(number)])
    assert f"gave {number} actions; give 1 to 65536, or leave the hook out" in said


@pytest.mark.parametrize(
    "actions",
    [None, 7, "take", b"take", {Take(1)}, {Take(1): 1}, iter([Take(1)]), Take(1)],
    ids=lambda value: type(value).__name__,
)
def test_a_table_is_a_sequence(actions: Any) -> None:
    said = error_of(actions)
    kind = type(actions).__name__
    assert said == (
        f"nim: all_actions() must return a sequence of actions, not a {kind}; "
        "return a tuple"
    )


@pytest.mark.parametrize("error", [ZeroDivisionError("x"), SystemExit(3)], ids=repr)
def test_a_notation_that_fails_names_the_action(error: BaseException) -> None:
    def fail(action: Any) -> str:
        raise error

    said = error_of([Take(1)], format_action=fail)
    assert said.startswith("nim: format_action() fails for Take(number=1): ")


@pytest.mark.parametrize("error", [ZeroDivisionError("x"), SystemExit(3)], ids=repr)
def test_a_table_that_fails_is_an_error_of_the_plugin(error: BaseException) -> None:
    def all_actions(options: Any, seats: int) -> Any:
        raise error

    with pytest.raises(PluginError, match=r"nim: all_actions\(\) failed: "):
        Game(nim.plugin(all_actions=all_actions)).table(OPTIONS, 2)


@pytest.mark.parametrize("text", [None, 7, b"take 1"], ids=repr)
def test_a_game_without_a_table_writes_text_as_well(text: Any) -> None:
    game = Game(nim.plugin(all_actions=None, format_action=lambda action: text))
    with pytest.raises(PluginError, match="writes Take"):
        game.table(OPTIONS, 2).parse("take 1", [Take(1)])


def test_what_an_action_says_of_itself_is_cut() -> None:
    said = error_of([Take(10**4000), Take(10**4000)])
    assert len(said) < 200


def test_a_table_may_come_from_a_list() -> None:
    table = table_of([Take(number) for number in (3, 1, 2)])
    assert table.actions == (Take(3), Take(1), Take(2))
    assert table.index == {Take(3): 0, Take(1): 1, Take(2): 2}
    assert table.texts == ("take 3", "take 1", "take 2")
    assert len(table) == 3


# ----------------------------------------------------------------- the three doors


def test_every_action_comes_back_from_index_text_and_data_as_the_same_object() -> None:
    codec = Game(nim.plugin()).codec
    for index, action in enumerate(TABLE.actions):
        assert TABLE.at(index) is action
        assert TABLE.parse(TABLE.texts[index].upper()) is action
        assert TABLE.structure(codec.action_to_data(action)) is action


@pytest.mark.parametrize("index", [-1, 3, 10**30, True, 1.0, "1", None], ids=repr)
def test_other_indices_are_refused(index: Any) -> None:
    with pytest.raises(InvalidActionError, match="not in the table of 3 actions"):
        TABLE.at(index)
    with pytest.raises(InvalidActionError, match="not among the 3 legal actions"):
        OPEN.at(index, TABLE.actions)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tak 1", "'tak 1' is no action; did you mean 'take 1' or 'take"),
        ("", "'' is no action"),
        ("xyz", "'xyz' is no action"),
        ("x" * 10**6, f"'{'x' * 40}' is no action"),
    ],
    ids=lambda text: text[:20],
)
def test_other_texts_are_refused_with_the_nearest(text: str, message: str) -> None:
    with pytest.raises(InvalidActionError) as caught:
        TABLE.parse(text)
    assert caught.value.message.startswith(message)


@pytest.mark.parametrize("table", [TABLE, OPEN], ids=["listed", "open"])
@pytest.mark.parametrize("text", [None, 1, b"take 1", ["take 1"]], ids=repr)
def test_a_notation_of_another_type_is_refused(table: Any, text: Any) -> None:
    with pytest.raises(InvalidActionError, match="a notation is text"):
        table.parse(text, TABLE.actions)


def test_large_tables_suggest_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_SUGGESTED", 2)
    with pytest.raises(InvalidActionError) as caught:
        TABLE.parse("tak 1")
    assert caught.value.message == "'tak 1' is no action"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"number": 4}, r'{"number":4} is not in the action table'),
        ({"number": "1"}, r"no action of nim: \$.number: expected an integer, got '1'"),
        ({"number": True}, r"no action of nim: \$.number: expected an integer, got tr"),
        ({"number": 1.0}, r"no action of nim: \$.number: float is not allowed"),
        ({}, "no action of nim: field 'number' is missing"),
        ({"number": 1, "all": True}, "no action of nim: unknown field 'all'"),
        ([1], "no action of nim: expected a map"),
        (None, "no action of nim: expected a map"),
    ],
    ids=str,
)
def test_other_data_are_refused_with_the_path(data: Any, message: str) -> None:
    with pytest.raises(InvalidActionError, match=message):
        TABLE.structure(data)


@given(st.text() | st.integers() | st.binary() | st.none(), st.integers())
def test_garbage_is_an_invalid_action_and_nothing_else(junk: Any, index: int) -> None:
    for table in (TABLE, OPEN):
        for call in (
            lambda table=table: table.parse(junk, TABLE.actions),
            lambda table=table: table.structure(junk),
            lambda table=table: table.at(index, TABLE.actions),
        ):
            try:
                action = call()
            except InvalidActionError:
                continue
            assert action in TABLE.actions


def test_the_digest_covers_texts_and_data_in_order() -> None:
    rows = [
        ["take 1", {"number": 1}],
        ["take 2", {"number": 2}],
        ["take 3", {"number": 3}],
    ]
    assert TABLE.digest() == hashlib.sha256(pack(rows)).digest()
    digests = {
        table.digest()
        for table in (
            TABLE,
            table_of([Take(2), Take(1), Take(3)]),
            table_of(TABLE.actions, format_action=lambda action: f"t{action.number}"),
            OPEN,
        )
    }
    assert len(digests) == 4


# ------------------------------------------------------------------- without a table


def test_without_a_table_texts_are_found_among_the_legal_actions() -> None:
    legal = [Take(7), Take(8)]
    assert OPEN.parse("Take  8", legal) is legal[1]
    assert (len(OPEN), OPEN.actions, OPEN.listed) == (0, (), False)
    assert OPEN.structure({"number": 99}) == Take(99)
    with pytest.raises(InvalidActionError, match="'take 9' is no legal action"):
        OPEN.parse("take 9", legal)


def test_without_a_table_a_text_may_fit_several_actions() -> None:
    game = Game(nim.plugin(all_actions=None, format_action=lambda action: "take"))
    with pytest.raises(AmbiguousActionError, match="'take' fits 2 actions"):
        game.table(OPTIONS, 2).parse("take", [Take(1), Take(2)])


def parser(text: str) -> Take:
    return Take(int(text.split()[1]))


def test_the_parser_of_the_game_reads_what_is_not_legal_now() -> None:
    table = Game(nim.plugin(all_actions=None, parse_action=parser)).table(OPTIONS, 2)
    assert table.parse("take 99", [Take(1)]) == Take(99)


@pytest.mark.parametrize("text", ["take x", "take", "", "t" * 10**6])
def test_whatever_the_parser_raises_is_an_invalid_action(text: str) -> None:
    table = Game(nim.plugin(all_actions=None, parse_action=parser)).table(OPTIONS, 2)
    with pytest.raises(InvalidActionError, match="is no action: "):
        table.parse(text)


def test_what_the_parser_returns_must_be_an_action() -> None:
    plugin = nim.plugin(all_actions=None, parse_action=lambda text: None)
    with pytest.raises(PluginError, match=r"parse_action\(\) returned None"):
        Game(plugin).table(OPTIONS, 2).parse("take 1")


def test_tables_are_kept_for_each_options_and_seats() -> None:
    game = Game(nim.plugin())
    assert game.table(OPTIONS, 2) is game.table(evolve(OPTIONS), 2)
    assert game.table(OPTIONS, 2) is not game.table(OPTIONS, 3)
