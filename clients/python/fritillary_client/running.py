"""Running a bot as a program."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any, NoReturn, Unpack

from fritillary.core import interrupts
from fritillary_client.bot import AnyBot
from fritillary_client.client import Client
from fritillary_client.endpoint import ADDRESS, CERTIFICATE, KEY, ROOTS, TOKEN
from fritillary_client.errors import ArenaError
from fritillary_client.settings import Settings

_log = logging.getLogger("fritillary_client")


async def run_async(bot: AnyBot, **settings: Unpack[Settings]) -> int:
    """Play until there is a reason to stop; return how many matches have ended.

    Args:
        bot: a function, a class, or an instance; see `AnyBot`.
        **settings: see `Settings`.

    Raises:
        ArenaError: of the kinds that `Client` and `Client.run` name.
    """
    client = Client(bot, **settings)
    await client.run()
    return client.ended


def run(bot: AnyBot, **settings: Unpack[Settings]) -> int:
    """Play until there is a reason to stop, as the main part of a program.

    The first Ctrl-C or SIGTERM lets the matches in play come to their end, the second
    leaves at once. What happens is told on standard error, unless the program
    has set up logging. For use inside of a larger program, see `run_async`.

    Args:
        bot: a function, a class, or an instance; see `AnyBot`.
        **settings: see `Settings`.

    Returns:
        How many matches have ended.

    Raises:
        SystemExit: with status 1 after any error, which is told in one line; also
            if matches were left unfinished, such as to another program that has
            dialled in with the same token; with status 130 after a Ctrl-C that comes
            before the bot has begun.
    """
    interrupts.quiet_at_exit()
    _show_log()
    try:
        client = Client(bot, **settings)
        _play(client)
    except KeyboardInterrupt:
        _interrupted()
    except ArenaError as error:
        _log.error("error: %s", error)
        raise SystemExit(1) from None
    if client.abandoned:
        count = client.abandoned
        _log.error(
            "left %s unfinished", "1 match" if count == 1 else f"{count} matches"
        )
        raise SystemExit(1)
    return client.ended


def _play(client: Client) -> None:
    """Play in a loop of its own.

    Raises:
        KeyboardInterrupt: if it comes before there is anything to bring to an end.
    """
    over = False

    async def play() -> None:
        nonlocal over
        try:
            await _run(client)
        finally:
            over = True

    try:
        asyncio.run(play())
    except KeyboardInterrupt:
        if not over:
            raise


def main(
    bot: AnyBot, argv: Sequence[str] | None = None, **settings: Unpack[Settings]
) -> int:
    """Run a bot with ``--address``, ``--token`` and the like from the command line.

    Args:
        bot: a function, a class, or an instance; see `AnyBot`.
        argv: arguments; default those of the program.
        **settings: see `Settings`; the command line wins.

    Returns:
        How many matches have ended.

    Raises:
        SystemExit: as `run`; with status 2 if the arguments are wrong.
    """
    try:
        given = _given(argv)
    except KeyboardInterrupt:
        _show_log()
        _interrupted()
    return run(bot, **{**settings, **given})


def _interrupted() -> NoReturn:
    _log.error("interrupted")
    raise SystemExit(interrupts.INTERRUPTED) from None


def _given(argv: Sequence[str] | None) -> dict[str, Any]:
    """Return the settings that the command line names."""
    parser = argparse.ArgumentParser(description="Plays matches at an arena.")
    parser.add_argument(
        "--address", metavar="HOST:PORT", help=f"of the server; default: ${ADDRESS}"
    )
    parser.add_argument("--token", help=f"of the bot; default: ${TOKEN}")
    parser.add_argument(
        "--ca", metavar="FILE", help=f"certificates to trust, PEM; default: ${ROOTS}"
    )
    parser.add_argument(
        "--cert",
        metavar="FILE",
        help=f"certificate to show to the server, PEM; default: ${CERTIFICATE}",
    )
    parser.add_argument(
        "--key", metavar="FILE", help=f"its private key, PEM; default: ${KEY}"
    )
    parser.add_argument("--name", help="to show")
    parser.add_argument(
        "--capacity", type=_count, metavar="N", help="most matches at a time"
    )
    parser.add_argument(
        "--matches", type=_count, metavar="N", help="leave after so many"
    )
    return {
        key: value
        for key, value in vars(parser.parse_args(argv)).items()
        if value is not None
    }


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        msg = "at least 1"
        raise argparse.ArgumentTypeError(msg)
    return count


async def _run(client: Client) -> None:
    loop = asyncio.get_running_loop()
    pressed = 0

    def interrupted() -> None:
        nonlocal pressed
        pressed += 1
        if pressed == 1:
            _log.info("%s", _stopping(client))
            client.drain()
        else:
            client.stop()

    with _signals(loop, {"SIGINT": interrupted, "SIGTERM": interrupted}):
        await client.run()


def _stopping(client: Client) -> str:
    """Return what follows when the bot is told to stop once."""
    if not client.playing:
        return "stopping"
    away = "" if client.connected else "; the server is away, and is waited for"
    return f"stopping when the matches in play have ended{away}; again to stop now"


@contextlib.contextmanager
def _signals(
    loop: asyncio.AbstractEventLoop, actions: dict[str, Callable[[], None]]
) -> Iterator[None]:
    """Let signals act in the loop, where this is the main thread."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        for name, action in actions.items():

            def handle(
                _: int, __: FrameType | None, action: Callable[[], None] = action
            ) -> None:
                loop.call_soon_threadsafe(action)

            number = getattr(signal, name)
            before[number] = signal.getsignal(number)
            # Not the loop's own handlers: Windows has none.
            signal.signal(number, handle)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old if old is not None else signal.SIG_DFL)


def _show_log() -> None:
    """Show what the client tells on standard error, unless logging is set up."""
    if not _log.handlers and not logging.getLogger().handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(message)s"))
        _log.addHandler(handler)
        if _log.level == logging.NOTSET:
            _log.setLevel(logging.INFO)
