"""The JSON Schemas say what the codec writes and reads, and what fields mean."""

from __future__ import annotations

import copy
from typing import Any

import jsonschema
import pytest
from attrs import define, field, frozen, make_class
from hypothesis import given
from hypothesis import strategies as st
from tests.codec import zoo
from tests.codec.test_packing import anything
from tests.codec.zoo import CODEC

from fritillary.codec import kinds
from fritillary.codec.schema import field_documents, json_schema
from fritillary.core.errors import CodecError, InvalidOptionsError

SCHEMAS = CODEC.schemas()
STATE = zoo.some_state()


def validator(schema: Any) -> jsonschema.protocols.Validator:
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


OBSERVATION = validator(SCHEMAS["observation"])
ACTION = validator(SCHEMAS["action"])
OPTIONS = validator(SCHEMAS["options"])


@given(zoo.states)
def test_what_is_encoded_is_valid(state: zoo.State) -> None:
    OBSERVATION.validate(CODEC.observation_to_data(state))
    OPTIONS.validate(CODEC.options_to_data(state.options))
    for move in state.moves:
        ACTION.validate(CODEC.action_to_data(move))


def accepted(data: Any) -> bool:
    try:
        CODEC.observation_from_data(data, STATE.options)
    except CodecError:
        return False
    return True


#: What a schema cannot say: that a list of integers rises, how often one occurs, and
#: what in JSON cannot be otherwise.
UNSAID = ("rising order", "occurs too often", "not allowed", "map keys are strings")


@given(st.sampled_from(sorted(kinds.fields_of(zoo.State)[1:])), anything)
def test_what_the_schema_refuses_is_what_the_codec_refuses(
    field_: tuple[str, Any], value: Any
) -> None:
    data = {**CODEC.observation_to_data(STATE), field_[0]: value}
    try:
        CODEC.observation_from_data(data, STATE.options)
    except CodecError as error:
        if not any(word in error.reason for word in UNSAID):
            assert not OBSERVATION.is_valid(data)
    else:
        assert OBSERVATION.is_valid(data)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("to_move", "7"),
        ("to_move", True),
        ("to_move", 2**53),
        ("to_move", 1.5),
        ("over", 0),
        ("colour", "green"),
        ("hand", [0]),
        ("hand", [11]),
        ("table", [1, 1]),
        ("table", [-1]),
        ("table", [4096]),
        ("pair", [1]),
        ("pair", [1, "red", 2]),
        ("scores", {"a": "1"}),
        ("spare", {}),
        ("moves", [{"type": "move"}]),
        ("moves", [{"type": "swop", "piece": 1}]),
        ("moves", [{"piece": 1}]),
        ("last", {"type": "give-up", "more": 1}),
    ],
    ids=str,
)
def test_broken_data_are_refused_by_both(name: str, value: Any) -> None:
    data = {**CODEC.observation_to_data(STATE), name: value}
    assert not OBSERVATION.is_valid(data)
    assert not accepted(data)


def test_missing_and_unknown_fields_are_refused_by_both() -> None:
    data = CODEC.observation_to_data(STATE)
    for broken in (
        {**data, "other": 1},
        {**data, "options": {}},
        {key: value for key, value in data.items() if key != "note"},
    ):
        assert not OBSERVATION.is_valid(broken)
        assert not accepted(broken)
    gap = {key: value for key, value in data.items() if key != "last"}
    assert OBSERVATION.is_valid(gap)
    assert accepted(gap)


def test_bad_options_are_refused_by_both() -> None:
    data: Any
    for data in ({"width": "3"}, {"other": 1}, {"colours": "red"}, []):
        assert not OPTIONS.is_valid(data)
        with pytest.raises(InvalidOptionsError):
            CODEC.options_from_data(data)
    OPTIONS.validate({})


# -------------------------------------------------------------------- documentation


def definition(schema: dict[str, Any]) -> dict[str, Any]:
    return schema["$defs"][schema["$ref"].rpartition("/")[2]]


@pytest.mark.parametrize("cls", [zoo.State, zoo.Options, zoo.Move, zoo.Cage, zoo.Heap])
def test_every_documented_field_has_its_description(cls: type) -> None:
    documents = field_documents(cls)
    schema = definition(json_schema(cls))
    assert set(documents) >= set(schema["properties"])
    for name, one in schema["properties"].items():
        assert one["description"].startswith(documents[name])
        assert documents[name]
    assert schema["description"] == (cls.__doc__ or "").partition("\n")[0]


def test_descriptions_are_the_words_of_the_docstring() -> None:
    options = definition(SCHEMAS["options"])["properties"]
    assert options["colours"]["description"] == "in play, in their order."
    assert options["label"]["description"] == "any text, at most five letters."
    observation = definition(SCHEMAS["observation"])["properties"]
    assert observation["table"] == {
        "type": "array",
        "items": {"type": "integer", "minimum": 0, "maximum": 4095},
        "uniqueItems": True,
        "description": "the cards on the table. (distinct integers in rising order)",
    }
    assert "options" not in observation
    assert "derived" not in observation


def test_defaults_are_in_the_schema_as_data() -> None:
    options = definition(SCHEMAS["options"])["properties"]
    assert {name: one["default"] for name, one in options.items()} == {
        "width": 3,
        "colours": ["red"],
        "label": "",
        "size": 1,
        "shade": "light",
        "mixed": None,
    }


def test_titles_tell_the_schemas_apart() -> None:
    assert {name: schema["title"] for name, schema in SCHEMAS.items()} == {
        "options": "Zoo options",
        "action": "Zoo action",
        "observation": "Zoo observation",
    }
    assert "title" not in json_schema(int)
    assert "$defs" not in json_schema(list[int])


def test_an_enum_brings_its_own_summary_only() -> None:
    assert json_schema(zoo.Colour)["description"] == "A colour of the zoo."
    assert "description" not in json_schema(zoo.Shade)


def test_classes_of_one_name_do_not_get_mixed_up() -> None:
    one = make_class("Twin", {"a": field(type=int)})
    two = make_class("Twin", {"b": field(type=str)})
    three = make_class("Twin", {"c": field(type=bool)})
    schema = json_schema(tuple[one, two, three, one])  # type: ignore[valid-type]
    good: list[Any] = [{"a": 1}, {"b": "x"}, {"c": True}, {"a": 2}]
    validator(schema).validate(good)
    assert not validator(schema).is_valid(list(reversed(good)))


@define
class Base:
    """A base.

    Attributes:
        a: from the base.
        b: to be said again.

    Text after the section: not a field.
    """

    a: int
    b: int = field(factory=int)


@frozen
class Undocumented:
    c: int


@define
class Derived(Base):
    """Derived.

    Args:
        (those of the base, and)
        b (int): said again,
            over two lines.
    """

    d: int = 0


def test_bases_document_their_fields() -> None:
    assert field_documents(Derived) == {
        "a": "from the base.",
        "b": "said again, over two lines.",
    }
    assert field_documents(Undocumented) == {}
    schema = definition(json_schema(Undocumented))
    assert schema["description"] == ""
    assert "description" not in schema["properties"]["c"]


def test_a_default_that_is_made_anew_is_not_required() -> None:
    schema = definition(json_schema(Derived))
    assert schema["required"] == ["a"]
    assert "default" not in schema["properties"]["b"]
    assert schema["properties"]["d"]["default"] == 0


def test_schemas_are_made_anew_for_each_caller() -> None:
    before = copy.deepcopy(SCHEMAS)
    CODEC.schemas()["options"].clear()
    assert CODEC.schemas() == before
