"""Programs that the arena starts."""

from __future__ import annotations

import ast
import asyncio
import os
import shlex
import signal
import sys
import textwrap
from pathlib import Path

import msgpack
import pytest
from tests.service.house import PATIENT
from tests.service.rawbot import until
from tests.service.stopwatch import Stopwatch

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.record.chain import payloads
from fritillary.record.terms import ClockSettings, EndKind, LinkBank, Policy, Terms
from fritillary.referee.lineup import parse_player
from fritillary.service import children
from fritillary.service.children import command_of
from fritillary.service.spawn import Child, Output, ProcessLimits, minimal_environment

HERE = Path(__file__).parent
PROGRAM = f"{shlex.quote(sys.executable)} {shlex.quote(str(HERE / 'program.py'))}"

#: So that nobody wins before the program has failed.
LONG = {"target": 200}

pytestmark = pytest.mark.system

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="asks the Linux kernel")


def program(how, *arguments):
    return f"exec:{PROGRAM} {shlex.join([how, *map(str, arguments)])}"


def tree(marks):
    """Return a wrapped program that has left a process in a session of its own."""
    mark, stray = marks
    script = (
        f"setsid sleep 600 & echo $! > {shlex.quote(str(stray))}; "
        f"{PROGRAM} sleep {shlex.quote(str(mark))}; echo done"
    )
    return f"exec:sh -c {shlex.quote(script)}"


async def pids(marks):
    await until(lambda: all(mark.exists() and mark.read_text() for mark in marks))
    found = [int(mark.read_text()) for mark in marks]
    assert all(map(alive, found))
    return found


def rulings(hosted):
    events = [msgpack.unpackb(raw) for raw, _ in payloads(hosted.record())]
    return [one for one in events if one["type"] == "ruling"]


def alive(pid):
    try:
        os.kill(pid, 0)
        status = Path(f"/proc/{pid}/status").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False
    # A zombie that nobody has waited for is dead.
    return "State:\tZ" not in status


async def gone(pid):
    await until(lambda: not alive(pid))


async def test_a_program_plays_a_match_and_is_ended(open_stage, tmp_path):
    stage = await open_stage(records=tmp_path)
    hosted = stage.arena.create(
        "pig", [program("environment"), "uniform"], match_id="m", terms=PATIENT
    )
    result = await hosted.ended
    assert result.finish.kind is EndKind.PLAYED
    await stage.arena.close()
    log = (tmp_path / "m.seat0.log").read_text().splitlines()
    assert log[0] == f"player {program('environment')}"
    names = set(ast.literal_eval(log[1]))
    assert {"FRITILLARY_ADDRESS", "FRITILLARY_TOKEN", "PATH"} <= names
    assert names <= {
        *("FRITILLARY_ADDRESS", "FRITILLARY_TOKEN", "PATH", "HOME", "LANG", "LC_ALL"),
        *("LC_CTYPE", "TMPDIR", "TZ", "VIRTUAL_ENV", "PYTHONPATH", "PYTHONUNBUFFERED"),
    }
    assert not stage.arena.hub._links
    assert not stage.arena.tokens._passing


async def test_secrets_are_not_inherited(monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    assert "AWS_SECRET_ACCESS_KEY" not in minimal_environment({})


@pytest.mark.parametrize(
    ("player", "words", "more"),
    [
        (
            "exec:no-such-program-anywhere",
            "cannot be started",
            "no executable command 'no-such-program-anywhere'",
        ),
        ("exec:./no/such/file", "cannot be started", "no executable file './no/such/f"),
        (program("crash"), "exit code 1 before it dialled in", "no such file: weights"),
        (program("crash-offer"), "exit code 3", "exit code 3"),
    ],
)
async def test_a_program_that_does_not_start_is_told_at_once(
    stage, player, words, more
):
    watch = Stopwatch()
    hosted = stage.arena.create("pig", [player, "uniform"], terms=PATIENT)
    result = await hosted.ended
    assert result.finish.code == "fault.refused-to-start"
    assert words in rulings(hosted)[0]["message"]
    # The result, which all are told, says nothing of it.
    assert words not in result.finish.message
    [(seat, problem)] = hosted.problems
    assert seat == 0
    assert more in problem
    assert watch.ms() < PATIENT.offer_ms - 20_000


async def test_a_program_that_hangs_is_not_waited_for_longer_than_an_offer(stage):
    terms = Terms(offer_ms=700, margin_ms=0)
    hosted = stage.arena.create("pig", [program("hang"), "uniform"], terms=terms)
    result = await hosted.ended
    assert result.finish.code == "fault.refused-to-start"
    assert "did not dial in" in rulings(hosted)[0]["message"]
    assert "did not dial in" in hosted.problems[0][1]


async def test_garbage_on_standard_output_harms_nothing(stage):
    result = await stage.arena.play(
        "pig", [program("garbage"), "uniform"], terms=PATIENT
    )
    assert result.finish.kind is EndKind.PLAYED


async def test_a_program_that_dies_is_started_again_and_goes_on(stage, tmp_path):
    hosted = stage.arena.create(
        "pig",
        [program("crash-once", tmp_path / "mark"), "uniform"],
        options=LONG,
        terms=PATIENT,
    )
    result = await hosted.ended
    assert (tmp_path / "mark").exists()
    assert result.finish.kind is EndKind.PLAYED
    assert not rulings(hosted)
    [(seat, problem)] = hosted.problems
    assert seat == 0
    assert "SIGABRT; its last words: out of cheese" in problem


async def test_a_program_that_dies_too_often_has_crashed(stage):
    hosted = stage.arena.create(
        "pig", [program("crash-always"), "uniform"], options=LONG, terms=PATIENT
    )
    result = await hosted.ended
    assert result.finish.code == "fault.crashed"
    message = rulings(hosted)[0]["message"]
    assert message.endswith("exit code 9")
    assert [one.rpartition(": ")[2] for _, one in hosted.problems] == [
        "the sky is falling"
    ] * 2


async def test_without_restarts_the_signal_is_told(stage, tmp_path):
    terms = Terms(policy=Policy.of(link=LinkBank(restarts=0)), offer_ms=100_000)
    hosted = stage.arena.create(
        "pig",
        [program("crash-once", tmp_path / "mark"), "uniform"],
        terms=terms,
        options=LONG,
    )
    result = await hosted.ended
    assert result.finish.code == "fault.crashed"
    assert rulings(hosted)[0]["message"].endswith("SIGABRT")


#: So little that the clock runs out long before a lost link is given up.
HASTE = {
    "clocks": ClockSettings(move_ms=4_000),
    "terms": Terms(policy=Policy.of(link=LinkBank(restarts=0)), offer_ms=100_000),
    "options": LONG,
}


async def test_a_program_that_says_it_has_failed_loses_by_that_and_not_by_its_link(
    stage,
):
    hosted = stage.arena.create("pig", [program("fail-and-stay"), "uniform"], **HASTE)
    result = await hosted.ended
    assert result.finish.code == "fault.crashed"
    [ruling] = rulings(hosted)
    assert ruling["message"].startswith(
        "the bot said that it had failed, and the clock"
    )
    assert ruling["code"] == "bot.failed"
    assert result.finish.message == (
        "seat 0: the bot said that it had failed, and was not back"
    )
    assert hosted.problems == [(0, "out of ink")]


async def test_a_bot_that_dials_in_and_says_it_has_failed_is_told_of(stage):
    bank = LinkBank(loss_ms=10)
    async with stage.bot() as bot:
        terms = Terms(policy=Policy.of(link=bank))
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"], terms=terms)
        await bot.until("decision_request")
        await bot.send(goodbye=pb.Goodbye(code="bot.failed", message="out of ink"))
        result = await hosted.ended
    assert result.finish.code == "fault.disconnected"
    [ruling] = rulings(hosted)
    assert ruling["message"] == (
        "the bot said that it had failed, and it was not back within 0.01 s"
    )
    # All hear the reason, and nothing that the bot has written.
    assert result.finish.message == (
        "seat 0: the bot said that it had failed, and was not back"
    )
    assert hosted.problems == [(0, "out of ink")]
    assert b"out of ink" not in hosted.record()


async def test_a_bot_that_fails_again_and_again_hides_nothing_of_other_seats(stage):
    hosted = stage.arena.create("pig", ["uniform", "uniform"])
    hosted.trouble(0, "out of ink")
    for number in range(100):
        hosted.trouble(1, f"failed {number}")
    await hosted.ended
    assert hosted.problems == [
        (0, "out of ink"),
        *((1, f"failed {number}") for number in range(84, 100)),
    ]


async def test_how_a_program_ends_is_told_also_after_its_match_is_lost(stage, tmp_path):
    mark = tmp_path / "mark"
    hosted = stage.arena.create("pig", [program("hang-up", mark), "uniform"], **HASTE)
    result = await hosted.ended
    mark.unlink()
    assert result.finish.code == "fault.disconnected"
    await until(lambda: hosted.problems)
    [(seat, problem)] = hosted.problems
    assert seat == 0
    assert problem == (
        "the program ended with exit code 3; its last words: "
        "error: the cat has the dice"
    )


async def test_what_may_be_secret_stays_with_the_host(open_stage, tmp_path):
    stage = await open_stage(records=tmp_path)
    script = tmp_path / "folder" / "leak.sh"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\necho token S3CRET-IN-WORDS >&2; exit 4\n")
    script.chmod(0o755)
    player = f"exec:{script} --api-key=S3CRET"
    hosted = stage.arena.create("pig", [player, "uniform"], match_id="m", terms=PATIENT)
    await hosted.ended
    await stage.arena.close()
    record = hosted.record()
    assert b"exec:leak.sh" in record
    assert b"S3CRET" not in record
    assert b"folder" not in record
    log = (tmp_path / "m.seat0.log").read_text()
    assert log.startswith(f"player {player}\ntoken S3CRET-IN-WORDS\n")
    assert log.endswith(
        "exit code 4 before it dialled in; its last words: token S3CRET-IN-WORDS\n"
    )
    assert (tmp_path / "m.seat0.log").stat().st_mode & 0o777 == 0o600
    told = [hosted.to_proto(for_referee=who) for who in (True, False)]
    assert [one.seat for one in told[0].problems] == [0]
    assert "S3CRET-IN-WORDS" in told[0].problems[0].message
    assert list(told[0].players) == [player, "uniform"]
    assert b"S3CRET" not in told[1].SerializeToString()


async def test_programs_die_with_the_arena(stage, tmp_path):
    mark = tmp_path / "pid"
    hosted = stage.arena.create(
        "pig", [program("sleep", mark), "uniform"], terms=PATIENT
    )
    await until(lambda: mark.exists() and mark.read_text())
    pid = int(mark.read_text())
    assert alive(pid)
    await stage.arena.close()
    assert (await hosted.ended).finish.kind is EndKind.WITHDRAWN
    assert not alive(pid)


@LINUX
async def test_nothing_that_a_program_has_started_outlives_its_match(stage, tmp_path):
    marks = tmp_path / "bot", tmp_path / "stray"
    hosted = stage.arena.create("pig", [tree(marks), "uniform"], terms=PATIENT)
    found = await pids(marks)
    hosted.abort(EndKind.VOID, "test", "enough")
    await hosted.ended
    for pid in found:
        await gone(pid)


@LINUX
async def test_nothing_that_a_program_has_started_outlives_it(tmp_path):
    stray = tmp_path / "stray"
    child = Child(
        ["sh", "-c", f"setsid sleep 600 & echo $! > {stray}; exit 5"],
        minimal_environment({}),
        ProcessLimits(),
    )
    await child.start()
    assert await child.wait() == 5
    assert not alive(int(stray.read_text()))
    await child.end()


@LINUX
async def test_a_launcher_that_was_stopped_ends_all_the_same(tmp_path):
    stray = tmp_path / "stray"
    script = f"setsid sleep 600 & echo $! > {stray}; kill -STOP $PPID; sleep 600"
    child = Child(["sh", "-c", script], minimal_environment({}), ProcessLimits())
    await child.start()
    [pid] = await pids([stray])
    await child.end()
    assert not alive(pid)


@pytest.mark.parametrize(
    ("script", "code"),
    [("exit 0", 0), ("exit 77", 77), ("kill -ABRT $$", -6), ("kill -9 $$", -9)],
)
async def test_a_program_ends_as_it_ended(script, code):
    child = Child(["sh", "-c", script], minimal_environment({}), ProcessLimits())
    await child.start()
    assert await child.wait() == code
    await child.end()


async def test_programs_die_when_the_match_is_cancelled(stage, tmp_path):
    mark = tmp_path / "pid"
    hosted = stage.arena.create(
        "pig", [program("sleep", mark), "uniform"], terms=PATIENT
    )
    await until(lambda: mark.exists() and mark.read_text())
    pid = int(mark.read_text())
    stage.arena.running.tasks[hosted.id].cancel()
    await gone(pid)


@LINUX
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGHUP])
async def test_programs_die_with_a_server_that_is_killed(tmp_path, how):
    marks = tmp_path / "bot", tmp_path / "stray"
    script = textwrap.dedent(
        f"""
        import asyncio, sys
        sys.path.insert(0, {str(HERE.parent.parent)!r})
        from tests.service import pig
        from tests.service.house import PATIENT
        from fritillary.service.arena import Arena
        from fritillary.service.server import Server

        async def main():
            async with Arena(pig.registry()) as arena, Server(arena):
                players = [{tree(marks)!r}, "uniform"]
                await arena.play("pig", players, terms=PATIENT)

        asyncio.run(main())
        """
    )
    server = await asyncio.create_subprocess_exec(sys.executable, "-c", script)
    try:
        found = await pids(marks)
    finally:
        server.send_signal(how)
        await server.wait()
    await until(lambda: not any(map(alive, found)))


async def test_limits_hold():
    script = (
        "import resource as r; "
        "print(*map(r.getrlimit, (r.RLIMIT_NOFILE, r.RLIMIT_CORE, r.RLIMIT_DATA)))"
    )
    child = Child(
        [sys.executable, "-c", script],
        minimal_environment({}),
        ProcessLimits(files=77, memory_bytes=2**30),
    )
    await child.start()
    assert await child.wait() == 0
    await child.end()
    assert child.out.last_words() == f"(77, 77) (0, 0) ({2**30}, {2**30})"


async def test_a_program_cannot_take_more_memory_than_its_limit():
    child = Child(
        [sys.executable, "-c", "x = bytearray(2**29)"],
        minimal_environment({}),
        ProcessLimits(memory_bytes=2**28),
    )
    await child.start()
    assert await child.wait() == 1
    await child.end()
    assert child.err.last_words() == "MemoryError"


def test_of_much_output_the_ends_are_kept():
    output = Output()
    output.add(b"first\n")
    for _ in range(10_000):
        output.add(b"x" * 99 + b"\n")
    output.add(b"last\x1b[0m\n  \n")
    kept = output.getvalue()
    assert len(kept) < 100_000
    assert kept.startswith(b"first\n")
    assert b"bytes left out" in kept
    assert output.last_words() == "last\N{REPLACEMENT CHARACTER}[0m"


def test_a_python_class_is_started_by_the_bot_command():
    command = command_of(parse_player("python:my.bots:Clever"))
    assert command == (
        sys.executable,
        "-m",
        "fritillary",
        "bot",
        "python:my.bots:Clever",
    )


async def test_a_python_player_is_a_program_like_any_other(stage, monkeypatch):
    monkeypatch.setattr(
        children,
        "command_of",
        lambda _: (sys.executable, str(HERE / "program.py"), "play"),
    )
    result = await stage.arena.play(
        "pig", ["python:my.bots:Clever", "uniform"], terms=PATIENT
    )
    assert result.finish.kind is EndKind.PLAYED


async def test_the_error_of_a_program_is_told_and_not_its_stack():
    stack = (
        "panic: no such tile\n\ngoroutine 1 [running]:\nmain.main()\n\t/bot.go:3 +0x1"
    )
    child = Child(
        ["sh", "-c", f"echo '{stack}' >&2; exit 2"],
        minimal_environment({}),
        ProcessLimits(),
    )
    await child.start()
    assert await child.wait() == 2
    assert child.last_words() == "panic: no such tile"
    await child.end()
