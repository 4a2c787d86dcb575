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
    | note:\s(run\swith\s`RUST_|Some\sdetails\sare\somitted) | ==\d+==ABORTING$
    | \s+\+-{10,}$
    """,
    re.VERBOSE,
)

#: How a Go program begins to tell of its end, and what then follows.
_GO: Final = re.compile(r"(panic|fatal error|runtime|SIG[A-Z]+): ")
_GOROUTINE: Final = re.compile(r"goroutine \d+\b.*:$")

#: A panic while another one was seen to, below that one.
_GO_AGAIN: Final = re.compile(r"\tpanic: ")

#: How a Rust program begins to tell of its end; what it says is in the next line, or
#: (before 1.73) in this one. Then its stack, a function and a place in turn.
_RUST: Final = re.compile(r"thread '.*' (\(\d+\) )?panicked at .")
_RUST_STACK: Final = "stack backtrace:"
_RUST_FRAME: Final = re.compile(r"\s+(\d+: +\S|at \S)")

#: The line that a sanitizer (of addresses, threads, ...) sums up in.
_SUMMARY: Final = re.compile(r"SUMMARY: \w+Sanitizer: ")

#: Python's errors of a group: one begins, another one is told of, the last is over.
_GROUP: Final = "  + Exception Group Traceback (most recent call last):"
_OF_GROUP: Final = re.compile(r"\s+\+-\+?-{4,}")
_LEAF_ENDS: Final = re.compile(r"\s+\+-{4,}")
_IN_GROUP: Final = re.compile(r"\s+\| (?=\S)")

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
    found = _of_rust(lines)
    if found or not _is_after(lines[-1]):
        return found or last
    for look in (_of_group, _of_sanitizer, _of_go, _before_stack):
        found = look(lines)
        if found:
            return found
    return last


def _is_after(line: str) -> bool:
    return bool(_FRAME.match(line) or _AFTER.match(line))


def _of_rust(lines: list[str]) -> str:
    """Return the first line of what a panic says, if nothing but its stack follows."""
    at = len(lines) - 1
    while at >= 0 and (_RUST_FRAME.match(lines[at]) or _AFTER.match(lines[at])):
        at -= 1
    noted = at < len(lines) - 1
    if not noted or (
        lines[at] != _RUST_STACK and not lines[-1].startswith("note: run with `RUST_")
    ):
        return ""
    for before in range(at, -1, -1):
        if _RUST.match(lines[before]):
            told = lines[before].endswith(":") and before < at
            return lines[before + 1] if told else lines[before]
    return ""


def _of_group(lines: list[str]) -> str:
    """Return the first error of an exception group at the end, not the group's own."""
    if not _LEAF_ENDS.match(lines[-1]) or _GROUP not in lines:
        return ""
    begin = len(lines) - lines[::-1].index(_GROUP)
    error = ""
    for line in lines[begin:]:
        if _LEAF_ENDS.match(line):
            break
        if _OF_GROUP.match(line):
            error = ""
        elif _IN_GROUP.match(line):
            text = _IN_GROUP.sub("", line)
            if not error or _NAMED.match(text):
                error = text
    return error


def _of_sanitizer(lines: list[str]) -> str:
    return next((line for line in reversed(lines) if _SUMMARY.match(line)), "")


def _of_go(lines: list[str]) -> str:
    stack = False
    again = ""
    for line in reversed(lines):
        if _GOROUTINE.match(line):
            stack = True
        elif stack and _GO_AGAIN.match(line):
            again = again or line.strip()
        elif stack and _GO.match(line):
            return again or line
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
