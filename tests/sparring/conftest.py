"""What tests of commands need; see ``tests/cli``."""

from tests.cli.conftest import _own_data, run, start

__all__ = ["_own_data", "run", "start"]
