"""Running coroutines from commands."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextvars import ContextVar
from typing import Any, Final, TypeVar

T = TypeVar("T")

#: Signals that end a command in order, as Ctrl-C does.
STOPS: Final = ("SIGTERM", "SIGHUP")

_stopped: ContextVar[list[signal.Signals]] = ContextVar("stopped")


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return uvloop's factory where it exists, else ``None``."""
    try:
        import uvloop
    except ImportError:  # pragma: no cover - Windows
        return None
    return uvloop.new_event_loop


def stopped_by() -> str:
    """Say what has cancelled the command: ``Ctrl-C``, or the name of a signal."""
    signals = _stopped.get([])
    return signals[0].name if signals else "Ctrl-C"


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine.

    Raises:
        KeyboardInterrupt: if Ctrl-C has cancelled it.
        SystemExit: if another signal has; with the exit code that shells expect.
    """
    signals: list[signal.Signals] = []

    async def watched() -> T:
        _stopped.set(signals)
        task = asyncio.current_task()

        def stop(number: signal.Signals) -> None:
            signals.append(number)
            if task is not None:
                task.cancel()

        loop = asyncio.get_running_loop()
        loop.set_exception_handler(_unless_stopped)
        for number in stops():
            # Windows and other threads have no such handlers.
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, stop, number)
        return await main

    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        try:
            return runner.run(watched())
        except (asyncio.CancelledError, OSError):
            # A terminal that has hung up takes no output either.
            if signals:
                raise SystemExit(128 + signals[0]) from None
            raise


def _unless_stopped(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what nobody took notice of, but for what ends the process anyway."""
    if not isinstance(context.get("exception"), (KeyboardInterrupt, SystemExit)):
        loop.default_exception_handler(context)


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
