"""What a match record holds: a header, then events, each an attrs value.

In the file an event is the canonical msgpack of a map with the key ``type`` naming
its class (see ``docs/record.md``). Hashes, seeds and foreign bytes are hex text;
times are milliseconds.
"""
# ruff: noqa: ANN401 - data of any shape

from __future__ import annotations

import enum
import re
import typing
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import attrs
from attrs import field, frozen, validators

from fritillary.codec.converter import make_converter
from fritillary.core.commitment import MAX_NONCE_BYTES
from fritillary.core.limits import MAX_INT
from fritillary.record.terms import (
    ClockSettings,
    Consequence,
    EndKind,
    Fault,
    PlayerInfo,
    Source,
    Terms,
)

#: Version of the record format; raised when its meaning changes.
FORMAT: Final = 1

MATCH_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")

_HEX: Final = validators.matches_re(r"(?:[0-9a-f]{2})*\Z")
_HASH: Final = validators.matches_re(r"[0-9a-f]{64}\Z")
_NONCE: Final = validators.matches_re(rf"(?:[0-9a-f]{{2}}){{0,{MAX_NONCE_BYTES}}}\Z")


def _whole(_: object, attribute: Any, value: int) -> None:
    # Whoever writes the record does not look at its numbers again.
    if type(value) is not int or not -MAX_INT <= value <= MAX_INT:
        msg = f"{attribute.name}: {value!r} is no integer of at most 53 bits"
        raise ValueError(msg)


@frozen
class VariantRef:
    """A variant as it was applied.

    Args:
        id: of the variant.
        version: of its behaviour.
    """

    id: str
    version: int


@frozen
class GameRef:
    """A game as it was played.

    Args:
        id: of the game, without variants.
        rules_version: of its rules.
        distribution: that the game came from; empty if it was not installed.
        variants: in the order in which they apply.
    """

    id: str
    rules_version: int
    distribution: str = ""
    variants: tuple[VariantRef, ...] = ()

    @property
    def full_id(self) -> str:
        """The id with the variants joined by plus signs."""
        return "+".join([self.id, *(variant.id for variant in self.variants)])


@frozen
class SeatTerms:
    """One seat: who plays it, and with which clock.

    Args:
        player: who.
        clock: its time.
    """

    player: PlayerInfo
    clock: ClockSettings


@frozen(kw_only=True)
class Header:
    """Opens the record, before the first message of the match.

    Args:
        format: version of the record format.
        framework: version of the software that wrote it.
        match_id: of the match.
        game: as it is played.
        options: hex of their canonical msgpack.
        seats: in seat order.
        terms: the same for all.
        algorithm: of the deal.
        commitment: hex of the hash that binds the deal.
        created_at_ms: since 1970-01-01 UTC.
        labels: free tags of whoever made the match.
    """

    format: int
    framework: str
    match_id: str = field(validator=validators.matches_re(MATCH_ID))
    game: GameRef
    options: str = field(validator=_HEX)
    seats: tuple[SeatTerms, ...]
    terms: Terms
    algorithm: str
    commitment: str = field(validator=_HASH)
    created_at_ms: int = field(validator=_whole)
    labels: dict[str, str] = field(factory=dict)


@frozen
class Dealt:
    """Every seat is ready or has been given up, and the deal is fixed.

    Args:
        nonces: hex of the nonce of each seat, at most 32 bytes; no list where none
            were wanted.
    """

    nonces: tuple[str, ...] = field(
        default=(), validator=validators.deep_iterable(_NONCE)
    )


@frozen
class ActionTaken:
    """A seat has acted.

    Args:
        seat: who.
        index: in the action table; absent if the game lists none.
        action: hex of the action's canonical msgpack, if the game has no table.
        source: whose choice it was.
        charged_ms: taken from the seat's clock.
        server_ms: from asking to answering at the server; absent where nobody was
            asked.
        think_ms: as the bot reported it.
        round_trip_ms: of the link as last measured.
        left_ms: what the seat's clock allows for its next decision; absent if it is
            untimed.
        note: the bot's remark.
        probabilities: with which the bot chose each legal action, in millionths.
    """

    seat: int
    index: int | None = None
    action: str | None = field(default=None, validator=validators.optional(_HEX))
    source: Source = Source.PLAYER
    charged_ms: int = 0
    server_ms: int | None = None
    think_ms: int | None = None
    round_trip_ms: int | None = None
    left_ms: int | None = None
    note: str = ""
    probabilities: tuple[int, ...] = ()


@frozen
class ChanceDrawn:
    """Chance has had its part.

    Args:
        action: hex of its msgpack if everyone may see it; absent if it is hidden,
            it then follows from the seed.
    """

    action: str | None = field(default=None, validator=validators.optional(_HEX))


@frozen
class Ruling:
    """The referee's decision on a fault.

    Args:
        fault: what went wrong.
        consequence: what follows.
        code: stable dotted code.
        message: for people.
        seat: at fault; absent if no seat is to blame.
        offending: hex of what the player sent, as far as 4,096 bytes.
        charged_ms: taken from the seat's clock.
        attempt: which time of asking for this decision it was, from 1.
        left_ms: what the seat's clock allows from here; absent if it is untimed.
    """

    fault: Fault
    consequence: Consequence
    code: str
    message: str
    seat: int | None = None
    offending: str = field(default="", validator=_HEX)
    charged_ms: int = 0
    attempt: int = 1
    left_ms: int | None = None


@frozen
class Resigned:
    """A seat has given up.

    Args:
        seat: who.
        charged_ms: taken from its clock.
    """

    seat: int
    charged_ms: int = 0


@frozen
class Paused:
    """The match was stopped; no clock runs.

    Args:
        message: why.
        seat: whose decision was open; absent if none was.
        charged_ms: taken from its clock up to the pause.
    """

    message: str = ""
    seat: int | None = None
    charged_ms: int = 0


@frozen
class Resumed:
    """The match goes on."""


@frozen
class Restarted:
    """The server has started anew, and the match is taken up where it stood.

    An open decision stays open: the seat has what is left of its clock.

    Args:
        seat: whose decision had begun before; absent if that is not known.
        charged_ms: taken from its clock: the time up to an orderly stop.
    """

    seat: int | None = None
    charged_ms: int = 0


@frozen
class OutcomeData:
    """The outcome by seat.

    Args:
        reason: word for why it ended.
        scores: a score per seat.
        placing: a place per seat, 1 is best.
    """

    reason: str
    scores: tuple[int, ...] = field(validator=validators.deep_iterable(_whole))
    placing: tuple[int, ...] = field(validator=validators.deep_iterable(_whole))


@frozen
class Ended:
    """Play is over.

    Args:
        kind: how it ended.
        code: why, as a code; empty if it was played to its end.
        message: why, for people.
        outcome: absent if the match does not count.
    """

    kind: EndKind
    code: str = ""
    message: str = ""
    outcome: OutcomeData | None = None


@frozen
class Revealed:
    """Opens the commitment.

    Args:
        seed: hex of the committed seed.
        salt: hex of the salt.
    """

    seed: str = field(validator=_HASH)
    salt: str = field(validator=_HASH)


@frozen
class Closed:
    """Closes the record.

    Args:
        content_hash: of what happened, without times, ids and measurements.
        key: hex of the server's public Ed25519 key.
        signature: hex of the signature over ``fritillary-record-1``, the link before
            this event and the content hash.
    """

    content_hash: str = field(validator=_HASH)
    key: str = field(validator=_HASH)
    signature: str = field(validator=validators.matches_re(r"[0-9a-f]{128}\Z"))


RecordEvent: TypeAlias = (
    Header
    | Dealt
    | ActionTaken
    | ChanceDrawn
    | Ruling
    | Resigned
    | Paused
    | Resumed
    | Restarted
    | Ended
    | Revealed
    | Closed
)

_CONVERTER: Final = make_converter()
_dump = _CONVERTER.get_unstructure_hook(RecordEvent)
_build: Callable[..., Any] = _CONVERTER.get_structure_hook(RecordEvent)


def _plain_defaults(cls: type) -> dict[str, Any]:
    """Return the defaults of a class as they would stand in its data."""
    defaults: dict[str, Any] = {}
    for one in attrs.fields(cls):
        value = one.default
        if value is attrs.NOTHING:
            continue
        if isinstance(value, attrs.Factory):  # type: ignore[arg-type]
            value = value.factory()
        if isinstance(value, enum.Enum):
            value = value.value
        defaults[one.name] = list(value) if isinstance(value, tuple) else value
    return defaults


_PLAIN_DEFAULTS: Final = {
    cls: _plain_defaults(cls) for cls in typing.get_args(RecordEvent)
}


def _kept(dump: Callable[[Any], Any], size: int) -> Callable[[Any], Any]:
    """Keep the data of values by identity: to hash some takes longer than to dump."""
    known: dict[int, tuple[Any, Any]] = {}

    def dump_once(value: Any) -> Any:
        found = known.get(id(value))
        if found is None:
            if len(known) >= size:
                known.clear()
            # The value is kept, and so its identity stays its own.
            found = known[id(value)] = (value, dump(value))
        return found[1]

    return dump_once


#: As the other one, for headers: they have much in common.
_HEADERS: Final = make_converter()
for _cls in (Terms, PlayerInfo, ClockSettings, GameRef):
    _HEADERS.register_unstructure_hook(
        _cls, _kept(_CONVERTER.get_unstructure_hook(_cls), 256)
    )
_dump_header = _HEADERS.get_unstructure_hook(RecordEvent)


def header_to_data(header: Header) -> dict[str, Any]:
    """Return what `event_to_data` would, sooner; the data must not be changed."""
    data: dict[str, Any] = _dump_header(header)
    if not header.labels:
        del data["labels"]
    return data


def event_to_data(event: RecordEvent) -> dict[str, Any]:
    """Return an event as plain data; fields that have their default are left out."""
    plain = _PLAIN_DEFAULTS[type(event)]
    return {
        name: value
        for name, value in _dump(event).items()
        if name not in plain or value != plain[name]
    }


def event_from_data(data: Any) -> RecordEvent:
    """Return the event of plain data.

    Raises:
        CodecError: naming the path of what is wrong.
    """
    event: RecordEvent = _build(data)
    return event
