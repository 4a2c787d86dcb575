"""Programs that behave, and those that do not: each ends in one clear line."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from tests.clients.stdio.scene import INFO, WITHIN, Played, script, until

from fritillary_client import RESIGN, BotError, Decision, DecisionError, stdio_process
from fritillary_client.stdio import Stdio, program_file

pytestmark = pytest.mark.system


def alive(pid: int) -> bool:
    """Say whether a process runs; one that has ended and is not reaped does not."""
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
    except FileNotFoundError:
        return False


async def until_logged(played: Played, count: int) -> list[str]:
    await until(lambda: len(played.log) >= count)
    return played.log


async def until_dead(pid: int) -> None:
    await until(lambda: not alive(pid))


# ------------------------------------------------------------------ those that behave


async def test_a_program_is_asked_and_answers_in_any_form() -> None:
    body = """
    asked(); say({"index": 2})
    asked(); say({"text": "take 1", "note": "so"})
    asked(); say({"action": {"stones": 1}, "decision_id": 3, "match_id": "m-1"})
    asked(); say({"resign": True})
    """
    async with Played(script(body)) as program:
        assert await program.answer(1) == 2
        second, third = await program.answer(2), await program.answer(3)
        assert isinstance(second, Decision)
        assert isinstance(third, Decision)
        assert (second.choice, second.note) == ("take 1", "so")
        assert (third.choice, third.note) == ({"stones": 1}, "")
        assert await program.answer(4) is RESIGN


async def test_it_hears_the_start_first_and_the_end_last(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    body = f"""
    with open({str(heard)!r}, "w") as file:
        for line in sys.stdin:
            file.write(line)
            if '"ask"' in line[:20]:
                say({{"index": 0}})
    """
    async with Played(script(body)) as program:
        assert await program.answer(1) == 0
    lines = [json.loads(line) for line in heard.read_text().splitlines()]
    assert [line["type"] for line in lines] == ["start", "ask", "end"]


async def test_what_is_no_answer_is_its_log(caplog) -> None:
    body = r"""
    asked(); say(" {not an answer}", "thinking"); raw(b"\xff\x00\r\n")
    print("to standard error", file=sys.stderr, flush=True)
    say({"index": 1}); told()
    """
    async with Played(script(body)) as program:
        assert await program.answer(1) == 1
        log = await until_logged(program, 4)
    gone = "\N{REPLACEMENT CHARACTER}"
    assert {line.removeprefix("m-1 seat 0: ") for line in log} == {
        " {not an answer}",
        "thinking",
        gone * 2,
        "to standard error",
    }
    assert not caplog.records


async def test_each_match_has_a_process_of_its_own() -> None:
    body = "say(str(os.getpid())); told(); told()"
    words = script(body)
    async with Played(words) as one, Played(words) as other:
        pids = (*await until_logged(one, 1), *await until_logged(other, 1))
    assert len(set(pids)) == 2


async def test_it_inherits_what_it_is_given_and_no_more(monkeypatch) -> None:
    monkeypatch.setenv("FRITILLARY_TOKEN", "secret")
    with Path("/dev/null").open("rb") as other:
        os.set_inheritable(other.fileno(), True)
        body = """
        print(sorted(os.environ), sorted(map(int, os.listdir("/proc/self/fd")))[:-1])
        told()
        """
        async with Played(script(body), environment={"A": "b"}) as program:
            (said,) = await until_logged(program, 1)
    environment = set(said.partition("[")[2].partition("]")[0].split(", "))
    assert "'A'" in environment
    # The interpreter adds one by itself where no locale is set.
    # All that it starts is known by the other one.
    assert environment <= {"'A'", "'LC_CTYPE'", "'FRITILLARY_PROGRAM'"}
    assert said.endswith("[0, 1, 2]")


# ------------------------------------------------- asks that were closed before


async def test_an_answer_that_is_late_is_not_taken_for_the_next() -> None:
    body = """
    asked(); told_later = asked()
    say({"index": 0}); say({"index": 1})
    told()
    """
    async with Played(script(body)) as program:
        await program.close(1)
        assert await program.answer(2) == 1


async def test_who_names_the_decision_may_leave_out_what_was_closed() -> None:
    body = """
    asked(); asked(); late = asked()
    say({"index": 1, "decision_id": late["decision_id"]})
    say({"index": 2, "decision_id": asked()["decision_id"]})
    told()
    """
    async with Played(script(body)) as program:
        await program.close(1)
        await program.close(2)
        assert await program.answer(3) == 1
        assert await program.answer(4) == 2


async def test_a_late_answer_that_is_none_does_no_harm(caplog) -> None:
    body = """
    asked(); asked(); say("{garbage"); say({"index": 1})
    told()
    """
    async with Played(script(body)) as program:
        await program.close(1)
        assert await program.answer(2) == 1
    assert "is not JSON" in caplog.text


async def test_a_missing_newline_is_pointed_out_when_it_is_too_late(caplog) -> None:
    body = """
    asked(); raw(b'{"index":1}'); print("written", file=sys.stderr, flush=True)
    told()
    """
    async with Played(script(body)) as program:
        asking = asyncio.ensure_future(program.answer(1))
        await until_logged(program, 1)
        await until(lambda: program.bot._process.unfinished > 0)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
    assert "its 11 bytes lack the end of the line" in caplog.text


# --------------------------------------------------------------- those that do not


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("asked(); say('{garbage')", "the answer is not JSON"),
        ("asked(); say({'index': 'x'})", "a string, not a whole number"),
        ('asked(); raw(b\'{"index":0,"index":1}\\n\')', "names index twice"),
        ("asked(); raw(b'{\\xff}\\n')", "is not UTF-8"),
        ("asked(); raw(b'{\\0}\\n')", "is not JSON"),
        ("asked(); say('{' * 100_000)", "is not JSON"),
        ("asked(); say('{\"a\":' * 100_000)", "is nested too deep"),
        ("asked(); say({'note': 'x' * 2_000_000, 'index': 0})", "longer than 1048576"),
        ("asked(); raw(b'{' * 2_000_000); told()", "longer than 1048576 bytes"),
        ("asked(); say({'index': 0, 'match_id': 'm-2'})", "for another match"),
    ],
)
async def test_an_answer_that_is_none_is_told(body: str, why: str) -> None:
    async with Played(script(f"{body}\ntold()")) as program:
        with pytest.raises(DecisionError, match=why) as caught:
            await program.answer(1)
    assert caught.value.message.isprintable()


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("sys.exit(3)", "ended with exit code 3"),
        ("asked(); sys.exit(3)", "ended with exit code 3"),
        ("asked(); sys.exit('no book')", "exit code 1; its last words: no book"),
        (
            r"""
    asked()
    sys.stderr.write("panic: no book\n\ngoroutine 1 [running]:\nmain.main()\n\t/b.go:3")
    sys.exit(2)
    """,
            r"exit code 2; its last words: panic: no book \[",
        ),
        ("os.kill(os.getpid(), signal.SIGKILL)", "was ended by SIGKILL"),
        ("asked(); os.close(1); time.sleep(600)", "closed its output"),
        ("asked(); say({'index': 0, 'decision_id': 2})", "answered for decision 2 whe"),
        ("asked(); say({'index': 0, 'decision_id': 0})", "when it was asked 1"),
    ],
)
async def test_a_program_from_which_no_answer_can_come_has_failed(body, why) -> None:
    async with Played(script(body)) as program:
        with pytest.raises(BotError, match=why) as caught:
            await program.answer(1)
        assert caught.value.message.startswith("the program ")
        assert caught.value.message.isprintable()
        # It stays so.
        with pytest.raises(BotError, match=why):
            await program.answer(2)


async def test_an_answer_to_nothing_is_no_answer_to_the_next_ask() -> None:
    async with Played(script("say({'index': 0}); told(); told()")) as program:
        await until(lambda: program.bot._fault is not None)
        with pytest.raises(BotError, match="answered without being asked"):
            await program.answer(1)


async def test_an_answer_that_comes_twice_is_no_answer_to_the_next_ask() -> None:
    body = """
    line = asked(); say({"index": 0, "decision_id": 1}, {"index": 0, "decision_id": 1})
    told()
    """
    async with Played(script(body)) as program:
        assert await program.answer(1) == 0
        await until(lambda: program.bot._fault is not None)
        with pytest.raises(BotError, match="answered for decision 1 w"):
            await program.answer(2)


async def test_a_program_that_ended_unasked_is_told_at_the_end(caplog) -> None:
    async with Played(script("asked(); say({'index': 0}); sys.exit(4)")) as program:
        assert await program.answer(1) == 0
        await until(lambda: program.bot._fault is not None)
    assert "the program ended with exit code 4" in caplog.text


async def test_a_program_that_is_not_there_cannot_be_started() -> None:
    program = Played(["/no/such/program"])
    with pytest.raises(BotError, match="'/no/such/program' cannot be started"):
        await program.bot.start(INFO)


async def test_a_program_that_does_not_read_holds_up_nobody() -> None:
    async with Played(script("time.sleep(600)")) as program:
        began = time.monotonic()
        for number in range(1, 6):
            program.bot._process.write(b"x" * 4_000_000)
            await program.close(number)
        with pytest.raises(BotError, match=r"does not read: \d+ bytes wait for it"):
            await program.answer(6)
        assert time.monotonic() - began < WITHIN
        os.kill(program.bot._process.pid, signal.SIGKILL)


async def test_a_flood_is_read_and_dropped() -> None:
    body = """
    line = asked()
    for stream in (sys.stdout, sys.stderr):
        for _ in range(300):
            stream.write("flood\\n" * 10_000)
        stream.flush()
    say({"index": 1}); told()
    """
    async with Played(script(body)) as program:
        assert await program.answer(1) == 1
    assert sum(map(len, program.log)) < 8_000_000
    assert program.log[-1].endswith("the log is full; what follows is dropped")


async def test_a_flood_of_answers_ends_the_program() -> None:
    body = """
    asked()
    while True:
        raw(b'{"index":0}\\n' * 1000)
    """
    async with Played(script(body)) as program:
        assert await program.answer(1) == 0
        pid = program.bot._process.pid
        await until_dead(pid)
        with pytest.raises(BotError, match="answered without being asked"):
            await program.answer(2)


# ------------------------------------------------------------------------ the end


async def test_a_program_ends_by_itself_when_its_input_ends(tmp_path: Path) -> None:
    body = f"""
    while sys.stdin.readline():
        pass
    open({str(tmp_path / "left")!r}, "w").close()
    """
    async with Played(script(body)):
        pass
    assert (tmp_path / "left").exists()


async def test_one_that_stays_is_asked_by_a_signal_then_killed(tmp_path: Path) -> None:
    body = f"""
    def stop(*_):
        open({str(tmp_path / "asked")!r}, "w").close()
    signal.signal(signal.SIGTERM, stop)
    say(str(os.getpid()))
    while True:
        time.sleep(600)
    """
    async with Played(script(body)) as program:
        (said,) = await until_logged(program, 1)
    assert (tmp_path / "asked").exists()
    assert not alive(int(said.split()[-1]))


@pytest.mark.parametrize("first", ["told()", "sys.exit()"], ids=["stays", "leaves"])
async def test_what_it_has_started_is_ended_with_it(first: str) -> None:
    body = f"""
    import subprocess
    child = subprocess.Popen(["sleep", "600"])
    say(str(child.pid))
    {first}
    """
    async with Played(script(body)) as program:
        (said,) = await until_logged(program, 1)
    await until_dead(int(said.split()[-1]))


@pytest.mark.parametrize("first", ["told()", "sys.exit()"], ids=["stays", "leaves"])
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
async def test_what_has_left_its_session_is_ended_with_it(first: str) -> None:
    body = f"""
    import subprocess
    script = "sleep 600 & echo $!; exec sleep 600"
    child = subprocess.Popen(["setsid", "sh", "-c", script], stdout=subprocess.PIPE)
    say(str(child.pid), child.stdout.readline().decode().strip())
    {first}
    """
    async with Played(script(body)) as program:
        said = await until_logged(program, 2)
    for line in said:
        await until_dead(int(line.split()[-1]))


async def test_what_another_program_has_started_is_not_touched() -> None:
    body = """
    import subprocess
    child = subprocess.Popen(["sleep", "600"], start_new_session=True)
    say(str(child.pid))
    told(); told()
    """
    async with Played(script(body)) as other:
        (said,) = await until_logged(other, 1)
        async with Played(script("told()")):
            pass
        assert alive(int(said.split()[-1]))
    await until_dead(int(said.split()[-1]))


async def test_one_whose_pipe_is_held_by_a_stranger_is_left() -> None:
    body = """
    import subprocess
    child = subprocess.Popen(["env", "-i", "sleep", "600"], start_new_session=True)
    say(str(child.pid))
    """
    async with Played(script(body)) as program:
        (said,) = await until_logged(program, 1)
        with pytest.raises(BotError, match="ended with exit code 0"):
            await program.answer(1)
    os.kill(int(said.split()[-1]), signal.SIGKILL)


#: Whatever holds the pipes, and whenever the loop is stopped: no transport is left.
_HOLDS = """
import subprocess
child = subprocess.Popen(["env", "-i", "sleep", "600"], start_new_session=True)
say(str(child.pid))
"""


@pytest.mark.parametrize("then", ["sys.exit()", "time.sleep(600)"])
@pytest.mark.parametrize("ending", [False, True], ids=["plays", "ends"])
def test_a_loop_that_is_stopped_leaves_no_pipe_behind(then: str, ending: bool) -> None:
    program = Played(script(f"{_HOLDS}{then}"))

    async def begin() -> int:
        await program.bot.start(INFO)
        (said,) = await until_logged(program, 1)
        if ending:
            program.bot._process.close()
            await asyncio.sleep(0)
        return int(said.split()[-1])

    stranger = asyncio.run(begin())
    try:
        transport = program.bot._process._transport
        assert transport.is_closing()
        assert transport.get_returncode() is not None
    finally:
        os.kill(stranger, signal.SIGKILL)


async def test_one_that_has_failed_is_not_waited_for(monkeypatch) -> None:
    monkeypatch.setattr(stdio_process, "PATIENCE_S", 3600.0)
    monkeypatch.setattr(stdio_process, "TERM_S", 3600.0)
    body = "signal.signal(signal.SIGTERM, signal.SIG_IGN); asked(); os.close(1)"
    program = Played(script(f"{body}; time.sleep(600)"))
    await program.bot.start(INFO)
    with pytest.raises(BotError, match="closed its output"):
        await program.answer(1)
    keeper = program.bot._process._keeper
    assert keeper is not None
    # As where the client has left and its loop ends.
    keeper.cancel()
    done, _ = await asyncio.wait([keeper], timeout=WITHIN)
    assert done
    assert not alive(program.bot._process.pid)


def test_a_loop_that_is_stopped_leaves_no_program_behind() -> None:
    program = Played(script("say(str(os.getpid())); time.sleep(600)"))

    async def begin() -> int:
        await program.bot.start(INFO)
        (said,) = await until_logged(program, 1)
        return int(said.split()[-1])

    assert not alive(asyncio.run(begin()))


async def test_closing_ends_what_is_left() -> None:
    program = Played(script("say(str(os.getpid())); told(); told()"))
    await program.bot.start(INFO)
    (said,) = await until_logged(program, 1)
    await program.made_by.close()
    assert not alive(int(said.split()[-1]))


# ----------------------------------------------------------------------- its name


def test_a_program_is_named_by_its_file(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clever.py").write_text("one")
    named = {
        " ".join(words): Stdio(words).name
        for words in (
            ("./clever.py", "other.py"),
            ("python3", "-u", "clever.py", "--level", "3"),
            ("sh", "-c", "x" * 5000 + "\0"),
            ("/no/where/bot", "clever.py"),
        )
    }
    assert list(named.values()) == ["clever", "clever", "sh", "bot"]


def test_another_file_is_another_build(tmp_path: Path) -> None:
    bot = tmp_path / "bot"
    bot.write_text("one")
    first = Stdio(["python3", str(bot)]).build
    bot.write_text("two")
    assert len(first) == 16
    assert Stdio(["python3", str(bot)]).build != first
    assert Stdio(["/no/where/bot"]).build == ""
    assert program_file([sys.executable]) == Path(sys.executable)


@pytest.fixture(autouse=True)
def _told(caplog) -> None:
    caplog.set_level(logging.INFO, "fritillary_client")
