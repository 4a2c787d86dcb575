"""Plays one case: a run that is struck, compared with the same run undisturbed."""

from __future__ import annotations

import shutil
import time

from attrs import define
from tests.kill.lives import Forge
from tests.kill.plan import Case, LineUp
from tests.kill.run import Run, Undisturbed


@define
class Ran:
    """What came of a run.

    Args:
        case: it was.
        failures: what did not hold, a sentence each.
        seconds: that it took.
        twice: whether the second blow fell.
        folder: where its files are, if they are kept.
    """

    case: Case
    failures: list[str]
    seconds: float = 0.0
    twice: bool = False
    folder: str = ""


async def undisturbed(forge: Forge, line_up: LineUp, deal: int) -> Undisturbed:
    """Play a match to which nothing is done.

    Raises:
        RuntimeError: if something does not hold even so.
    """
    run = Run(forge, line_up, deal)
    await run.play()
    if run.failures:
        msg = f"{line_up.name}, undisturbed ({run.folder}): {'; '.join(run.failures)}"
        raise RuntimeError(msg)
    shutil.rmtree(run.folder)
    return run.undisturbed()


async def strike(
    forge: Forge, case: Case, before: Undisturbed, *, keep: bool = False
) -> Ran:
    """Play a case; compare it to the undisturbed run.

    Args:
        forge: starts processes.
        case: what is done.
        before: the undisturbed run.
        keep: whether to keep the files of a run in which something did not hold.
    """
    began = time.monotonic()
    run = Run(forge, case.line_up, case.deal, case, before)
    kept = False
    try:
        await run.play()
        kept = keep and bool(run.failures)
    finally:
        if not kept:
            shutil.rmtree(run.folder, ignore_errors=True)
    return Ran(
        case,
        run.failures,
        time.monotonic() - began,
        run.twice,
        str(run.folder) if kept else "",
    )
