"""What holds for all tests: the same deals in every run, nothing left behind."""

from __future__ import annotations

import gc
import os
import random
import signal
import sys
import threading
import types
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.clients import languages
from tests.clients.stdio import examples

from fritillary.core import interrupts
from fritillary.referee import setup
from fritillary.service import ordering

# Neither deadlines nor complaints of slow strategies: a busy machine is no bug. What
# the quick look sees is the same in every run; the thorough one looks for more.
for _profile, _look in (
    ("quick", settings(max_examples=60, derandomize=True, database=None)),
    ("thorough", settings(max_examples=1000, derandomize=False)),
):
    settings.register_profile(
        _profile,
        _look,
        deadline=None,
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


# What whoever runs the tests has set for programs and bots of their own, and what has
# colours and terminals be taken for granted where there are none.
for _name in ("ADDRESS", "TOKEN", "DATA", "CA", "CERT", "KEY"):
    os.environ.pop(f"FRITILLARY_{_name}", None)
for _name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(_name, None)


def _process():
    """Return what all tests of a process share, apart from what they import."""
    mask = os.umask(0o022)
    os.umask(mask)
    return {
        **{
            f"handler of {number}": signal.getsignal(number)
            for number in signal.valid_signals() - _OF_PYTEST
        },
        "environment": {k: v for k, v in os.environ.items() if k not in _OF_PYTEST},
        "folder": Path.cwd(),
        "umask": mask,
        # Not `sys.excepthook`, which Typer sets for good.
        "hooks": (sys.unraisablehook, threading.excepthook),
        "words of the command": list(sys.argv),
        "collector of garbage": (gc.isenabled(), gc.get_threshold()),
        "being our command": interrupts.Loading.command,
    }


#: Tells the phase of a test; limits its time.
_OF_PYTEST = {"PYTEST_CURRENT_TEST", getattr(signal, "SIGALRM", None)}


@pytest.fixture(autouse=True)
def _process_is_left_as_it_was():
    # What one test leaves behind would fail another, in one order of the files.
    before = _process()
    yield
    after = _process()
    assert {k: v for k, v in after.items() if v != before[k]} == {}


@pytest.fixture(autouse=True)
def _deals_of_the_test(_process_is_left_as_it_was, request, monkeypatch):
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
