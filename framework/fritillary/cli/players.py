"""What can be known of players before a match begins."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterable
from importlib.machinery import PathFinder
from pathlib import Path

from fritillary.core.errors import UsageError
from fritillary.referee.lineup import COMMANDS, PlayerSpec, parse_player


def check_players(texts: Iterable[str]) -> None:
    """Check that programs and modules that are to play here can be found.

    Nothing of them is run or imported.

    Raises:
        UsageError: naming the player and the mend.
    """
    for spec in map(parse_player, texts):
        if spec.kind in COMMANDS:
            _check_program(spec)
        elif spec.kind == "python":
            _check_module(spec)


def _check_program(spec: PlayerSpec) -> None:
    program = spec.command[0]
    if shutil.which(program) is not None:
        return
    if Path(program).is_dir():
        why = f"{program[:200]!r} is a folder; name a program"
    elif Path(program).exists():
        why = (
            f"the file {program[:200]!r} cannot be executed as it is; make it "
            "executable, name its interpreter before it, or put ./ before its name"
        )
    elif os.sep in program:
        why = f"there is no file {program[:200]!r}; correct the path"
    else:
        why = (
            f"there is no command {program[:200]!r}; install it, or write the path of "
            "a program"
        )
    raise UsageError(f"player {spec.text[:80]!r}: {why}", code="usage.player")


def _check_module(spec: PlayerSpec) -> None:
    module = spec.name.partition(":")[0]
    # What is below it can only be found by importing it, which is for the player.
    top = module.partition(".")[0]
    try:
        found = importlib.util.find_spec(top) or PathFinder.find_spec(top, [os.curdir])
    except (ImportError, ValueError):
        # It is loaded and says nothing of where from.
        return
    if found is None:
        msg = (
            f"player {spec.text[:80]!r}: there is no module {top!r}; install it, or "
            "run the command in its folder"
        )
        raise UsageError(msg, code="usage.player")
