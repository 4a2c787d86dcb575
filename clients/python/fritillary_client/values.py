"""What a bot is told, and what it answers: plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, TypeAlias, overload

from attrs import field, frozen

from fritillary_client.encoding import Data


@frozen(kw_only=True)
class Session:
    """What the server tells a bot that it has let in.

    Args:
        bot: the name for which the token was issued.
        resumed: whether an older session goes on.
        server: version of its software.
    """

    bot: str
    resumed: bool
    server: str


@frozen
class GameSupport:
    """A game that a bot can play.

    Args:
        game: id of the game, without variants.
        rules_versions: versions of the rules that it knows; empty: any.
        variants: ids of the variants that it knows, in any combination.
        any_variant: takes any variant.
    """

    game: str
    rules_versions: Sequence[int] = ()
    variants: Sequence[str] = ()
    any_variant: bool = False


@frozen(kw_only=True)
class Clock:
    """What is left to the seat when it was asked, in milliseconds.

    ``None`` where there is no such limit.

    Args:
        left_ms: until this decision is late, all parts together: the one to watch.
        base_left_ms: of the time for the whole match.
        move_left_ms: for this decision, without bank.
        turn_left_ms: for this turn, without bank.
        bank_left_ms: of the bank.
        link_left_ms: of the total that may be spent on lost links.
    """

    left_ms: int | None = None
    base_left_ms: int | None = None
    move_left_ms: int | None = None
    turn_left_ms: int | None = None
    bank_left_ms: int | None = None
    link_left_ms: int | None = None


@frozen(kw_only=True)
class ClockSettings:
    """The time a seat is given, in milliseconds; ``None`` for parts it lacks.

    Args:
        base_ms: for the whole match, preparation not counted.
        increment_ms: added to the base after each decision.
        move_ms: for one decision.
        bank_ms: reserve for the whole match, taken when a move or turn is over time.
        turn_ms: for all decisions of the seat in a row.
        preparation_ms: for getting ready.
    """

    base_ms: int | None = None
    increment_ms: int | None = None
    move_ms: int | None = None
    bank_ms: int | None = None
    turn_ms: int | None = None
    preparation_ms: int | None = None


@frozen(kw_only=True)
class Player:
    """Who sits where.

    Args:
        seat: from 0.
        role: the game's own name for the seat, such as ``white``; may be empty.
        name: as the player calls itself; empty where the event keeps it secret.
        version: the same.
        author: the same.
        clock: the time the seat is given.
    """

    seat: int
    role: str = ""
    name: str = ""
    version: str = ""
    author: str = ""
    clock: ClockSettings = field(factory=ClockSettings)


@frozen(kw_only=True)
class MatchInfo:
    """What a bot is told before a match.

    Args:
        match_id: of the match.
        game: id of the game, without variants.
        full_id: of the game with its variants, such as ``lepidoptery+no-pass``.
        rules_version: of the game.
        variants: id and version of each.
        seat: where the bot sits.
        seats: how many there are.
        players: who sits at each, in seat order.
        options: of the game, complete.
        seed: a number below 2**53 of the bot's own; ``ask.rng`` follows from it.
        table_size: entries of the action table; ``None`` if the game has none.
        table_hash: identifies the table; empty if there is none.
        schemas_hash: identifies the JSON Schemas of the game.
        margin_ms: added to every deadline to absorb the link.
        ceiling_ms: for the whole match; ``None`` if not told.
        nonce_wanted: whether the deal is mixed with a nonce of the bot.
        resumed: whether the seat had been taken before and the match goes on, as
            after a restart of the server or of this program.
    """

    match_id: str
    game: str
    full_id: str
    rules_version: int
    variants: tuple[tuple[str, int], ...] = ()
    seat: int
    seats: int
    players: tuple[Player, ...] = ()
    options: Data
    seed: int = 0
    table_size: int | None = None
    table_hash: bytes = b""
    schemas_hash: bytes = b""
    margin_ms: int = 0
    ceiling_ms: int | None = None
    nonce_wanted: bool = False
    resumed: bool = False


@frozen
class Problem:
    """Why something was refused or ruled.

    Args:
        code: stable dotted code.
        message: one sentence for people.
    """

    code: str
    message: str


@frozen(kw_only=True)
class Result:
    """How a match ended.

    Args:
        kind: ``played``, ``forfeited``, ``adjudicated``, ``void``, ``withdrawn``; or
            ``unknown`` if a bot's link was lost and the server has forgotten the
            match.
        code: why, unless it was played to its end, such as ``fault.late``.
        message: the same, for people.
        reason: the game's word for its end; empty if the match does not count.
        scores: by seat; empty if the match does not count.
        placing: by seat, 1 is best; empty if the match does not count.
    """

    kind: str
    code: str = ""
    message: str = ""
    reason: str = ""
    scores: tuple[int, ...] = ()
    placing: tuple[int, ...] = ()

    @property
    def counts(self) -> bool:
        """Whether there is a result."""
        return bool(self.placing)


#: Whether the host dealt as it had promised: ``verified`` if seed and salt open the
#: commitment of the offer and the bot's own seed and nonce were used; ``not-revealed``
#: if nothing was promised, or nothing is revealed (yet); ``broken`` if something does
#: not fit.
Deal: TypeAlias = Literal["verified", "not-revealed", "broken"]


@frozen(kw_only=True)
class Outcome(Result):
    """How a match ended for one of its seats.

    Args:
        seat: of the bot that is told.
        deal: whether it is the one that was promised.
    """

    seat: int
    deal: Deal = "not-revealed"

    @property
    def score(self) -> int | None:
        """The bot's own score; ``None`` if the match does not count."""
        return self.scores[self.seat] if self.seat < len(self.scores) else None

    @property
    def place(self) -> int | None:
        """The bot's own place, 1 is best; ``None`` if the match does not count."""
        return self.placing[self.seat] if self.seat < len(self.placing) else None


@frozen(kw_only=True)
class Event:
    """One thing that happened, as the bot's seat may see it.

    Args:
        number: in the seat's own sequence, from 1.
        ply: plies in the match up to and including this event.
        kind: ``action``, ``chance``, ``ruling``, ``resigned``, ``paused``, ``resumed``
            or ``ended``; ``unknown`` for what later versions of the protocol add.
        seat: that acted, resigned or is at fault; ``None`` for all else.
        action: of the seat or of chance, as the bot's seat may see it.
        text: the same in the notation of the game.
        index: the same in the action table; ``None`` if it is not there.
        source: whose choice an action was: ``player``, ``substitute``, ``stand-in``.
        fault: of a ruling, such as ``late``.
        consequence: of a ruling: ``forfeit``, ``retry``, ``substitute`` or ``void``.
        code: of a ruling or an end.
        message: of a ruling, a pause or an end, for people.
    """

    number: int
    ply: int
    kind: str
    seat: int | None = None
    action: Data = None
    text: str = ""
    index: int | None = None
    source: str = ""
    fault: str = ""
    consequence: str = ""
    code: str = ""
    message: str = ""


class LegalAction:
    """One thing that a seat may do.

    Attributes:
        index: in the action table; in a game without one, in the legal actions.
        text: in the notation of the game.
    """

    __slots__ = ("_action", "_decode", "index", "text")

    def __init__(self, index: int, text: str, decode: Callable[[], Data]) -> None:
        self.index = index
        self.text = text
        self._decode: Callable[[], Data] | None = decode
        self._action: Data = None

    @property
    def action(self) -> Data:
        """The action as data, such as ``{"type": "Pass"}``; do not change it."""
        decode = self._decode
        if decode is not None:
            self._action = decode()
            self._decode = None
        return self._action

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LegalAction):
            return NotImplemented
        return self.index == other.index and self.text == other.text

    def __hash__(self) -> int:
        return hash((self.index, self.text))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"LegalAction({self.index}, {self.text!r})"


class LegalActions(Sequence[LegalAction]):
    """The legal actions of a decision, in order of their indices, never empty.

    Attributes:
        indices: of the actions, rising.
    """

    __slots__ = ("_at", "indices")

    def __init__(
        self, indices: Sequence[int], at: Callable[[int, int], LegalAction]
    ) -> None:
        self.indices = indices
        self._at = at

    def __len__(self) -> int:
        return len(self.indices)

    @overload
    def __getitem__(self, position: int) -> LegalAction: ...
    @overload
    def __getitem__(self, position: slice) -> list[LegalAction]: ...
    def __getitem__(self, position: int | slice) -> LegalAction | list[LegalAction]:
        if isinstance(position, slice):
            return [self[each] for each in range(*position.indices(len(self)))]
        return self._at(position, self.indices[position])

    def __repr__(self) -> str:
        return f"LegalActions({[action.text for action in self]})"


class Resign:
    """The bot gives up the match; answer with `RESIGN`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "RESIGN"


RESIGN: Final = Resign()

#: What names an action: one of ``ask.legal``, its index, its text, or its data.
Choice: TypeAlias = LegalAction | int | str | Mapping[str, Data]


@frozen
class Decision:
    """A choice with what the record may keep beside it.

    Args:
        choice: one of ``ask.legal``, its index, its text, or its data.
        note: a remark for the record. No other seat sees it while the match goes on;
            afterwards all who may fetch the record do.
        probabilities: with which the bot chose, for each of ``ask.legal`` in order; as
            public as the note.
    """

    choice: Choice
    note: str = ""
    probabilities: Sequence[float] = ()


@frozen
class Quoted(Decision):
    """A decision that was read from a line, which is quoted where it is none.

    Args:
        line: its beginning, fit to be shown.
    """

    line: str = ""


#: What ``decide`` may return.
Answer: TypeAlias = Choice | Decision | Resign
