"""The action table: the one place where actions meet the outside.

Indices, text and data become actions only here, so nothing unknown, out of range
or mistyped gets in.
"""

from __future__ import annotations

import difflib
import hashlib
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

from fritillary.codec.packing import pack
from fritillary.codec.values import ValueCodec
from fritillary.core.errors import (
    AmbiguousActionError,
    CodecError,
    FritillaryError,
    InvalidActionError,
    PluginError,
)
from fritillary.core.info import MAX_TABLE
from fritillary.core.text import line, sentence, show, told

A = TypeVar("A")


#: Texts of actions are looked at so far; nobody's notation is longer.
_LONGEST: Final = 200

#: In tables up to this size, a text that fits nothing gets the nearest ones named.
_SUGGESTED: Final = 1_000


def as_actions(
    game: str, hook: str, value: Any, *, code: str = "plugin.table"
) -> tuple[Any, ...]:
    """Return the actions that a hook gives as a tuple.

    Raises:
        PluginError: if they are no sequence.
    """
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes, bytearray)):
        what = type(value).__name__
        msg = f"{game}: {hook}() must return a sequence of actions, not a {what}"
        raise PluginError(f"{msg}; return a tuple", code=code)
    return tuple(value)


def normal(text: str) -> str:
    """Return notation as it is compared: lower case, single spaces."""
    return " ".join(text.casefold().split())


class ActionTable(Generic[A]):
    """Every action of a game under some options, in a fixed order.

    Attributes:
        actions: the actions; the position of one is its index.
        texts: their notations, in the same order.
        index: index of an action, by action.
    """

    #: Whether an index counts in the table, or in the legal actions at hand.
    listed = True

    def __init__(
        self,
        actions: Sequence[A],
        codec: ValueCodec,
        format_action: Callable[[A], str],
        *,
        game: str,
    ) -> None:
        self.actions: tuple[A, ...] = as_actions(game, "all_actions", actions)
        self._codec = codec
        if not 0 < len(self.actions) <= MAX_TABLE:
            msg = f"{game}: all_actions() gave {len(self.actions)} actions"
            raise _bad(f"{msg}; give 1 to {MAX_TABLE}, or leave the hook out")
        self.index: dict[A, int] = {}
        self._by_text: dict[str, A] = {}
        texts = []
        for index, action in enumerate(self.actions):
            if type(action) not in codec.info.actions:
                msg = f"{game}: all_actions() holds {show(action)}, whose class is not"
                raise _bad(f"{msg} in GameInfo.actions; add the class there")
            try:
                first = self.index.setdefault(action, index)
            except TypeError as error:
                msg = f"{game}: all_actions() holds {show(action)}, which has no hash"
                mend = "build it from tuples only"
                raise _bad(f"{msg} ({line(error, 80)}); {mend}") from error
            if first != index:
                msg = f"{game}: all_actions() repeats {show(action)}; list it once"
                raise _bad(msg)
            text = _written(game, format_action, action)
            texts.append(text)
            if not isinstance(text, str) or not normal(text):
                msg = f"{game}: format_action() writes {show(action)} as {show(text)}"
                raise _bad(f"{msg}; return text that is not empty")
            if len(text) > _LONGEST:
                msg = f"{game}: format_action() writes {show(action)} in"
                raise _bad(f"{msg} {len(text)} letters; {_LONGEST} at most")
            if self._by_text.setdefault(normal(text), action) is not action:
                msg = f"{game}: format_action() writes two actions as {show(text)}"
                raise _bad(f"{msg}; make them differ in letters or digits")
        self.texts = tuple(texts)

    def __len__(self) -> int:
        return len(self.actions)

    def at(self, index: int, legal: Sequence[A] = ()) -> A:
        """Return the action of an index.

        Raises:
            InvalidActionError: if there is none.
        """
        del legal
        if type(index) is not int or not 0 <= index < len(self.actions):
            msg = f"index {index} is not in the table of {len(self.actions)} actions"
            raise InvalidActionError(msg)
        return self.actions[index]

    def parse(self, text: str, legal: Sequence[A] = ()) -> A:
        """Return the action of a notation; case and spacing do not matter.

        Raises:
            InvalidActionError: if there is none; names the nearest.
        """
        del legal
        wanted = _wanted(text)
        action = self._by_text.get(wanted)
        if action is None:
            near: list[str] = []
            if len(self.actions) <= _SUGGESTED:
                near = difflib.get_close_matches(wanted[:40], self._by_text)
            mend = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
            msg = f"{text[:40]!r} is no action{mend}"
            raise InvalidActionError(msg)
        return action

    def structure(self, data: Any) -> A:
        """Return the action of plain data.

        Raises:
            InvalidActionError: naming the path of what is wrong.
        """
        return self._intern(_well_formed(self._codec, data))

    def _intern(self, value: Any) -> A:
        index = self.index.get(value)
        if index is None:
            msg = f"{self._codec.action_to_json(value)} is not in the action table"
            raise InvalidActionError(msg)
        return self.actions[index]

    def digest(self) -> bytes:
        """Return SHA-256 over the msgpack of all actions with their notations."""
        rows = [
            [text, self._codec.action_to_data(action)]
            for text, action in zip(self.texts, self.actions, strict=True)
        ]
        return hashlib.sha256(pack(rows)).digest()


class OpenTable(Generic[A]):
    """Stands in for the table of a game that has too many actions to list.

    An index counts in the legal actions at hand.
    """

    listed = False
    actions: tuple[Any, ...] = ()
    texts: tuple[str, ...] = ()
    index: Mapping[Any, int] = types.MappingProxyType({})

    def __init__(
        self,
        codec: ValueCodec,
        format_action: Callable[[A], str],
        parse_action: Callable[[str], A] | None,
    ) -> None:
        self._codec = codec
        self._format = format_action
        self._parse = parse_action

    def __len__(self) -> int:
        return 0

    def at(self, index: int, legal: Sequence[A] = ()) -> A:
        """Return the legal action of an index.

        Raises:
            InvalidActionError: if there is none.
        """
        if type(index) is not int or not 0 <= index < len(legal):
            msg = f"index {index} is not among the {len(legal)} legal actions"
            raise InvalidActionError(msg)
        return legal[index]

    def parse(self, text: str, legal: Sequence[A] = ()) -> A:
        """Return the action of a notation, among the legal ones first.

        Raises:
            InvalidActionError: if there is none.
            AmbiguousActionError: if several fit.
        """
        wanted = _wanted(text)
        fitting = [action for action in legal if self._written(action) == wanted]
        if len(fitting) > 1:
            msg = f"{text[:40]!r} fits {len(fitting)} actions"
            raise AmbiguousActionError(msg)
        if fitting:
            return fitting[0]
        if self._parse is not None:
            try:
                action = self._parse(text[:_LONGEST])
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                # Foreign text finds the gaps of a parser; they are no fault of ours.
                msg = f"{text[:40]!r} is no action: {sentence(error)}"
                raise InvalidActionError(msg) from error
            if type(action) not in self._codec.info.actions:
                game = self._codec.info.id
                raise _bad(
                    f"{game}: parse_action() returned {show(action)}; return an "
                    "action, or raise ValueError"
                )
            return action
        msg = f"{text[:40]!r} is no legal action"
        raise InvalidActionError(msg)

    def _written(self, action: A) -> str:
        game = self._codec.info.id
        text = _written(game, self._format, action)
        if not isinstance(text, str):
            raise _bad(f"{game}: format_action() writes {show(action)} as {show(text)}")
        return normal(text)

    def structure(self, data: Any) -> A:
        """Return the action of plain data.

        Raises:
            InvalidActionError: naming the path of what is wrong.
        """
        return _well_formed(self._codec, data)  # type: ignore[no-any-return]

    def digest(self) -> bytes:
        """Return SHA-256 of nothing: there is no table."""
        return hashlib.sha256(b"").digest()


def _bad(message: str) -> PluginError:
    return PluginError(message, code="plugin.table")


def _written(game: str, format_action: Callable[[Any], Any], action: Any) -> Any:
    try:
        return format_action(action)
    except (FritillaryError, KeyboardInterrupt):
        raise
    except BaseException as error:
        msg = f"{game}: format_action() fails for {show(action)}"
        raise _bad(f"{msg}: {told(error, 200)}") from error


def _wanted(text: str) -> str:
    if type(text) is not str:
        msg = f"a notation is text, not {type(text).__name__}"
        raise InvalidActionError(msg)
    return normal(text[:_LONGEST])


def _well_formed(codec: ValueCodec, data: Any) -> Any:
    try:
        return codec.action_from_data(data)
    except CodecError as error:
        msg = f"no action of {codec.info.id}: {error}"
        raise InvalidActionError(msg) from error
