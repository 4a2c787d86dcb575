"""Starts one program with limits; it dies with whoever started it.

Run as a script, before anything of the framework is imported:
``python -I -S launcher.py PARENT LIMITS PROGRAM ARGUMENTS...`` with the process id of
the parent and limits such as ``DATA=4294967296,NOFILE=1024``. On Linux the kernel is
asked to kill the program when its parent dies. Elsewhere only a parent that ends in
order takes it along; a program whose server was killed finds its stream closed.
"""

import os
import sys

_PR_SET_PDEATHSIG = 1
_SIGKILL = 9


def _die_with(parent: int) -> None:
    if not sys.platform.startswith("linux"):
        return
    try:
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        return
    # The parent may have died before the kernel was asked.
    if os.getppid() != parent:
        sys.exit(1)


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


def main() -> None:
    """Set the limits and become the program."""
    parent, limits, *program = sys.argv[1:]
    _limit(limits)
    _die_with(int(parent))
    try:
        os.execvp(program[0], program)  # noqa: S606 - no shell is wanted
    except OSError as error:
        sys.stderr.write(f"cannot start {program[0]}: {error.strerror}\n")
        sys.exit(127)


if __name__ == "__main__":
    main()
