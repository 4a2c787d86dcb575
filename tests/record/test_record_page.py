"""docs/record.md: its tables are those of the code, its words are enough to read.

``FRITILLARY_REWRITE_GOLDEN=1`` writes the tables and the vectors anew.
"""

from __future__ import annotations

import enum
import hashlib
import inspect
import os
import re
import typing
from pathlib import Path
from typing import Any

import attrs
import msgpack
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from tests.core.test_dealing_page import Independent
from tests.record.support import RECORDS, all_events, record_of
from tests.record.test_commitment import committed, mixed

from fritillary.codec import kinds
from fritillary.codec.schema import field_documents
from fritillary.record import terms
from fritillary.record.events import RecordEvent, event_to_data

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "record.md"
RECORD_FOLDER = ROOT / "tests" / "golden" / "records"
START = "<!-- events: generated from the code, see tests/record/test_record_page.py -->"
END = "<!-- end of the generated part -->"
VECTORS = "| file | events | content hash | final hash |\n| --- | --- | --- | --- |\n"

EVENTS = typing.get_args(RecordEvent)

REWRITE = bool(os.environ.get("FRITILLARY_REWRITE_GOLDEN"))


# -------------------------------------------------------------------------- the tables


def link(cls: type) -> str:
    name = kinds.tag_of(cls)
    return f"[{name}](#{name})"


def words(annotation: Any) -> str:
    """Return the type of a field in words."""
    match kinds.kind_of(annotation):
        case kinds.Primitive(type=primitive):
            return {int: "integer", str: "text", bool: "true or false"}[primitive]
        case kinds.Enumeration(type=cls) | kinds.Record(type=cls):
            return link(cls)
        case kinds.Items(item=item):
            return f"list of {words(item)}"
        case kinds.Mapped(value=value):
            return f"map of {words(value)}"
        case kinds.Nullable(inner=inner):
            return f"{words(inner)} or nothing"
    raise TypeError(annotation)


def default_of(attribute: attrs.Attribute) -> str:
    value: Any = attribute.default
    if value is attrs.NOTHING:
        return ""
    if isinstance(value, attrs.Factory):  # type: ignore[arg-type]
        value = value.factory()
    if isinstance(value, enum.Enum):
        value = value.value
    if value is None:
        return "nothing"
    if value in ("", (), {}):
        return "empty"
    return f"`{value}`"


def inner_classes(cls: type) -> list[type]:
    """Return the classes of a class's fields, as they come."""
    found: list[type] = []

    def look(annotation: Any) -> None:
        match kinds.kind_of(annotation):
            case kinds.Enumeration(type=inner) | kinds.Record(type=inner):
                found.append(inner)
            case (
                kinds.Items(item=inner)
                | kinds.Mapped(value=inner)
                | kinds.Nullable(inner=inner)
            ):
                look(inner)

    for _, annotation in kinds.fields_of(cls):
        look(annotation)
    return found


def all_classes() -> list[type]:
    """Return the events, then all that they are made of, each once."""
    classes = list(EVENTS)
    for cls in classes:
        if attrs.has(cls):
            classes += [one for one in inner_classes(cls) if one not in classes]
    return classes


def text_of(document: str) -> str:
    plain = " ".join(document.split()).replace("|", "\\|")
    return re.sub(r"``([^`]+)``|`([^`]+)`", r"`\1\2`", plain)


def section(cls: type) -> str:
    summary = inspect.cleandoc(cls.__doc__ or "").partition("\n\nArgs:")[0]
    parts = [f"### {kinds.tag_of(cls)}"]
    parts += [text_of(paragraph) for paragraph in summary.split("\n\n")]
    if not attrs.has(cls):
        values = ", ".join(f"`{member.value}`" for member in cls)  # type: ignore[attr-defined]
        parts.append(f"One of {values}.")
        return "\n\n".join(parts)
    documents = field_documents(cls)
    attributes = attrs.fields_dict(cls)
    # Values inside an event are written whole, defaults and all.
    whole = cls not in EVENTS
    rows = []
    for name, annotation in kinds.fields_of(cls):
        default = "" if whole else f" {default_of(attributes[name])} |"
        meaning = text_of(documents[name])
        rows.append(f"| `{name}` | {words(annotation)} |{default} {meaning} |")
    if rows:
        head = ["| field | type | default | meaning |", "| --- | --- | --- | --- |"]
        if whole:
            head = ["| field | type | meaning |", "| --- | --- | --- |"]
        parts.append("\n".join([*head, *rows]))
    return "\n\n".join(parts)


def generated() -> str:
    classes = all_classes()
    events = "\n\n".join(section(cls) for cls in classes if cls in EVENTS)
    inside = "\n\n".join(section(cls) for cls in classes if cls not in EVENTS)
    between = "The following are values inside events; they have no `type`."
    return f"{START}\n\n{events}\n\n{between}\n\n{inside}\n\n{END}"


def vectors() -> str:
    rows = []
    for path in sorted(RECORD_FOLDER.iterdir()):
        raw = path.read_bytes()
        events = [data for data, _ in read(raw)]
        content = events[-1]["content_hash"]
        rows.append(
            f"| `{path.name}` | {len(events)} | `{content}` | `{raw[-32:].hex()}` |\n"
        )
    return "".join(rows)


def test_the_tables_and_vectors_are_those_of_the_code():
    page = PAGE.read_text("utf-8")
    head, rest = page.split(START)
    _, tail = rest.split(END)
    middle, _ = tail.split(VECTORS)
    wanted = f"{head}{generated()}{middle}{VECTORS}{vectors()}"
    if REWRITE:
        PAGE.write_text(wanted, "utf-8")
        page = wanted
    assert page == wanted


def test_every_field_is_documented():
    for cls in all_classes():
        if attrs.has(cls):
            assert set(field_documents(cls)) >= {
                name for name, _ in kinds.fields_of(cls)
            }


def test_every_term_of_a_match_is_on_the_page():
    page = PAGE.read_text("utf-8")
    for cls in (terms.Fault, terms.Consequence, terms.EndKind, terms.Source):
        for member in cls:
            assert f"`{member.value}`" in page


# --------------------------------------------------- the page in code, nothing but it


def read(raw: bytes) -> list[tuple[dict[str, Any], bytes]]:
    """Return the events of a file with their links."""
    magic = b"fritillary-record" + bytes([0, 1, 10])
    assert raw[:20] == magic
    link = hashlib.sha256(magic).digest()
    rest = raw[20:]
    events = []
    while rest:
        size = int.from_bytes(rest[:4], "big")
        assert size <= 1_048_576
        payload, found = rest[4 : 4 + size], rest[4 + size : 36 + size]
        link = hashlib.sha256(link + payload).digest()
        assert link == found
        data = msgpack.unpackb(payload)
        assert next(iter(data)) == "type"
        assert msgpack.packb(data) == payload
        events.append((data, link))
        rest = rest[36 + size :]
    return events


def content_hash(events: list[dict[str, Any]]) -> bytes:
    header = events[0]
    dealt = [event for event in events if event["type"] == "dealt"]
    game = header["game"]
    variants = game["variants"]
    seed = ""
    if dealt:
        nonces = [bytes.fromhex(nonce) for nonce in dealt[0].get("nonces", [])]
        revealed = bytes.fromhex(events[-2]["seed"])
        seed = hashlib.sha256(mixed(revealed, nonces)).hexdigest()
    lists: list[list[Any]] = [
        [
            "match",
            "+".join([game["id"], *(variant["id"] for variant in variants)]),
            game["rules_version"],
            [variant["version"] for variant in variants],
            header["options"],
            len(header["seats"]),
            seed,
        ]
    ]
    for event in events:
        match event["type"]:
            case "action-taken":
                which = event.get("index", event.get("action"))
                source = event.get("source", "player")
                lists.append(["action", event["seat"], which, source])
            case "chance-drawn":
                lists.append(["chance", event.get("action")])
            case "ruling":
                lists.append(
                    [
                        "ruling",
                        event.get("seat"),
                        event["fault"],
                        event["consequence"],
                        event["code"],
                        event.get("offending", ""),
                    ]
                )
            case "resigned":
                lists.append(["resigned", event["seat"]])
            case "ended":
                found = ["ended", event["kind"], event.get("code", "")]
                if "outcome" in event:
                    outcome = event["outcome"]
                    found += [outcome["reason"], outcome["scores"], outcome["placing"]]
                lists.append(found)
    return hashlib.sha256(msgpack.packb(lists)).digest()


class Clock:
    """What is left of the parts of a clock; those that it has not are infinite."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.left = {part: self.full(part) for part in ("base", "move", "turn")}
        self.bank = settings["bank_ms"] or 0

    def full(self, part: str) -> float:
        value = self.settings[f"{part}_ms"]
        return float("inf") if value is None else value

    @property
    def each(self) -> float:
        return min(self.left["move"], self.left["turn"])

    @property
    def allowance(self) -> float:
        return min(self.left["base"], self.each + self.bank)

    def charge(self, spent: int) -> None:
        self.bank = max(0, self.bank - max(0, spent - self.each))
        for part in self.left:
            self.left[part] = max(0, self.left[part] - spent)


def check_clocks(events: list[dict[str, Any]]) -> int:
    """Follow the clocks through a record; return how many readings there were."""
    header = events[0]
    clocks = [Clock(seat["clock"]) for seat in header["seats"]]
    margin = header["terms"]["margin_ms"]
    last = None
    readings = 0
    for event in events:
        seat = event.get("seat")
        if seat is None:
            continue
        clock = clocks[seat]
        if event.get("fault") != "refused-to-start" and seat != last:
            clock.left |= {part: clock.full(part) for part in ("turn", "move")}
            last = seat
        before = clock.allowance
        charged = event.get("charged_ms", 0)
        assert 0 <= charged <= before
        clock.charge(charged)
        if event.get("fault") == "late":
            assert charged == before
        if event["type"] == "action-taken":
            if event.get("source", "player") == "player":
                assert event["server_ms"] <= before + margin
                assert charged == min(event["server_ms"], before)
                clock.left["base"] += clock.settings["increment_ms"] or 0
            clock.left["move"] = clock.full("move")
        if event["type"] in {"action-taken", "ruling"}:
            left = event.get("left_ms")
            assert clock.allowance == (float("inf") if left is None else left)
            readings += left is not None
    return readings


def check(raw: bytes) -> list[dict[str, Any]]:
    read_events = read(raw)
    events = [data for data, _ in read_events]
    header, closing = events[0], events[-1]
    content = content_hash(events)
    assert content.hex() == closing["content_hash"]
    message = b"fritillary-record-1" + read_events[-2][1] + content
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(closing["key"]))
    key.verify(bytes.fromhex(closing["signature"]), message)
    seed, salt = (bytes.fromhex(events[-2][name]) for name in ("seed", "salt"))
    options = bytes.fromhex(header["options"])
    assert (
        committed(header["match_id"], options, seed, salt).hex()
        == (header["commitment"])
    )
    check_clocks(events)
    return events


@pytest.mark.parametrize("name", RECORDS)
def test_a_program_written_from_the_page_reads_every_record(name):
    events = check(record_of(name))
    found = [event_to_data(event) for event in all_events(record_of(name))]
    assert events == found


def test_a_program_written_from_the_page_follows_the_clocks():
    timed = [name for name in RECORDS if check_clocks(check(record_of(name)))]
    assert {"played", "ruled", "chance", "stand-in", "late-forgiven"} <= set(timed)


def test_a_program_written_from_the_pages_rolls_the_dice_of_pig_again():
    events = check((RECORD_FOLDER / "pig.frec").read_bytes())
    nonces = [bytes.fromhex(nonce) for nonce in events[1]["nonces"]]
    dealer = Independent(mixed(bytes.fromhex(events[-2]["seed"]), nonces))
    drawn = [event["action"] for event in events if event["type"] == "chance-drawn"]
    assert len(drawn) > 10
    for number, action in enumerate(drawn):
        face = msgpack.unpackb(bytes.fromhex(action))
        rolled = dealer.stream("chance", number).weighted([1] * 6) + 1
        assert face == {"type": "face", "pips": rolled}
