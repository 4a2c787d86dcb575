"""Ctrl-C while a program is not yet, or no longer, one that could be interrupted.

Python would print a traceback of whatever module is being loaded or taken down just
then, which tells nobody anything. This module is loaded before all others, and loads
next to nothing.
"""

from __future__ import annotations

import atexit
import os
import sys

try:
    import signal
except KeyboardInterrupt:
    # It is loaded already wherever more than a program begins.
    os._exit(130)

# Known to type checkers by its name; importing `typing` takes longer than the rest.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Final, NoReturn

#: Exit code of a program that was interrupted, as shells count it.
INTERRUPTED: Final = 130

#: Modules that do nothing but load others.
_LOADERS: Final = ("importlib.", "_frozen_importlib", "runpy")

_depth = 0


def loading() -> None:
    """Let Ctrl-C end the program in one line, until `loaded` is called as often.

    It does so only while a program begins: nothing but modules is being loaded, and
    nobody has seen to Ctrl-C otherwise.
    """
    global _depth  # noqa: PLW0603 - there is one handler of a signal
    if _depth or (_begins(sys._getframe(1)) and _set(_leave)):  # noqa: SLF001
        _depth += 1


def loaded() -> None:
    """Let Ctrl-C interrupt the program as usual."""
    global _depth  # noqa: PLW0603 - there is one handler of a signal
    if _depth:
        _depth -= 1
        if not _depth and signal.getsignal(signal.SIGINT) is _leave:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def quiet_at_exit() -> None:
    """Let Ctrl-C end the program at once and without a word when it is over anyway."""
    atexit.unregister(_take_down)
    atexit.register(_take_down)


def _take_down() -> None:
    _set(_vanish)


def _set(handler: signal._HANDLER) -> bool:
    """Set a handler, if nobody has set one; return whether it is set."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return False
    try:
        signal.signal(signal.SIGINT, handler)
    except ValueError:
        # Only the main thread may.
        return False
    return True


def _begins(frame: FrameType | None) -> bool:
    """Say whether nothing is on the stack but modules that are being loaded."""
    if hasattr(sys, "ps1"):
        # Somebody types.
        return False
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if frame.f_code.co_name != "<module>" and not name.startswith(_LOADERS):
            return False
        frame = frame.f_back
    return True


def _leave(*_: object) -> NoReturn:
    # Nothing is raised: what is raised in a callback, of which loading has many, is
    # printed and forgotten.
    try:
        sys.stdout.flush()
        os.write(2, b"interrupted\n")
    finally:
        os._exit(INTERRUPTED)


def _vanish(*_: object) -> NoReturn:
    os._exit(INTERRUPTED)
