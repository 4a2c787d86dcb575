"""Run one of the bots: ``python -m tests.sparring.zoo NAME``."""

from __future__ import annotations

import os
import sys

from tests.sparring.zoo.bots import ZOO

if __name__ == "__main__":
    code = ZOO[sys.argv[1]]().run()
    sys.stdout.flush()
    # At once: no thread of a misbehaving bot holds the program up.
    os._exit(code)
