"""The compiled build: made by ``make compiled``, in an environment of its own.

The wheel is built as everybody would build it, and installed into ``.venv-compiled``.
Connect Four and tic-tac-toe belong to no wheel; they are compiled the same way, into a
folder of that environment. It is built anew when a source has changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.peers import Peer
from fritillary.record.whole import put

ROOT: Final = Path(__file__).parents[2]
ENVIRONMENT: Final = ROOT / ".venv-compiled"

#: Where modules are compiled that are in no wheel; comes first in ``sys.path``.
RULES: Final = ENVIRONMENT / "rules"

#: What is compiled there; the ``State`` of each gets a native twin.
RULES_MODULES: Final = (
    "benchmarks.tic_tac_toe",
    "examples.connect_four.connect_four",
    "examples.tic_tac_toe.tic_tac_toe",
)

_STAMP: Final = ENVIRONMENT / ".stamp"

#: Files and folders that what is built depends on.
_SOURCES: Final = (
    "benchmarks/compiled/__init__.py",
    "benchmarks/tic_tac_toe.py",
    "clients/python",
    "examples/connect_four",
    "examples/tic_tac_toe",
    "framework",
    "games",
    "hatch_build.py",
    "pyproject.toml",
    "requirements.lock",
)


class NotCompiledError(Exception):
    """There is no compiled build; the message says why, in one line where it can."""


def python() -> Path:
    """Return the interpreter of the environment."""
    folder = "Scripts" if sys.platform == "win32" else "bin"
    return ENVIRONMENT / folder / "python"


def _run(doing: str, *command: Path | str, **environment: str) -> None:
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        said = (done.stdout + done.stderr).strip() or "no reason given"
        msg = f"{doing} failed: {said}"
        raise NotCompiledError(msg)


def _state_of_sources() -> str:
    digest = hashlib.sha256(sys.version.encode())
    for source in _SOURCES:
        path = ROOT / source
        files = [path] if path.is_file() else sorted(path.rglob("*"))
        for file in files:
            if file.suffix in {".py", ".toml", ".lock"}:
                digest.update(str(file.relative_to(ROOT)).encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()


def build() -> bool:
    """Build the compiled build, unless it is there already; say whether it was not.

    Raises:
        NotCompiledError: if a tool is missing, or a step fails.
    """
    wanted = _state_of_sources()
    if _STAMP.is_file() and _STAMP.read_text("utf-8") == wanted:
        return False
    uv = Path(sys.executable).with_name("uv")
    if not python().exists():
        _run("making an environment", sys.executable, "-m", "venv", ENVIRONMENT)
    _STAMP.unlink(missing_ok=True)
    install = (uv, "pip", "install", "--quiet", "--python", python())
    _run(
        "installing what it takes",
        *(*install, "-c", "requirements.lock", "-r", "pyproject.toml"),
        *("--group", "dev", "--group", "compiled"),
    )
    hook = "hatch_build.py"
    _run("checking the tools", python(), hook)
    dist = ENVIRONMENT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    _run(
        "building the wheel",
        *(python(), "-m", "hatchling", "build", "-t", "wheel", "-d", dist),
        HATCH_BUILD_HOOK_ENABLE_CUSTOM="true",
    )
    wheel = next(dist.glob("*.whl"))
    (ROOT / "dist").mkdir(exist_ok=True)
    shutil.copy(wheel, ROOT / "dist")
    _run("installing it", *install, "--no-deps", "--reinstall", wheel)
    shutil.rmtree(RULES, ignore_errors=True)
    _run("compiling the examples", python(), hook, RULES, *RULES_MODULES)
    put(_STAMP, wanted.encode())
    return True


@contextlib.contextmanager
def running() -> Iterator[Peer]:
    """Start a process of the compiled build, build it before if need be.

    Raises:
        NotCompiledError: if it cannot be built.
    """
    build()
    process = Peer.started(python(), "-m", "benchmarks.compiled.work")
    try:
        yield process
    finally:
        process.stop()
