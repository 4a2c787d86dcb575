"""The table of the codes that cross the wire, for `docs/protocol.md`.

The codes are collected from the source of the framework, so that none is missing; their
statuses come from the server itself. What they mean stands in `docs/codes.py`.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from docs.codes import APART, CALL, CODES, FAMILIES, PLACES, REFUSAL

from fritillary.core import errors
from fritillary.core.errors import FritillaryError
from fritillary.record.terms import Fault
from fritillary.service.errors import status_of

FRAMEWORK: Final = Path(errors.__file__).parents[1]

#: What does not run in a server, and does not answer to its clients.
_ELSEWHERE: Final = frozenset({"api", "app", "cli", "sparring", "testing"})

#: Codes of records are those of `fritillary verify`; docs/record.md is about them.
_OF_RECORDS: Final = "record."

#: Texts with a dot in them that are no codes.
_NO_CODES: Final = frozenset(
    {
        "fritillary.audit",
        "fritillary.games",
        "fritillary.journal",
        "fritillary.variants",
        "launcher.py",
        "session.key",
        "signing.key",
        "tokens.json",
        "visit.yields",
    }
)

#: Codes that are put together where they are raised.
MADE: Final[dict[str, tuple[str, ...]]] = {
    "fault.{fault.value}": tuple(f"fault.{fault.value}" for fault in Fault),
    "usage.{name}": ("usage.seed", "usage.salt"),
    "usage.{what}": ("usage.seed", "usage.salt"),
}

_DOTTED: Final = re.compile(r"[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)+")


def trees() -> Iterator[ast.Module]:
    """Yield the source of all that may raise an error in a server."""
    for path in sorted(FRAMEWORK.rglob("*.py")):
        if path.relative_to(FRAMEWORK).parts[0] not in _ELSEWHERE:
            yield ast.parse(path.read_text("utf-8"))


def raised() -> set[str]:
    """Return every code that stands in the source of the framework.

    Raises:
        KeyError: for a code that is put together and not listed in `MADE`.
    """
    found = {name.code for name in _classes()}
    for tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and node.arg == "code":
                for part in ast.walk(node.value):
                    if isinstance(part, ast.JoinedStr):
                        found.update(MADE[ast.unparse(part)[2:-1]])
            elif (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and _DOTTED.fullmatch(node.value)
            ):
                found.add(node.value)
    return found - _NO_CODES


def untold() -> set[str]:
    """Return the codes that the code has and the page has not."""
    return {
        code
        for code in raised()
        if code not in CODES
        and code not in APART
        and code.partition(".")[0] not in FAMILIES
        and not code.startswith(_OF_RECORDS)
    }


def gone() -> set[str]:
    """Return the codes that the page has and the code has not."""
    return (CODES.keys() | APART.keys()) - raised()


def _classes() -> list[type[FritillaryError]]:
    return [
        cls
        for _, cls in inspect.getmembers(errors, inspect.isclass)
        if issubclass(cls, FritillaryError)
    ]


def _errors_by_code() -> dict[str, FritillaryError]:
    """Return an error for each code that is given where an error is made."""
    known = {cls.__name__: cls for cls in _classes()}
    found = {cls.code: cls("") for cls in _classes()}
    for tree in trees():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            cls = known.get(node.func.id)
            for keyword in node.keywords:
                if cls is None or keyword.arg != "code":
                    continue
                made = ast.unparse(keyword.value)
                for code in MADE.get(made[2:-1], (made.strip("'"),)):
                    found.setdefault(code, cls("", code=code))
    return found


def table() -> str:
    """Return the table of the page: every code, in the order of the alphabet."""
    known = _errors_by_code()
    rows = [
        "| code | told by | status | meaning | what to do |",
        "| --- | --- | --- | --- | --- |",
    ]
    families = {f"{name}.*": code for name, code in FAMILIES.items()}
    for code, what in sorted((CODES | families).items()):
        status = ""
        if {CALL, REFUSAL} & set(what.places):
            error = known.get(code.removesuffix(".*")) or FritillaryError("", code=code)
            if code.startswith("plugin"):
                error = errors.PluginError("")
            status = "INTERNAL" if code == "internal" else status_of(error).name
        places = ", ".join(what.places)
        rows.append(
            f"| `{code}` | {places} | {status} | {what.meaning} | {what.mend} |"
        )
    return "\n".join(rows)


def places() -> str:
    """Return what the words of the second column of the table stand for."""
    return "\n".join(f"- {name}: {words}" for name, words in PLACES.items())
