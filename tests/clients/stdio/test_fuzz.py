"""Whatever a program writes, it ends in an answer or in one clear line, and in time."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.clients.stdio.scene import INFO, WITHIN, Played, ask

from fritillary_client import BotError
from fritillary_client.stdio import Stdio, StdioBot
from fritillary_client.stdio_output import Line, Lines

pytestmark = pytest.mark.system

_ANSWERS = st.sampled_from(
    [
        b'{"index":0}\n',
        b'{"index":0,"decision_id":2}\n',
        b'{"index":0,"match_id":"m-2"}\n',
        b'{"text":"take 1"}\n',
        b'{"resign":true}\n',
        b'{"action":{}}',
        b'{"index":NaN}\n',
        b"{\n",
        b"log\n",
        b"\x00\xff\n",
        b"\n",
    ]
)
_WRITTEN = st.lists(_ANSWERS | st.binary(max_size=30), max_size=12).map(b"".join)


def fit(error: BotError) -> bool:
    """Say whether an error can be shown in one line."""
    return error.message.isprintable() and len(error.message) < 800


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_WRITTEN)
@example(b"")
@example(b'{"index":0}')
@example(b'{"index":0}\n{"index":1}\n')
def test_a_program_that_writes_anything_hangs_nobody(written: bytes) -> None:
    async def play() -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "written"
            path.write_bytes(written)
            async with Played(["cat", str(path)]) as program:
                for number in range(1, 5):
                    try:
                        answered = await program.answer(number)
                    except BotError as error:
                        assert fit(error), error  # noqa: PT017 - one of two ends
                        continue
                    assert answered is not None
            assert not program.made_by._live

    asyncio.run(asyncio.wait_for(play(), WITHIN))


class _Closing:
    """Stands in for a process that only listens."""

    unfinished = 0
    closed = False

    def write(self, line: bytes) -> None:
        json.loads(line)

    def close(self) -> None:
        self.closed = True


_STEPS = st.lists(
    st.sampled_from(["ask", "close", "gone"]) | _ANSWERS | st.binary(max_size=20),
    max_size=40,
)


@given(_STEPS)
@example(["ask", "close", b'{"index":0}\n', "ask", b'{"index":1}\n'])
@example(["ask", b'{"index":0}\n', b'{"index":0}\n', "ask", "gone"])
def test_asks_answers_and_ends_in_any_order_are_kept_apart(steps: list) -> None:
    async def play() -> None:
        bot = StdioBot(Stdio(["true"]))
        process = _Closing()
        bot._info = INFO
        bot._process = process  # type: ignore[assignment]
        lines = Lines()
        open_: asyncio.Task[object] | None = None
        number = answers = asked = 0
        for step in steps:
            if step == "ask":
                if open_ is not None and not open_.done():
                    open_.cancel()
                number += 1
                asked += 1
                open_ = asyncio.ensure_future(bot.decide(ask(number)))
            elif step == "close" and open_ is not None:
                open_.cancel()
            elif step == "gone":
                bot._gone("ended", "")
            elif isinstance(step, bytes):
                for line in lines.feed(step):
                    if line.is_protocol:
                        bot._heard(line)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            if open_ is not None and open_.done():
                if not open_.cancelled():
                    error = open_.exception()
                    answers += error is None
                    assert error is None or isinstance(error, BotError)
                    assert error is None or fit(error)
                open_ = None
            # No more is kept than what is owed.
            assert len(bot._owed) <= asked
        assert answers <= asked
        assert not process.closed or bot._fault is not None
        if open_ is not None:
            open_.cancel()
            await asyncio.gather(open_, return_exceptions=True)

    asyncio.run(play())


def test_a_line_that_was_cut_is_no_answer() -> None:
    bot = StdioBot(Stdio(["true"]))
    bot._info = INFO
    with pytest.raises(BotError, match="longer than 1048576 bytes"):
        bot._read(Line(b'{"index":0}'.ljust(1024 * 1024), cut=True))
