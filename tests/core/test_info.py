"""What games and variants may say of themselves."""

from __future__ import annotations

from typing import Any

import pytest
from tests.ids import steady

from fritillary.core.info import GameInfo, Information, VariantInfo


class Something:
    pass


GOOD: dict[str, Any] = {
    "id": "nim",
    "title": "Nim",
    "summary": "Take matches.",
    "rules_version": 1,
    "min_seats": 2,
    "max_seats": 3,
    "information": Information.PERFECT,
    "chance": False,
    "constant_sum": 0,
    "max_plies": 10,
    "options": Something,
    "state": Something,
    "actions": (Something,),
    "observation": Something,
    "reasons": {"taken": "The last match was taken."},
}
VARIANT: dict[str, Any] = {
    "id": "no-pass",
    "title": "No pass",
    "summary": "Nobody passes.",
    "version": 1,
    "games": ("nim",),
}


def test_a_full_description_is_taken_as_it_is() -> None:
    info = GameInfo(
        **GOOD, presets={"short": Something()}, roles=["a", "b", "c"], credits="Anon"
    )
    assert info.roles == ("a", "b", "c")
    assert GameInfo(**{**GOOD, "actions": [Something]}).actions == (Something,)
    assert GameInfo(**{**GOOD, "constant_sum": None}).constant_sum is None


@pytest.mark.parametrize("good", ["nim", "lost-cities", "a1", "connect-4"])
def test_ids_are_words_joined_by_hyphens(good: str) -> None:
    assert GameInfo(**{**GOOD, "id": good}).id == good
    assert VariantInfo(**{**VARIANT, "id": good}).id == good


@pytest.mark.parametrize(
    "bad", ["", "Nim", "nim ", "nim\n", "4x4", "a--b", "-a", "a-", "a_b", "ä", "a+b", 3]
)
def test_other_ids_are_refused(bad: object) -> None:
    with pytest.raises(ValueError, match="lower-case words joined by hyphens"):
        GameInfo(**{**GOOD, "id": bad})
    with pytest.raises(ValueError, match="lower-case words joined by hyphens"):
        VariantInfo(**{**VARIANT, "id": bad})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", None),
        ("summary", 1),
        ("rules_version", 0),
        ("rules_version", "1"),
        ("rules_version", True),
        ("min_seats", 0),
        ("min_seats", 2.0),
        ("max_seats", 65),
        ("max_seats", 1),
        ("information", "hidden"),
        ("information", True),
        ("chance", 1),
        ("chance", None),
        ("constant_sum", "0"),
        ("max_plies", 0),
        ("max_plies", None),
        ("options", Something()),
        ("state", "State"),
        ("actions", ()),
        ("actions", "Play"),
        ("actions", (Something(),)),
        ("observation", None),
        ("reasons", ["taken"]),
        ("reasons", {"taken": None}),
        ("presets", {1: Something()}),
        ("presets", ()),
        ("roles", "ab"),
        ("roles", ("white", "black")),
        ("roles", (1, 2, 3)),
        ("credits", None),
    ],
    ids=steady,
)
def test_a_wrong_value_names_its_field(field: str, value: object) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        GameInfo(**{**GOOD, field: value})
    said = str(caught.value)
    assert field in said or repr(value) in said


@pytest.mark.parametrize(
    ("field", "value"),
    [("version", 0), ("version", "1"), ("title", 3), ("games", "nim"), ("games", ())],
    ids=steady,
)
def test_a_wrong_value_of_a_variant_names_its_field(field: str, value: object) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        VariantInfo(**{**VARIANT, field: value})
    said = str(caught.value)
    assert field in said or repr(value) in said


def test_descriptions_do_not_change() -> None:
    with pytest.raises(AttributeError):
        GameInfo(**GOOD).id = "other"  # type: ignore[misc]
