"""The example programs that read and write lines: what each needs and how it starts."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from attrs import frozen
from tests.clients.languages import ROOT

FOLDER = ROOT / "examples" / "stdio"


@frozen
class Example:
    """One program.

    Args:
        file: below ``examples/stdio``.
        tools: commands that must be there.
        get: how to get them.
        words: before the file.
    """

    file: str
    tools: tuple[str, ...] = ()
    get: str = ""
    words: tuple[str, ...] = ()

    def missing(self) -> tuple[str, ...]:
        """Return the tools that are not on this machine."""
        return tuple(each for each in self.tools if shutil.which(each) is None)

    def player(self, folder: Path) -> str:
        """Return the string that names it.

        Args:
            folder: for what has to be built.
        """
        path = FOLDER / self.file
        if path.suffix == ".c":
            path = built(path, folder)
        return f"stdio:{shlex.join([*self.words, str(path)])}"


EXAMPLES = (
    Example("uniform.py", words=(sys.executable,)),
    Example("uniform.sh", ("jq",), "install jq (Debian: apt-get install jq)"),
    Example("uniform.c", ("cc",), "install a C compiler (Debian: apt-get install gcc)"),
    Example("thoughtful.pl", ("perl",), "install Perl 5", ("perl",)),
)


def found() -> tuple[Example, ...]:
    """Return the examples whose tools are here; in CI all must be.

    Raises:
        RuntimeError: what is missing, where ``CI`` is set.
    """
    here = tuple(each for each in EXAMPLES if not each.missing())
    if len(here) < len(EXAMPLES) and os.environ.get("CI"):
        raise RuntimeError("; ".join(left_out()))
    return here


def left_out() -> list[str]:
    """Return a line for each example that cannot be run here, with the mend."""
    return [
        f"examples/stdio/{each.file} is left out, since there is no "
        f"{' and no '.join(each.missing())}: {each.get}"
        for each in EXAMPLES
        if each.missing()
    ]


def built(source: Path, folder: Path, *flags: str) -> Path:
    """Compile a C program as strictly as can be; return it."""
    program = folder / source.stem
    strict = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2")
    subprocess.run(["cc", *strict, *flags, "-o", str(program), str(source)], check=True)
    return program
