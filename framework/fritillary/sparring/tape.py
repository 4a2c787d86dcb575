"""What passed between the bot and the server, as the bot's own link saw it."""
# ruff: noqa: ANN401 - messages of both sides

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from attrs import define

from fritillary.sparring.telling import body_of, data_of, line_of
from fritillary.sparring.verdicts import Shown

UP: Final = "bot"
"""From the bot to the server."""

DOWN: Final = "server"
"""From the server to the bot."""

HERE: Final = "checker"
"""What the checker does, and what happens to link and program."""


@define(eq=False)
class Entry:
    """One message, or one thing that happened.

    Args:
        at_s: by the clock of the loop.
        link: number of the stream, from 1; 0: none.
        sender: `UP`, `DOWN` or `HERE`.
        kind: of the message; empty for what just happened.
        body: of the message, or a sentence.
        message: as a whole.
        encoding: of the session.
        note: what the checker did with it.
    """

    at_s: float
    link: int
    sender: str
    kind: str
    body: Any
    message: Any = None
    encoding: int = 0
    note: str = ""


Fits = Callable[[Entry], object]


class Tape:
    """Keeps all entries of one check.

    Args:
        listen: told of each entry, as it is shown.
    """

    def __init__(self, listen: Callable[[Shown], None] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._listen = listen
        self._new: asyncio.Future[None] | None = None
        self.entries: list[Entry] = []

    def __len__(self) -> int:
        return len(self.entries)

    def add(
        self, link: int, sender: str, message: Any, encoding: int, note: str = ""
    ) -> Entry:
        """Keep a message; whoever listens is told of it by `tell`."""
        kind, body = body_of(message)
        entry = Entry(
            self._loop.time(), link, sender, kind, body, message, encoding, note
        )
        self.entries.append(entry)
        self.wake()
        return entry

    def tell(self, entry: Entry) -> None:
        """Tell who listens of an entry."""
        if self._listen is not None:
            self._listen(self.shown(entry))

    def note(self, what: str, link: int = 0) -> None:
        """Keep what happened."""
        entry = Entry(self._loop.time(), link, HERE, "", what)
        self.entries.append(entry)
        self.tell(entry)
        self.wake()

    def wake(self) -> None:
        """Let those who wait look again."""
        new, self._new = self._new, None
        if new is not None and not new.done():
            new.set_result(None)

    async def changed(self) -> None:
        """Wait for whatever comes next."""
        if self._new is None:
            self._new = self._loop.create_future()
        await asyncio.shield(self._new)

    def find(self, fits: Fits, since: int = 0) -> Entry | None:
        """Return the first entry that fits, from a position on."""
        for position in range(since, len(self.entries)):
            if fits(self.entries[position]):
                return self.entries[position]
        return None

    def all(self, fits: Fits, since: int = 0) -> list[Entry]:
        """Return all entries that fit, from a position on."""
        return [entry for entry in self.entries[since:] if fits(entry)]

    def shown(self, entry: Entry) -> Shown:
        """Return an entry as it is shown."""
        at_ms = round((entry.at_s - self._began) * 1000)
        if entry.message is None:
            return Shown(at_ms, entry.link, entry.sender, "", str(entry.body), {})
        return Shown(
            at_ms,
            entry.link,
            entry.sender,
            entry.kind or "empty",
            line_of(entry.message, entry.encoding),
            {} if entry.body is None else data_of(entry.body, entry.encoding),
            entry.note,
        )

    def last(self, since: int, most: int) -> tuple[Shown, ...]:
        """Return the newest entries, as they are shown.

        Args:
            since: none from before that position.
            most: so many.
        """
        return tuple(map(self.shown, self.entries[max(since, len(self) - most) :]))
