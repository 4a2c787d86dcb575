"""What no guard around the code of others holds up."""

from __future__ import annotations

import asyncio
from typing import Final

#: An interrupt by the user, and the end of a task. Everything else that games, bots and
#: listeners raise, ``sys.exit`` included, stays where it can harm nobody.
PASSING: Final = (KeyboardInterrupt, asyncio.CancelledError, GeneratorExit)
