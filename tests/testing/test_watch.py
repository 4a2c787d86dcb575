"""The watch sees what rules may not do, by whatever name they do it."""

import datetime as dt
import io
import os
import random
import secrets
import socket
import subprocess
import sys
import time
import uuid
from pathlib import Path
from random import choice
from time import monotonic as clock

import pytest
from tests.testing.high_card import DECK

from fritillary import FastDealer, SealedDealer
from fritillary.testing.watch import CLOCK, IO, RANDOM, Watch


def kinds(function):
    with Watch() as watch:
        function()
    return {kind for kind, _ in watch.found}


@pytest.mark.parametrize(
    "function",
    [
        random.random,
        lambda: random.randrange(6),
        lambda: choice(DECK),
        lambda: random.shuffle([1, 2, 3]),
        lambda: random.seed(1),
        lambda: random.Random().random(),
        lambda: random.SystemRandom().random(),
        lambda: secrets.token_bytes(4),
        lambda: secrets.choice(DECK),
        lambda: os.urandom(4),
        uuid.uuid4,
        lambda: list(map(random.Random.random, [random._inst])),
    ],
    ids=range(12),
)
def test_other_generators_are_seen(function):
    kept = random.getstate()
    assert RANDOM in kinds(function)
    random.setstate(kept)


@pytest.mark.parametrize(
    "function",
    [
        time.time,
        clock,
        time.perf_counter_ns,
        lambda: time.sleep(0),
        time.localtime,
        dt.datetime.now,
        lambda: dt.datetime.now(dt.UTC),
        dt.date.today,
    ],
    ids=range(8),
)
def test_clocks_are_seen(function):
    assert CLOCK in kinds(function)


@pytest.mark.parametrize(
    "function",
    [
        lambda: Path(__file__).read_text("utf-8"),
        lambda: open(__file__, "rb").close(),  # noqa: PTH123 - as people do
        lambda: os.listdir("."),  # noqa: PTH208 - as people do
        lambda: Path(__file__).exists(),
        lambda: os.environ.get("HOME"),
        lambda: os.getenv("HOME"),
        lambda: print(end="", file=io.StringIO()),
        lambda: socket.socket().close(),
        lambda: subprocess.run([sys.executable, "-c", ""], check=True),
    ],
    ids=range(9),
)
def test_the_world_outside_is_seen(function):
    assert IO in kinds(function)


@pytest.mark.parametrize(
    "function",
    [
        lambda: FastDealer(3).below(6),
        lambda: SealedDealer(bytes(32)).stream("deck").choice(DECK),
        lambda: random.Random(7).random(),
        lambda: io.StringIO().write("text"),
        lambda: sorted(DECK, key=str),
        lambda: dt.date(2020, 1, 1).isoformat(),
        lambda: __import__("colorsys").rgb_to_hsv(0, 0, 0),
        lambda: Path("a") / "b",
    ],
    ids=range(8),
)
def test_what_is_harmless_is_left_in_peace(function):
    sys.modules.pop("colorsys", None)
    assert kinds(function) == set()


def test_it_says_what_was_done_and_where():
    def rolls():
        return random.randrange(6)

    with Watch() as watch:
        rolls()
    assert ("random", "random.randrange() in rolls(), test_watch.py:") in [
        (kind, what.rstrip("0123456789")) for kind, what in watch.found
    ]


def test_nothing_is_watched_before_and_after():
    watch = Watch()
    random.random()
    with watch:
        pass
    random.random()
    assert watch.found == []
    assert sys.getprofile() is None
