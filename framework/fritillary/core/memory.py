"""How much memory a process may take for data, where the system has such a limit."""

from __future__ import annotations

import sys


def limit_memory(size: int | None) -> int | None:
    """Let the process take no more memory for data than so much.

    What goes beyond it raises ``MemoryError``.

    Args:
        size: in bytes, of all that the process holds; ``None`` for what the system
            allows.

    Returns:
        What it was before, to be given back; ``None`` for no limit.
    """
    if sys.platform == "win32":
        return None
    import resource

    unlimited = resource.RLIM_INFINITY
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = hard if size is None else size
    if hard != unlimited:
        wanted = min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))
    return None if soft == unlimited else soft


def lacks_memory(error: BaseException | None) -> bool:
    """Say whether an error, or one that led to it, is that there is no more memory."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = error.__cause__
    return False
