"""Byte vectors of the wire, which the clients of all languages are tested against.

What a file holds stands in its ``about``. They are made from the wire's definition and
from the words of the pages alone. ``FRITILLARY_REWRITE_GOLDEN=1`` with
``tests/clients/test_wire_vectors.py`` writes them anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from tests.golden.wire import deals, frames, payloads

FOLDER: Final = Path(__file__).parent


def files() -> dict[str, str]:
    """Return the files by name."""
    made = {
        "payloads": payloads.payloads(),
        "frames": frames.frames(),
        "deals": deals.deals(),
    }
    return {
        f"{name}.json": json.dumps(value, ensure_ascii=False, indent=1) + "\n"
        for name, value in made.items()
    }
