"""Lets any program play: it reads one JSON line and writes one JSON line.

Each match and seat has a process of its own, from its start to its end. What a program
gets is made of what its seat was told, in `stdio_lines`, and of nothing else;
``docs/stdio.md`` documents the lines.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import re
import shutil
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from fritillary_client.ask import Ask
from fritillary_client.bot import Bot
from fritillary_client.errors import BotError, DecisionError
from fritillary_client.reading import shown
from fritillary_client.stdio_lines import (
    Reply,
    ask_line,
    end_line,
    quoted,
    read_reply,
    start_line,
)
from fritillary_client.stdio_output import Line, Log
from fritillary_client.stdio_process import Command, Process
from fritillary_client.values import (
    Answer,
    Decision,
    MatchInfo,
    Outcome,
    Quoted,
    Resign,
)

_log = logging.getLogger("fritillary_client")

_ENDED: Final = "bot.ended"

#: Programs that a command begins with which is about one of its other words.
_RUNS_ANOTHER: Final = re.compile(
    r"(python|pypy|perl|ruby|node|deno|bun|php|lua|luajit|java|Rscript|jq|awk|gawk|sh"
    r"|bash|dash|zsh|ksh|env|nice|stdbuf)[0-9.]*(\.exe)?"
)


class Stdio:
    """Makes bots from a command; give it to ``run``.

    Args:
        words: program and arguments.
        environment: all that the program inherits; default: that of this process.
        log: takes a line at a time of what programs say besides their answers, fit to
            be shown; default: drop it.
    """

    def __init__(
        self,
        words: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        log: Callable[[str], None] | None = None,
    ) -> None:
        self._command = Command(tuple(words), environment)
        self._write = log or (lambda _: None)
        self._live: set[Process] = set()
        file = program_file(words)
        #: To show: the name of the program's file without folder and ending.
        self.name = (file or Path(words[0])).stem
        #: Tells two builds of the program apart; empty if there is no file.
        self.build = "" if file is None else _hash_of(file)

    def __call__(self) -> Bot:
        """Return a bot for one match and seat."""
        return StdioBot(self)

    def process(
        self,
        info: MatchInfo,
        heard: Callable[[Line], None],
        gone: Callable[[str, str], None],
    ) -> Process:
        """Return a process for a match, not yet started."""
        head = f"{shown(info.match_id)} seat {info.seat}:"
        log = Log(lambda text: self._write(f"{head} {text}"))
        process = Process(self._command, log, heard, gone)
        self._live.add(process)
        return process

    def forget(self, process: Process) -> None:
        """Take note that a process has been ended."""
        self._live.discard(process)

    async def close(self) -> None:
        """End all processes that are left; ``run`` does not need it."""
        await asyncio.gather(*(process.end() for process in list(self._live)))


class StdioBot(Bot):
    """A program in one match.

    Every ask is answered by one line, in order. When an ask was closed before, its
    answer is still awaited and dropped; a program that names the ``decision_id`` may
    leave it out.

    Args:
        made_by: what starts the process.
    """

    def __init__(self, made_by: Stdio) -> None:
        self._made_by = made_by
        self._info: MatchInfo
        self._process: Process
        #: Asks without an answer, oldest first; those that were closed are cancelled.
        self._owed: deque[tuple[int, asyncio.Future[Answer]]] = deque()
        #: How the program has failed; and whether a decision has failed by it.
        self._fault: BotError | None = None
        self._raised = False
        self._remarked = False

    async def start(self, info: MatchInfo) -> None:
        """Start the program.

        Raises:
            BotError: if it cannot be started.
        """
        self._info = info
        self._process = self._made_by.process(info, self._heard, self._gone)
        try:
            await self._process.start()
        except BotError:
            self._made_by.forget(self._process)
            raise
        self._process.write(start_line(info))

    async def decide(self, ask: Ask) -> Answer:
        """Ask the program.

        Raises:
            BotError: if it has ended, does not read, or has broken the protocol.
            DecisionError: if its answer is none.
        """
        if self._fault is not None:
            self._raised = True
            raise _again(self._fault)
        line = ask_line(ask)
        waiting: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._process.write(line)
        self._owed.append((ask.decision_id, waiting))
        try:
            return await waiting
        except asyncio.CancelledError:
            if size := self._process.unfinished:
                _log.warning(
                    "%s: the answer came too late: its %d bytes lack the end of the "
                    "line; write a newline, and flush",
                    self._named,
                    size,
                )
            raise

    async def end(self, outcome: Outcome) -> None:
        """Tell the program how the match ended, and end it."""
        if self._fault is not None and not self._raised:
            _log.warning("%s: %s", self._named, self._fault.message)
        try:
            self._process.write(end_line(self._info, outcome))
        except BotError as error:
            _log.warning("%s: %s", self._named, error)
        await self._process.end()
        self._made_by.forget(self._process)

    @property
    def _named(self) -> str:
        return f"match {shown(self._info.match_id)} seat {self._info.seat}"

    # ------------------------------------------------------- what the program says

    def _heard(self, line: Line) -> None:
        if self._fault is not None:
            return
        try:
            reply = self._read(line)
        except DecisionError as error:
            self._process.failed = True
            if self._owed:
                _, waiting = self._owed.popleft()
                if not waiting.done():
                    waiting.set_exception(error)
                else:
                    _log.warning("%s: %s", self._named, error)
            else:
                self._break(error)
            return
        named = reply.decision_id
        while self._owed:
            decision_id, waiting = self._owed.popleft()
            if named is None or named == decision_id:
                if not waiting.done():
                    waiting.set_result(_with_line(reply.answer, line))
                return
            if not waiting.done():
                self._owed.appendleft((decision_id, waiting))
                break
        about = "" if named is None else f" for decision {named}"
        if self._owed:
            why = f"the program answered{about} when it was asked {self._owed[0][0]}"
        else:
            why = f"the program answered{about} without being asked"
        self._break(DecisionError(f"{why}: {quoted(line.raw)}", how=why))

    def _read(self, line: Line) -> Reply:
        if line.cut:
            msg = f"the answer is longer than {len(line.raw)} bytes: {quoted(line.raw)}"
            raise DecisionError(msg)
        reply = read_reply(line.raw)
        if reply.match_id not in {None, self._info.match_id}:
            msg = f"the answer is for another match: {quoted(line.raw)}"
            raise DecisionError(msg)
        if reply.remark and not self._remarked:
            # What a program does once it does at every ask.
            self._remarked = True
            _log.warning("%s: %s", self._named, reply.remark)
        return reply

    def _break(self, fault: BotError) -> None:
        """Take no more answers: what follows could be an answer to anything."""
        self._fail(fault)
        self._process.close()

    def _gone(self, how: str, last: str) -> None:
        if self._fault is None:
            how = f"the program {how}"
            text = shown(f"{how}; its last words: {last}" if last else how)
            self._fail(BotError(text, code=_ENDED, how=how))

    def _fail(self, fault: BotError) -> None:
        self._fault = fault
        self._process.failed = True
        while self._owed:
            _, waiting = self._owed.popleft()
            if not waiting.done():
                self._raised = True
                waiting.set_exception(_again(fault))


def _again(fault: BotError) -> BotError:
    """Return the error as one of the bot, which may be raised anew."""
    return BotError(fault.message, code=fault.code, how=fault.how)


def _with_line(answer: Answer, line: Line) -> Answer:
    """Return an answer that quotes its line should it turn out to be none."""
    if isinstance(answer, int | Resign):
        return answer  # there is nothing about it that could not be sent
    quote = quoted(line.raw)
    if isinstance(answer, Decision):
        return Quoted(answer.choice, answer.note, answer.probabilities, quote)
    return Quoted(answer, line=quote)


def program_file(words: Sequence[str]) -> Path | None:
    """Return the file that a command is about: the script rather than its interpreter.

    Args:
        words: program and arguments.
    """
    runs_another = _RUNS_ANOTHER.fullmatch(Path(words[0]).name)
    for word in words[1:] if runs_another else words[:1]:
        # Words may be too long for a file, or have characters that none can have.
        with contextlib.suppress(OSError, ValueError):
            if Path(word).is_file():
                return Path(word)
    found = shutil.which(words[0])
    return None if found is None else Path(found)


def _hash_of(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    except OSError:
        return ""
