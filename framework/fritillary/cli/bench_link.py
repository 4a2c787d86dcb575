"""The noise floor of a link, measured with a bot that thinks for nothing."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO, Any, Final

from attrs import field, frozen
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from fritillary.app.application import Application
from fritillary.cli.figures import Figures
from fritillary.cli.interrupted import leave
from fritillary.cli.loop import run as run_loop
from fritillary.cli.output import (
    console,
    print_json,
    print_note,
    say,
)
from fritillary.cli.servers import our_errors
from fritillary.cli.tables import print_table
from fritillary.core.errors import ServiceError, UnknownGameError, UsageError
from fritillary.record.terms import Terms
from fritillary_client import ArenaError, Referee
from fritillary_client.echo import EchoBot, Echoed, Load, Security

#: What is measured: round trips as the bot sees them, and whole milliseconds as the
#: server does.
PING: Final = "ping"
DECISION: Final = "decision"
CLOCK: Final = "clock"

#: So the token of a referee begins.
REFEREE: Final = "frt_referee_"

#: Pings that are not counted: the first ones find nothing ready.
_WARM_UP: Final = 10

#: How long a program that is started here may take to be ready, and to leave.
_READY_S: Final = 60.0
_LEAVE_S: Final = 5.0


@frozen(kw_only=True)
class Wish:
    """What is to be measured.

    Args:
        server: its address; empty: one on loopback is started.
        tokens: for that server, of bots and of a referee.
        security: for that server.
        count: pings, and as many decisions.
        streams: bots that play beside it in the second half; 0: there is none.
        game: full id of what is played.
    """

    server: str
    tokens: list[str] = field(repr=False)
    security: Security
    count: int
    streams: int
    game: str


@frozen(kw_only=True)
class _Place:
    """Where it is measured, and as whom."""

    address: str
    security: Security
    bot: str = field(repr=False)
    referee: str = field(repr=False)
    others: list[str] = field(repr=False)


def measure(app: Application, wish: Wish, *, as_json: bool) -> None:
    """Measure, and print the figures; also those so far if it is cut short.

    Args:
        app: knows the games that are installed.
        wish: what is to be measured.
        as_json: print data.

    Raises:
        FritillaryError: if something cannot be measured.
    """
    results = Results(wish)
    with our_errors("bot"):
        try:
            run_loop(_Bench(app, wish, results).run())
        except BaseException as error:
            with contextlib.suppress(OSError):
                results.tell(as_json=as_json, whole=False)
            if isinstance(error, KeyboardInterrupt):
                leave(results.count_text())
            raise
        results.tell(as_json=as_json, whole=True)


class Results:
    """What was measured so far.

    Attributes:
        address: of the server, once it is known.
    """

    def __init__(self, wish: Wish) -> None:
        self.address = wish.server
        self._wish = wish
        self._values: dict[tuple[int, str], list[float]] = {}

    def values(self, streams: int, what: str) -> list[float]:
        """Return the list of one kind of measurement, to be added to."""
        return self._values.setdefault((streams, what), [])

    def _figures(self) -> list[tuple[int, str, Figures]]:
        return [
            (*key, figures)
            for key, values in self._values.items()
            if (figures := Figures.of(values)) is not None
        ]

    def count_text(self) -> str:
        """Return of how many measurements these are the figures."""
        counts = [
            f"{len(values)} of {self._wish.count} ({_beside(streams)}: {what})"
            for (streams, what), values in self._values.items()
            if values
        ]
        return f"measured were {', '.join(counts)}" if counts else ""

    def tell(self, *, as_json: bool, whole: bool) -> None:
        """Print the figures, if there are any.

        Args:
            as_json: as data, also if there are none.
            whole: all that was wanted was measured.
        """
        found = self._figures()
        if as_json:
            print_json(self._data(found, whole=whole))
            return
        if not found:
            return
        say(
            (f"link to {self.address}", "bold"),
            f", {self._wish.game}" if any(what != PING for _, what, _ in found) else "",
        )
        print()
        columns = ("COUNT", "MEDIAN", "95 %", "99 %", "MAX")
        print_table(
            ("IN MS", "", *(f"{name:>7}" for name in columns)), self._rows(found)
        )
        print()
        clocks = [(streams, one) for streams, what, one in found if what == CLOCK]
        for streams, figures in clocks:
            say(_margin_text(streams, figures))
        if clocks:
            print_note(f"a match has {Terms().margin_ms} ms unless it says otherwise")
        elif whole:
            print_note("with a referee's token besides, decisions are measured as well")

    @staticmethod
    def _rows(found: list[tuple[int, str, Figures]]) -> list[tuple[str, ...]]:
        rows = []
        before = -1
        for streams, what, figures in found:
            numbers = (figures.median, figures.p95, figures.p99, figures.most)
            rows.append(
                (
                    _beside(streams) if streams != before else "",
                    what,
                    f"{figures.count:>7}",
                    *(f"{_number(number):>7}" for number in numbers),
                )
            )
            before = streams
        return rows

    def _data(
        self, found: list[tuple[int, str, Figures]], *, whole: bool
    ) -> dict[str, Any]:
        return {
            "server": self.address,
            "game": self._wish.game,
            "whole": whole,
            "figures": [
                {"streams": streams, "what": what, **figures.data_ms()}
                for streams, what, figures in found
            ],
            "margins": [
                {
                    "streams": streams,
                    "p99_ms": _margin(figures.p99),
                    "all_ms": _margin(figures.most),
                }
                for streams, what, figures in found
                if what == CLOCK
            ],
        }


def _beside(streams: int) -> str:
    if not streams:
        return "alone"
    return f"beside {streams} other{'s' if streams > 1 else ''}"


def _number(value: float) -> str:
    """Return milliseconds with as many digits as they bear."""
    if isinstance(value, int):
        return str(value)
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def _margin(server_ms: float) -> int:
    """Return the margin that absorbs a time; the server's are cut to milliseconds."""
    return int(server_ms) + 1


def _margin_text(streams: int, figures: Figures) -> str:
    most, many = _margin(figures.most), _margin(figures.p99)
    text = f"{_beside(streams)}: a margin of {many} ms absorbs 99 % of the decisions"
    return f"{text}, {most} ms all" if most > many else text.replace("99 %", "all")


class _Bench:
    """Measures one link."""

    def __init__(self, app: Application, wish: Wish, results: Results) -> None:
        self._app = app
        self._wish = wish
        self._results = results
        self._seats = 2
        with contextlib.suppress(UnknownGameError):
            # A server may have games that are not installed here.
            self._seats = app.registry.game(wish.game).info.min_seats

    async def run(self) -> None:
        """Measure all that is wanted."""
        wish = self._wish
        async with contextlib.AsyncExitStack() as stack:
            progress = stack.enter_context(
                Progress(
                    TextColumn("{task.description}"),
                    BarColumn(),
                    MofNCompleteColumn(),
                    console=console(stderr=True),
                    transient=True,
                    disable=not sys.stderr.isatty(),
                )
            )
            place = _given(wish)
            if place is None:
                place = await stack.enter_async_context(_loopback(wish))
            self._results.address = place.address
            bot = await stack.enter_async_context(
                EchoBot(place.address, place.bot, **place.security)
            )
            await self._measure(bot, place, 0, progress)
            if wish.streams:
                async with self._load(place):
                    await self._measure(bot, place, wish.streams, progress)

    async def _measure(
        self, bot: EchoBot, place: _Place, streams: int, progress: Progress
    ) -> None:
        count = self._wish.count
        beside = _beside(streams)
        pings = self._results.values(streams, PING)
        task = progress.add_task(f"pings, {beside}", total=count)
        for _ in range(_WARM_UP):
            await bot.ping()
        while len(pings) < count:
            pings.append(await bot.ping())
            progress.advance(task)
        if not place.referee:
            return
        decisions = self._results.values(streams, DECISION)
        clock = self._results.values(streams, CLOCK)
        task = progress.add_task(f"decisions, {beside}", total=count)
        enough = asyncio.Event()

        def decided(echoed: Echoed) -> None:
            if enough.is_set():
                return
            decisions.append(echoed.round_trip_ms)
            clock.append(echoed.server_ms)
            progress.advance(task)
            if len(decisions) >= count:
                enough.set()

        bot.decided = decided
        async with Referee(place.address, place.referee, **place.security) as referee:
            playing = asyncio.ensure_future(self._play(bot, referee))
            waiting = asyncio.ensure_future(enough.wait())
            both: list[asyncio.Future[Any]] = [playing, waiting]
            try:
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
                if not enough.is_set():
                    playing.result()
            finally:
                for one in both:
                    one.cancel()
                # What runs is called off first.
                await asyncio.gather(*both, return_exceptions=True)

    async def _play(self, bot: EchoBot, referee: Referee) -> None:
        while True:
            try:
                await bot.play(referee, self._wish.game, self._seats)
            except ArenaError as error:
                if error.retry_after_ms is None:
                    raise
                await asyncio.sleep(error.retry_after_ms / 1000)

    @contextlib.asynccontextmanager
    async def _load(self, place: _Place) -> AsyncIterator[None]:
        """Let other bots play meanwhile, from a program of their own.

        Raises:
            ServiceError: if they cannot.
        """
        load = Load(
            address=place.address,
            security=place.security,
            game=self._wish.game,
            seats=self._seats,
            referee=place.referee,
            bots=place.others,
        )
        async with _program("-m", "fritillary_client.echo", leaves=True) as child:
            stdin = child.process.stdin
            if stdin is None:  # pragma: no cover - it was asked for
                raise RuntimeError
            stdin.write(f"{load.to_json()}\n".encode())
            line = await _line(child)
            if line != "ready":
                raise await _failed(child, "the other bots")
            yield
            if child.process.returncode is not None:
                raise await _failed(child, "the other bots")


def _given(wish: Wish) -> _Place | None:
    """Return the server that is named; ``None`` if there is none.

    Raises:
        UsageError: if the tokens are not those that are needed.
    """
    if not wish.server:
        return None
    referees = [word for word in wish.tokens if word.startswith(REFEREE)]
    bots = [word for word in wish.tokens if word not in referees]
    if not bots:
        msg = (
            "give a token of its own, of a bot that does not play; "
            "'fritillary token create NAME' makes one there"
        )
        raise UsageError(msg, code="usage.bench-token")
    if wish.streams and not referees:
        msg = "--streams needs a referee's token as well, to make the matches"
        raise UsageError(msg, code="usage.bench-token")
    if len(bots) <= wish.streams:
        msg = (
            f"{wish.streams} other streams need {wish.streams} more tokens of bots; "
            "repeat --token"
        )
        raise UsageError(msg, code="usage.bench-token")
    return _Place(
        address=wish.server,
        security=wish.security,
        bot=bots[0],
        referee=referees[0] if referees else "",
        others=bots[1 : wish.streams + 1],
    )


@contextlib.asynccontextmanager
async def _loopback(wish: Wish) -> AsyncIterator[_Place]:
    """Start a server with a data folder of its own, and stop it afterwards.

    Raises:
        ServiceError: if it does not start.
    """
    from fritillary.service.tokens import Role

    with tempfile.TemporaryDirectory(prefix="fritillary-bench-") as folder:
        tokens = Application(Path(folder)).tokens
        place = {
            "security": Security(tls=False, ca=None, cert=None, key=None),
            "bot": tokens.create("echo", Role.BOT),
            "referee": tokens.create("bench", Role.REFEREE),
            "others": [
                tokens.create(f"echo-{number}", Role.BOT)
                for number in range(wish.streams)
            ],
        }
        words = ("-m", "fritillary", "serve", "--address", "127.0.0.1:0")
        # What the environment says of servers is not meant for this one.
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("FRITILLARY_")
        }
        async with _program(*words, "--data", folder, env=environment) as child:
            word, _, address = (await _line(child)).partition(" on ")
            if word != "listening":
                raise await _failed(child, "the server")
            yield _Place(address=address.strip(), **place)  # type: ignore[arg-type]


@frozen
class _Program:
    """A program that runs, and the file of what it says on standard error.

    Not a pipe: a server that plays writes more than one holds while nobody reads.
    """

    process: Process
    errors: IO[bytes]


@contextlib.asynccontextmanager
async def _program(
    *words: str, env: dict[str, str] | None = None, leaves: bool = False
) -> AsyncIterator[_Program]:
    """Run a Python program that Ctrl-C does not reach, and end it afterwards.

    Args:
        words: after the name of Python.
        env: its environment; ``None``: that of this process.
        leaves: it ends by itself when its input is closed.
    """
    with tempfile.TemporaryFile() as errors:
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            *words,
            stdin=PIPE,
            stdout=PIPE,
            stderr=errors,
            env=env,
            start_new_session=True,
        )
        try:
            yield _Program(child, errors)
        finally:
            if child.stdin is not None:
                child.stdin.close()
            if not (leaves and await _left(child)):
                with contextlib.suppress(ProcessLookupError):
                    child.terminate()
                if not await _left(child):
                    child.kill()
                    await child.wait()


async def _left(child: Process) -> bool:
    """Wait some time for the end of a program; return whether it has come."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_LEAVE_S):
            await child.communicate()
            return True
    return False


async def _line(child: _Program) -> str:
    """Return the first line that a program prints; empty if it prints none."""
    stdout = child.process.stdout
    if stdout is None:  # pragma: no cover - it was asked for
        raise RuntimeError
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_READY_S):
            return (await stdout.readline()).decode(errors="replace").strip()
    return ""


async def _failed(child: _Program, what: str) -> ServiceError:
    """Return why a program did not start, or ended, in its own last words."""
    with contextlib.suppress(ProcessLookupError):
        child.process.terminate()
    words = ""
    if await _left(child.process):
        child.errors.seek(0)
        lines = child.errors.read().decode(errors="replace").strip().splitlines()
        words = lines[-1].removeprefix("error: ") if lines else ""
    msg = f"{what} could not be started: {words or 'no word why'}"
    return ServiceError(msg, code="bench.program")
