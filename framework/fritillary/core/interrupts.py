"""Ctrl-C while a program is not yet, or no longer, one that could be interrupted.

Python would print a traceback of whatever module is being loaded or taken down just
then, which tells nobody anything. This module is loaded before all others, and loads
nothing that Python has not loaded already: not even `__future__`.
"""

import atexit
import os
import sys

# Known to type checkers by its name; importing `typing` takes longer than the rest.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from types import FrameType, TracebackType
    from typing import Final, NoReturn
else:
    # Built into Python. `signal` adds names to its numbers, for which it loads more
    # modules than all others that are loaded before this line.
    import _signal as signal

#: Exit code of a program that was interrupted, as shells count it.
INTERRUPTED: "Final" = 130

#: Modules that do nothing but load others.
_LOADERS: "Final" = ("importlib.", "_frozen_importlib", "runpy")

#: Name of the command, and of the package.
_OURS: "Final" = "fritillary"


class Loading:
    """Tells of a Ctrl-C in one line while a program begins and loads its modules.

    Where that program is our command, Ctrl-C ends it at once until `loaded` is called,
    or its modules cannot be loaded. In a program of somebody else it is raised as ever;
    only if nobody there catches it, one line is printed instead of a traceback.

    Attributes:
        command: whether that program is our command.
    """

    command = False

    def __enter__(self) -> None:
        frame = sys._getframe(1)  # noqa: SLF001 - who is loading us
        self._begins = _begins(frame)
        if self._begins and _is_command(frame):
            Loading.command = True
            try:
                _set(_leave)
            except KeyboardInterrupt:
                _leave()

    def __exit__(
        self,
        _: type[BaseException] | None,
        error: BaseException | None,
        __: "TracebackType | None",
    ) -> None:
        if error is not None:
            loaded()
            if self._begins and isinstance(error, KeyboardInterrupt):
                _shorten(error)


def loaded() -> None:
    """Let Ctrl-C interrupt the program as usual."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _shorten(interrupt: KeyboardInterrupt) -> None:
    """Let one line be printed if nobody catches this very interrupt."""
    before = sys.excepthook

    def told(
        kind: type[BaseException], error: BaseException, stack: "TracebackType | None"
    ) -> None:
        if error is not interrupt:
            before(kind, error, stack)
            return
        sys.stderr.write("interrupted\n")
        # Its finally clauses have run; what it has registered for its exit follows.
        sys.exit(INTERRUPTED)

    sys.excepthook = told


def quiet_at_exit() -> None:
    """Let Ctrl-C end the program at once and without a word when it is over anyway."""
    atexit.unregister(_take_down)
    atexit.register(_take_down)


def _take_down() -> None:
    _set(_vanish)


def over() -> None:
    """Let Ctrl-C end our command at once and without a word, if that is what runs.

    For when it has been interrupted or is done, and has but to say so.
    """
    if Loading.command:
        _take_down()


def _set(handler: "signal._HANDLER") -> bool:
    """Set a handler, if nobody has set one; return whether it is set."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return False
    try:
        signal.signal(signal.SIGINT, handler)
    except ValueError:
        # Only the main thread may.
        return False
    return True


def _begins(frame: "FrameType | None") -> bool:
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


def _is_command(frame: "FrameType | None") -> bool:
    """Say whether our command is what begins, and loads nothing but us."""
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if name == "__main__":
            script = os.path.basename(frame.f_code.co_filename)  # noqa: PTH119 - slow
            return os.path.splitext(script)[0] == _OURS  # noqa: PTH122 - likewise
        if name.partition(".")[0] != _OURS and not name.startswith(_LOADERS):
            return False
        frame = frame.f_back
    # So it stands there as long as the module is looked for.
    return sys.argv[:1] == ["-m"]


def leave_at_once() -> "NoReturn":
    """End the program with a word, and without all that would have to follow."""
    _leave()


def _leave(*_: object) -> "NoReturn":
    # Nothing is raised: what is raised in a callback, of which loading has many, is
    # printed and forgotten.
    try:
        sys.stdout.flush()
        os.write(2, b"interrupted\n")
    finally:
        os._exit(INTERRUPTED)


def _vanish(*_: object) -> "NoReturn":
    os._exit(INTERRUPTED)
