"""The watch sees what rules may not do, by whatever name they do it."""

import csv
import ctypes
import datetime as dt
import email.utils
import faulthandler
import gc
import getpass
import hashlib
import io
import json
import locale
import logging
import mmap
import os
import pwd
import queue
import random
import re
import resource
import secrets
import select
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import timeit
import traceback
import uuid
import warnings
from pathlib import Path
from random import choice
from time import monotonic as clock
from typing import Any

import pytest
from tests.testing.high_card import DECK

from fritillary import FastDealer, SealedDealer
from fritillary.testing.watch import CLOCK, IO, RANDOM, Watch


def kinds(function):
    with Watch() as watch:
        function()
    return {kind for kind, _ in watch.found}


def each(**functions):
    """Try each function under its name."""
    return pytest.mark.parametrize(
        "function", list(functions.values()), ids=list(functions)
    )


def threaded(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def waits():
    with pytest.raises(queue.Empty):
        queue.Queue().get(timeout=0.001)


LOG = logging.getLogger("tests.testing.watched")

TERMINAL: tuple[Any, Any] = (sys.__stdout__, sys.__stderr__)

#: What was opened before anybody looks.
OPEN: dict[str, Any] = {}


@pytest.fixture(autouse=True, scope="module")
def _opened():
    one, other = socket.socketpair()
    with one, other, Path(__file__).open(encoding="utf-8") as file:
        other.send(b"x")
        OPEN.update(file=file, sends=one, receives=one)
        yield
        OPEN.clear()


class Stream:
    """Takes the place of a standard stream, and is no file."""

    def __init__(self):
        self.lines = []

    def write(self, text):
        self.lines.append(text)

    def readline(self):
        return "line\n"


@pytest.fixture(params=["text", "memory", "object"])
def streams(request, monkeypatch):
    """Puts other streams in the place of the standard ones."""
    made = {
        "text": lambda: io.TextIOWrapper(io.BytesIO(b"line\nline\n")),
        "memory": lambda: io.StringIO("line\nline\n"),
        "object": Stream,
    }[request.param]
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, made())


@each(
    random=random.random,
    randrange=lambda: random.randrange(6),
    imported=lambda: choice(DECK),
    shuffle=lambda: random.shuffle([1, 2, 3]),
    seed=lambda: random.seed(1),
    unseeded=lambda: random.Random().random(),
    seeded_anew=lambda: random.Random(5).seed(),
    system_random=lambda: random.SystemRandom().random(),
    secrets_bytes=lambda: secrets.token_bytes(4),
    secrets_choice=lambda: secrets.choice(DECK),
    secrets_below=lambda: secrets.randbelow(6),
    urandom=lambda: os.urandom(4),
    uuid4=uuid.uuid4,
    getstate_in_c=lambda: list(map(random.Random.random, [random._inst])),
)
def test_other_generators_are_seen(function):
    kept = random.getstate()
    assert RANDOM in kinds(function)
    random.setstate(kept)


@each(
    time=time.time,
    imported=clock,
    **{
        name: getattr(time, name)
        for name in (
            *("time_ns", "monotonic", "monotonic_ns", "perf_counter"),
            *("perf_counter_ns", "process_time", "process_time_ns", "thread_time"),
            *("thread_time_ns", "localtime", "gmtime", "ctime", "asctime"),
        )
    },
    strftime=lambda: time.strftime("%S"),
    mktime=lambda: time.mktime((2020, 1, 1, 0, 0, 0, 0, 1, 0)),
    clock_gettime=lambda: time.clock_gettime(time.CLOCK_MONOTONIC),
    clock_gettime_ns=lambda: time.clock_gettime_ns(time.CLOCK_MONOTONIC),
    sleep=lambda: time.sleep(0),
    now=dt.datetime.now,
    now_utc=lambda: dt.datetime.now(dt.UTC),
    today=dt.date.today,
    datetime_today=dt.datetime.today,
    of_an_object=lambda: dt.datetime(2020, 1, 1).now(dt.UTC),  # noqa: DTZ001
    uuid1=uuid.uuid1,
    times=os.times,
    rusage=lambda: resource.getrusage(resource.RUSAGE_SELF),
    timer=lambda: signal.getitimer(signal.ITIMER_VIRTUAL),
    timeit=lambda: timeit.timeit("1", number=1),
    formatdate=email.utils.formatdate,
    log=lambda: LOG.warning("seen"),
    wait=lambda: threading.Event().wait(0),
    queue=waits,
)
def test_clocks_are_seen(function):
    assert CLOCK in kinds(function)


def test_the_time_of_utc_is_seen_where_it_is_still_asked_for_without_a_zone():
    with warnings.catch_warnings():
        # Newer versions warn of it.
        warnings.simplefilter("ignore", DeprecationWarning)
        assert CLOCK in kinds(dt.datetime.utcnow)


@each(
    read_text=lambda: Path(__file__).read_text("utf-8"),
    open=lambda: open(__file__, "rb").close(),  # noqa: PTH123 - as people do
    read=lambda: OPEN["file"].read(1),
    seek=lambda: OPEN["file"].seek(0),
    buffer=lambda: OPEN["file"].buffer.peek(1),
    listdir=lambda: os.listdir("."),  # noqa: PTH208 - as people do
    scandir=lambda: list(Path(__file__).parent.iterdir()),
    glob=lambda: list(Path(__file__).parent.glob("x")),
    exists=lambda: Path(__file__).exists(),
    resolve=lambda: Path("a").resolve(),
    cwd=Path.cwd,
    home=Path.home,
    absolute=lambda: os.path.abspath("a"),  # noqa: PTH100 - as people do
    expanduser=lambda: os.path.expanduser("~"),  # noqa: PTH111 - as people do
    temporary=lambda: tempfile.TemporaryFile().close(),
    environ=lambda: os.environ.get("HOME"),
    environ_item=lambda: os.environ["PATH"],
    environ_in=lambda: "HOME" in os.environ,
    environ_all=lambda: dict(os.environ),
    environ_length=lambda: len(os.environ),
    environb=lambda: os.environb.get(b"HOME"),
    getenv=lambda: os.getenv("HOME"),
    getpid=os.getpid,
    cpu_count=os.cpu_count,
    getuser=getpass.getuser,
    passwd=lambda: pwd.getpwuid(0),
    locale=locale.getlocale,
    localeconv=locale.localeconv,
    print=lambda: print(end="", file=io.StringIO()),
    os_write=lambda: os.write(2, b""),
    displayhook=lambda: sys.displayhook(None),
    socket=lambda: socket.socket().close(),
    send=lambda: OPEN["sends"].send(b"x"),
    receive=lambda: OPEN["receives"].recv(1),
    resolve_name=lambda: socket.gethostbyname("127.0.0.1"),
    select=lambda: select.select([], [], [], 0),
    subprocess=lambda: subprocess.run([sys.executable, "-c", ""], check=True),
    system=lambda: os.system(""),  # noqa: S605 - as people do
    thread=lambda: threaded(int),
    signal=lambda: signal.getsignal(signal.SIGTERM),
    database=lambda: sqlite3.connect(":memory:").close(),
    mapped=lambda: mmap.mmap(-1, 1).close(),
    library=lambda: ctypes.CDLL(None),
    log=lambda: LOG.warning("seen"),
    profile=lambda: sys.setprofile(sys.getprofile()),
)
def test_the_world_outside_is_seen(function):
    assert IO in kinds(function)


@pytest.mark.usefixtures("streams")
@each(
    stdout=lambda: sys.stdout.write(""),
    stderr=lambda: sys.stderr.write(""),
    stdin=lambda: sys.stdin.readline(),  # noqa: PLW0108 - it is another one by then
    print=lambda: print(end=""),
    stderr_print=lambda: print(end="", file=sys.stderr),
)
def test_the_terminal_is_seen_whatever_stands_in_its_place(function):
    assert IO in kinds(function)


@each(
    lines=lambda: next(iter(sys.stdin)),
    loop=lambda: [line for line in sys.stdin],  # noqa: C416 - as people do
    next=lambda: next(sys.stdin),
    input=lambda: input(),  # noqa: PLW0108 - it is another one by then
    readlines=lambda: sys.stdin.readlines(),  # noqa: PLW0108 - likewise
    buffer=lambda: sys.stdin.buffer,
)
def test_lines_of_the_standard_input_are_seen(function, monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(b"line\nline\n"))
    monkeypatch.setattr(sys, "stdin", stream)
    assert IO in kinds(function)
    assert sys.stdin is stream


@each(
    stdout=lambda: TERMINAL[0].write(""),
    stderr=lambda: TERMINAL[1].write(""),
    flush=TERMINAL[0].flush,
    buffer=lambda: TERMINAL[0].buffer.write(b""),
    print=lambda: print(end="", file=TERMINAL[1]),
    faulthandler=faulthandler.is_enabled,
)
def test_the_terminal_itself_is_seen(function):
    assert IO in kinds(function)


def test_a_handler_of_logs_that_writes_is_seen():
    handler = logging.StreamHandler(TERMINAL[1])
    record = logging.LogRecord("x", logging.INFO, "x", 1, "", (), None)
    assert kinds(lambda: handler.emit(record)) == {IO}


@each(
    fast=lambda: FastDealer(3).below(6),
    sealed=lambda: SealedDealer(bytes(32)).stream("deck").choice(DECK),
    seeded=lambda: random.Random(7).random(),
    text=lambda: io.StringIO().write("text"),
    bytes=lambda: io.BytesIO().write(b"text"),
    layers=lambda: io.TextIOWrapper(io.BytesIO()).write("text"),
    csv=lambda: csv.writer(io.StringIO()).writerow([1]),
    sorted=lambda: sorted(DECK, key=str),
    date=lambda: dt.date(2020, 1, 1).isoformat(),
    date_text=lambda: dt.date(2020, 1, 1).strftime("%d"),
    imported=lambda: __import__("colorsys").rgb_to_hsv(0, 0, 0),
    path=lambda: Path("a") / "b",
    path_text=lambda: Path("a/b.c").with_suffix("").name,
    joined=lambda: os.path.join("a", "b"),  # noqa: PTH118 - as people do
    lock=lambda: threading.Lock().acquire(),
    silent_log=lambda: LOG.debug("not seen"),
    json=lambda: json.loads(json.dumps({"a": [1, 2]})),
    hash=lambda: hashlib.sha256(b"x").hexdigest(),
    regular=lambda: re.sub("a+", "b", "caat"),
    error=lambda: traceback.format_exception_only(OSError(1, "x")),
    uuid5=lambda: uuid.uuid5(uuid.NAMESPACE_DNS, "x"),
)
def test_what_is_harmless_is_left_in_peace(function):
    sys.modules.pop("colorsys", None)
    assert kinds(function) == set()


def test_what_others_have_left_behind_is_not_tidied_up_meanwhile():
    class Leaves:
        def __init__(self):
            self.itself = self

        def __del__(self):
            os.getpid()

    def collects():
        Leaves()
        return [[] for _ in range(100_000)]

    assert kinds(collects) == set()
    assert gc.isenabled()
    gc.collect()


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
