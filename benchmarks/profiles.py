"""What a hot path spends its time on, from cProfile."""

from __future__ import annotations

import cProfile
import pstats
from pathlib import Path

from benchmarks.pairs import Workload

#: So many functions are shown.
_ROWS = 10

#: A workload is profiled for so long.
SECONDS = 1.0


def show(profile: cProfile.Profile | Path, of: str = "") -> None:
    """Print the functions that take the most time themselves."""
    stats = pstats.Stats(str(profile) if isinstance(profile, Path) else profile)
    rows: dict[tuple[str, int, str], tuple[int, int, float, float, object]]
    rows = stats.stats  # type: ignore[attr-defined]
    total = sum(row[2] for row in rows.values()) or 1.0
    heaviest = sorted(rows.items(), key=lambda item: -item[1][2])[:_ROWS]
    print(f"    profile{of} (share of time in the function itself):")
    for (file, line, name), (_, calls, own, _, _) in heaviest:
        where = f"{'/'.join(Path(file).parts[-2:])}:{line}" if line else "built in"
        print(f"    {100 * own / total:5.1f} %  {calls:>8} calls  {name}  {where}")


def show_workload(workload: Workload) -> None:
    """Run a workload under the profiler and print what it spends its time on."""
    profile = cProfile.Profile()
    workload(SECONDS / 4)
    profile.enable()
    workload(SECONDS)
    profile.disable()
    show(profile)
