"""The last words of a program: the line that names its error, not its stack."""

from __future__ import annotations

import re
from typing import Final

#: A frame of a stack, as Node, Java, Ruby and Go write it.
_FRAME: Final = re.compile(
    r"\s+(at\s|from\s\S+:\d+|\.\.\.\s\d+\s(more|lines)\b|\S+\.go:\d+)"
)

#: What their runtimes, that of Rust and wrappers write after an error: names of
#: functions and registers, advice, versions, exit codes.
_AFTER: Final = re.compile(
    r"""
    [][{}()]+$ | Node\.js\sv\d | \(Use\ `node\s | -+\sNative\sstack\strace
    | \s*\d+:\s0x[0-9a-f] | goroutine\s\d+\b.*:$ | created\sby\s | exit\sstatus\s\d+$
    | (r[a-z0-9]{1,5}|[cfg]s|pc|sp|lr|fault)\s+0x[0-9a-f]+$ | \.\.\..*frames\selided
    | note:\srun\swith\s`RUST_
    """,
    re.VERBOSE,
)

#: How a Go program begins to tell of its end, and what then follows.
_GO: Final = re.compile(r"(panic|fatal error|runtime|SIG[A-Z]+): ")
_GOROUTINE: Final = re.compile(r"goroutine \d+\b.*:$")

#: So much of a line is looked at, in characters.
_LONGEST: Final = 1_000

_NAMED: Final = re.compile(
    r"(Uncaught |Exception in thread \S+ )?"
    r"[A-Za-z_$][\w$.]*(Error|Exception|Rejection)\b"
)


def last_words(text: str) -> str:
    """Return the line of a program's output that says why it has ended.

    That is the last one which is not blank; where it belongs to a stack, the one that
    names the error before it.

    Args:
        text: what it wrote; enough of it to reach back over a stack.

    Returns:
        One line without space around it; empty if there is none.
    """
    lines = [line[:_LONGEST].rstrip() for line in text.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        return ""
    last = lines[-1].strip()
    if not _is_after(lines[-1]):
        return last
    return _of_go(lines) or _before_stack(lines) or last


def _is_after(line: str) -> bool:
    return bool(_FRAME.match(line) or _AFTER.match(line))


def _of_go(lines: list[str]) -> str:
    stack = False
    for line in reversed(lines):
        if _GOROUTINE.match(line):
            stack = True
        elif stack and _GO.match(line):
            return line
    return ""


def _before_stack(lines: list[str]) -> str:
    """Return the line before the stack at the end, or the first of its sentence."""
    at = len(lines) - 1
    # What is indented belongs to what stands before it.
    while at >= 0 and (not lines[at] or lines[at][0].isspace() or _is_after(lines[at])):
        at -= 1
    if at < 0:
        return ""
    for line in reversed(lines[: at + 1]):
        if not line or _FRAME.match(line):
            break
        if _NAMED.match(line):
            return line
    return lines[at].rstrip(" {")
