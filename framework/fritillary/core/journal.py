"""The journal: the log of what goes on at a server, a line for each thing.

Whoever serves turns it on; elsewhere its lines are not even put together.
"""

from __future__ import annotations

import logging
from typing import Final

#: Name of its logger; what a bot can bring about at will goes to one below it.
JOURNAL: Final = "fritillary.journal"
JOURNAL_OF_BOTS: Final = f"{JOURNAL}.bots"

#: Where what goes on is told, as information, or as a warning if somebody must act.
journal: Final = logging.getLogger(JOURNAL)
journal_of_bots: Final = logging.getLogger(JOURNAL_OF_BOTS)
