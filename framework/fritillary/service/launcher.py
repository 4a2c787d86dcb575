"""Starts one program with limits, and sees to it that nothing of it is left over.

Run as a script, before anything of the framework is imported:
``python -I -S launcher.py PARENT LIMITS PROGRAM ARGUMENTS...`` with the process id of
the parent and limits such as ``DATA=4294967296,NOFILE=1024``.

On Linux the launcher stays the parent of the program. Whatever the program has
started, in whichever session, becomes a child of the launcher when its own parent
ends (``PR_SET_CHILD_SUBREAPER``), so nothing escapes it. When the program has ended,
when the launcher is asked to end (SIGTERM), and when whoever started it has died
(``PR_SET_PDEATHSIG``), it kills all of them, and only then ends as the program did.
If the launcher itself is killed with SIGKILL, the program dies with it, but not what
the program has started.

Elsewhere the launcher becomes the program. Only a parent that ends in order takes its
process group along; a program whose parent was killed finds its stream closed.
"""

from __future__ import annotations

import os
import signal
import sys
import time

# Known to type checkers by its name; importing `typing` takes longer than the rest.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

_ASKED_TO_END = {signal.SIGTERM, signal.SIGINT}
if sys.platform != "win32":
    _ASKED_TO_END |= {signal.SIGHUP, signal.SIGQUIT}

#: Looks at what is left that found nothing to kill, until it is left alone.
_VAIN = 20
_PAUSE_S = 0.005


def descendants(root: int) -> list[int]:
    """Return what a process and its children have started and not waited for.

    Args:
        root: process id; not among the result.
    """
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - pathlib is not loaded here
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                text = file.read()
        except OSError:
            continue
        # The name of the program, in brackets, may contain anything.
        fields = text.rpartition(b")")[2].split(None, 2)
        if len(fields) > 1:
            children.setdefault(int(fields[1]), []).append(int(name))
    found: list[int] = []
    front = [root]
    while front:
        front = [child for parent in front for child in children.get(parent, ())]
        found += front
    return found


if sys.platform == "linux":

    def _prctl() -> Callable[[int, int], None] | None:
        try:
            import ctypes

            call = ctypes.CDLL(None).prctl
        except (ImportError, OSError, AttributeError):
            return None
        return lambda option, value: call(option, value, 0, 0, 0)

    def _reap(main: int) -> tuple[bool, int | None]:
        """Wait for all that have ended.

        Args:
            main: the program.

        Returns:
            Whether children are left, and the wait status of the program if it was
            among those that have ended.
        """
        status = None
        while True:
            try:
                pid, how = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False, status
            if pid == 0:
                return True, status
            if pid == main:
                status = how

    def _kill_all(main: int) -> int | None:
        """Kill all descendants and wait for them.

        Returns:
            The wait status of the program, if it had not ended before.
        """
        status = None
        vain = 0
        while True:
            # Again and again: what has just been killed may have started another.
            killed = False
            for pid in descendants(os.getpid()):
                try:
                    os.kill(pid, signal.SIGKILL)
                    killed = True
                except OSError:
                    # It is gone, or of another user.
                    continue
            left, how = _reap(main)
            status = status if how is None else how
            vain = 0 if killed else vain + 1
            if not left or vain > _VAIN:
                return status
            time.sleep(_PAUSE_S)

    def _supervise(
        prctl: Callable[[int, int], None],
        parent: int,
        limits: str,
        program: list[str],
    ) -> NoReturn:
        prctl(_PR_SET_CHILD_SUBREAPER, 1)
        prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        awaited = {*_ASKED_TO_END, signal.SIGCHLD}
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
        # The parent may have died before the kernel was asked.
        if os.getppid() != parent:
            sys.exit(1)
        me = os.getpid()
        main = os.fork()
        if main == 0:
            prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != me:
                os._exit(1)
            # What the program sends to its process group is not for the launcher.
            os.setsid()
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            _become(limits, program)
        status = None
        while status is None and signal.sigwait(awaited) == signal.SIGCHLD:
            _, status = _reap(main)
        killed = _kill_all(main)
        _end_like(killed if status is None else status)

    def _end_like(status: int | None) -> NoReturn:
        """End as the program did."""
        code = -signal.SIGKILL if status is None else os.waitstatus_to_exitcode(status)
        if code < 0:
            if -code != signal.SIGKILL:
                signal.signal(-code, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {-code})
            _limit("CORE=0")
            os.kill(os.getpid(), -code)
            code = 128 - code
        # At once: there is nothing to tidy up.
        os._exit(code)


def _limit(text: str) -> None:
    try:
        import resource
    except ImportError:
        return
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        which = getattr(resource, f"RLIMIT_{name}", None)
        if which is None:
            continue
        wanted = int(value)
        try:
            _, hard = resource.getrlimit(which)
            if hard != resource.RLIM_INFINITY:
                wanted = min(wanted, hard)
            resource.setrlimit(which, (wanted, wanted))
        except (OSError, ValueError):
            continue


def _become(limits: str, program: list[str]) -> NoReturn:
    """Set the limits and become the program."""
    # Python ignores these; a program expects them as they are by default.
    for name in ("SIGPIPE", "SIGXFSZ"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    _limit(limits)
    try:
        os.execvp(program[0], program)  # noqa: S606 - no shell is wanted
    except OSError as error:
        sys.stderr.write(f"cannot start {program[0]}: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(127)


def main() -> None:
    """Start the program."""
    parent, limits, *program = sys.argv[1:]
    if sys.platform == "linux":
        prctl = _prctl()
        if prctl is not None:
            _supervise(prctl, int(parent), limits, program)
    _become(limits, program)


if __name__ == "__main__":
    main()
