"""Running coroutines from commands."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextvars import ContextVar
from types import FrameType
from typing import Any, Final, TypeVar

from fritillary.core import interrupts

T = TypeVar("T")

#: Signals that end a command in order, as Ctrl-C does.
STOPS: Final = ("SIGTERM", "SIGHUP")

#: A Ctrl-C after so many signals ends the process, whatever it is doing.
_MOST: Final = 2

_stopped: ContextVar[list[signal.Signals]] = ContextVar("stopped")


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return uvloop's factory where it exists, else ``None``."""
    try:
        import uvloop
    except ImportError:  # pragma: no cover - Windows
        return None
    return uvloop.new_event_loop


def new_runner() -> asyncio.Runner:
    """Return a runner of the loop that commands have."""
    return asyncio.Runner(loop_factory=loop_factory())


def stopped_by() -> str:
    """Say what has cancelled the command: ``Ctrl-C``, or the name of a signal."""
    signals = _stopped.get([])
    if not signals or signals[0] == signal.SIGINT:
        return "Ctrl-C"
    return signals[0].name


def run(main: Coroutine[Any, Any, T], within: asyncio.Runner | None = None) -> T:
    """Run a coroutine.

    Args:
        main: the coroutine.
        within: runs it, and stays open for the next one; by default a runner of its
            own does.

    Raises:
        KeyboardInterrupt: if Ctrl-C has cancelled it.
        SystemExit: if another signal has; with the exit code that shells expect.
    """
    heard = _Heard()
    with contextlib.ExitStack() as stack:
        stack.enter_context(heard.ctrl_c())
        runner = stack.enter_context(new_runner()) if within is None else within
        try:
            return runner.run(heard.watched(main, kept=within is not None))
        except (asyncio.CancelledError, OSError):
            # A terminal that has hung up takes no output either.
            if not heard.signals:
                raise
            if heard.signals[0] == signal.SIGINT:
                raise KeyboardInterrupt from None
            raise SystemExit(128 + heard.signals[0]) from None


class _Heard:
    """The signals that a command has heard; each cancels what it does just then.

    The first one has the command tidy up, the second one ends the tidying up.
    `asyncio.Runner` would raise ``KeyboardInterrupt`` at the second Ctrl-C, wherever
    that may be: in a callback of gRPC it is printed and forgotten, or worse.

    Attributes:
        signals: what was heard, in its order.
    """

    def __init__(self) -> None:
        self.signals: list[signal.Signals] = []
        self._task: asyncio.Task[Any] | None = None

    async def watched(self, main: Coroutine[Any, Any, T], *, kept: bool) -> T:
        """Do what a command does, and cancel it at each signal of `STOPS`.

        Args:
            main: what it does.
            kept: the loop goes on afterwards.
        """
        _stopped.set(self.signals)
        self._task = asyncio.current_task()
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._complain)
        numbers = tuple(stops())
        for number in numbers:
            # Windows and other threads have no such handlers.
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, self._cancel, number)
        try:
            return await main
        finally:
            # A loop that is kept would go on hearing them, for nobody.
            for number in numbers if kept else ():
                with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                    loop.remove_signal_handler(number)

    def _complain(
        self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]
    ) -> None:
        """Log what nobody took notice of, but for what ends the process anyway."""
        ends = isinstance(context.get("exception"), (KeyboardInterrupt, SystemExit))
        if not ends and len(self.signals) < _MOST:
            loop.default_exception_handler(context)

    def _cancel(self, number: signal.Signals) -> None:
        self.signals.append(number)
        if len(self.signals) == _MOST:
            # What is left as it is, such as a server of gRPC, says so when it goes.
            sys.unraisablehook = _ignore
        if self._task is not None:
            self._task.cancel()

    @contextlib.contextmanager
    def ctrl_c(self) -> Iterator[None]:
        """Hear Ctrl-C, unless this process does something else about it.

        Afterwards all signals that were heard do what they did before; a loop of uvloop
        that was closed would go on hearing those of `STOPS`.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        heard = [*stops()]
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            heard.append(signal.SIGINT)
        before = {number: signal.getsignal(number) for number in heard}
        if signal.SIGINT in before:
            # Not the loop's handler, which would wait for rules that go on for ever.
            signal.signal(signal.SIGINT, self._interrupt)
        try:
            yield
        finally:
            for number, handler in before.items():
                # Who ignores it by now wants to.
                if signal.getsignal(number) is not signal.SIG_IGN:
                    signal.signal(number, handler)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._task is None:
            raise KeyboardInterrupt
        if len(self.signals) >= _MOST:
            interrupts.leave_at_once()
        self._cancel(signal.SIGINT)
        # It may wait for something else for long, or be closed by now.
        with contextlib.suppress(RuntimeError):
            self._task.get_loop().call_soon_threadsafe(_wake)


def _ignore(_: object) -> None:
    """Take no notice."""


def _wake() -> None:
    """Do nothing, so that a loop looks for what there is to do."""


async def breathe() -> None:
    """Let a Ctrl-C that has come while modules were loaded end the command here.

    It is heard of where something is waited for. That should not be the start of a
    gRPC server, which answers with an error of its own that nobody can catch.

    Raises:
        asyncio.CancelledError: if there was one.
    """
    await asyncio.sleep(0)


def stops() -> Iterator[signal.Signals]:
    """Yield the signals of `STOPS`, without what this process is to ignore."""
    for name in STOPS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            yield number


def stopping(*, interrupt: bool = True) -> asyncio.Event:
    """Return what is set when the command is told to end, for one that serves.

    Args:
        interrupt: whether Ctrl-C tells it, too; else it is ignored.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    if not interrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (*((signal.SIGINT,) if interrupt else ()), *stops()):
        try:
            loop.add_signal_handler(number, stop.set)
        except NotImplementedError:  # pragma: no cover - Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop.set))
    return stop
