"""What stands at a path and cannot be read as a file."""

import os
from pathlib import Path


def odd_files(folder: Path, most: int) -> list[tuple[Path, str]]:
    """Return a pipe, a device and a file that is too large, with what is said of each.

    Args:
        folder: an empty one, in which they are made.
        most: how many bytes a file may have.
    """
    pipe, large = folder / "pipe", folder / "large"
    os.mkfifo(pipe)
    with large.open("wb") as file:
        file.truncate(2**40)
    return [
        (pipe, "not a regular file"),
        (Path("/dev/zero"), "not a regular file"),
        (large, f"more than {most} bytes"),
    ]
