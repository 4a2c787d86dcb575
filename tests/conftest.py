"""How thoroughly Hypothesis looks, and deals that are the same in every run."""

from __future__ import annotations

import os
import random
import signal
import types

import pytest
from hypothesis import HealthCheck, settings
from tests.clients import languages
from tests.clients.stdio import examples

from fritillary.referee import setup
from fritillary.service import ordering

# No deadlines: a busy machine is no bug.
settings.register_profile("quick", deadline=None, max_examples=60)
settings.register_profile(
    "thorough",
    deadline=None,
    max_examples=1000,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("FRITILLARY_HYPOTHESIS", "quick"))


# Whoever runs the tests in the background may have them ignore these, and every program
# that a test starts would inherit that.
for _name in ("SIGINT", "SIGHUP"):
    _number = getattr(signal, _name, None)
    if _number is not None and signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(
            _number,
            signal.default_int_handler if _name == "SIGINT" else signal.SIG_DFL,
        )


@pytest.fixture(autouse=True)
def _deals_of_the_test(request, monkeypatch):
    # A match whose seed the test did not name would be another in every run, and a
    # test that holds for nearly all of them would fail some day.
    chance = random.Random(request.node.nodeid)
    system = types.SimpleNamespace(urandom=chance.randbytes)
    for module in (setup, ordering):
        monkeypatch.setattr(module, "os", system)


def pytest_terminal_summary(terminalreporter):
    """List what was not tested for want of a tool, and how to get it."""
    for line in (*languages.left_out(), *examples.left_out()):
        terminalreporter.write_line(line, yellow=True)
