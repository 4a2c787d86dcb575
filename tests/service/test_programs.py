"""Programs that the arena starts."""

from __future__ import annotations

import ast
import asyncio
import os
import shlex
import sys
import textwrap
import time
from pathlib import Path

import msgpack
import pytest
from tests.service.rawbot import until

from fritillary.record.chain import payloads
from fritillary.record.terms import EndKind, LinkBank, Policy, Terms
from fritillary.referee.lineup import parse_player
from fritillary.service import children
from fritillary.service.children import command_of
from fritillary.service.spawn import Child, Output, ProcessLimits, minimal_environment

HERE = Path(__file__).parent
PROGRAM = f"{shlex.quote(sys.executable)} {shlex.quote(str(HERE / 'program.py'))}"

#: So that nobody wins before the program has failed.
LONG = {"target": 200}

pytestmark = pytest.mark.system


def program(how, *arguments):
    return f"exec:{PROGRAM} {shlex.join([how, *map(str, arguments)])}"


def rulings(hosted):
    events = [msgpack.unpackb(raw) for raw, _ in payloads(hosted.record())]
    return [one for one in events if one["type"] == "ruling"]


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A zombie that nobody has waited for is dead.
    return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()


async def gone(pid):
    await until(lambda: not alive(pid))


async def test_a_program_plays_a_match_and_is_ended(open_stage, tmp_path):
    stage = await open_stage(records=tmp_path)
    hosted = stage.arena.create(
        "pig", [program("environment"), "uniform"], match_id="m"
    )
    result = await hosted.ended
    assert result.finish.kind is EndKind.PLAYED
    await stage.arena.close()
    log = (tmp_path / "m.seat0.log").read_text()
    names = set(ast.literal_eval(log.splitlines()[0]))
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
    ("player", "words"),
    [
        ("exec:no-such-program-anywhere", "no executable command"),
        ("exec:./no/such/file", "no executable file"),
        (program("crash"), "exit code 1 before it dialled in; its last words: no such"),
        (program("crash-offer"), "exit code 3"),
    ],
)
async def test_a_program_that_does_not_start_is_told_at_once(stage, player, words):
    began = time.monotonic()
    hosted = stage.arena.create("pig", [player, "uniform"])
    result = await hosted.ended
    assert result.finish.code == "fault.refused-to-start"
    assert words in rulings(hosted)[0]["message"]
    # The result, which all are told, says nothing of it.
    assert words not in result.finish.message
    assert time.monotonic() - began < 8


async def test_a_program_that_hangs_is_not_waited_for_longer_than_an_offer(stage):
    terms = Terms(offer_ms=700, margin_ms=0)
    hosted = stage.arena.create("pig", [program("hang"), "uniform"], terms=terms)
    result = await hosted.ended
    assert result.finish.code == "fault.refused-to-start"
    assert "did not dial in" in rulings(hosted)[0]["message"]


async def test_garbage_on_standard_output_harms_nothing(stage):
    result = await stage.arena.play("pig", [program("garbage"), "uniform"])
    assert result.finish.kind is EndKind.PLAYED


async def test_a_program_that_dies_is_started_again_and_goes_on(stage, tmp_path):
    hosted = stage.arena.create(
        "pig", [program("crash-once", tmp_path / "mark"), "uniform"], options=LONG
    )
    result = await hosted.ended
    assert (tmp_path / "mark").exists()
    assert result.finish.kind is EndKind.PLAYED
    assert not rulings(hosted)


async def test_a_program_that_dies_too_often_has_crashed(stage):
    hosted = stage.arena.create(
        "pig", [program("crash-always"), "uniform"], options=LONG
    )
    result = await hosted.ended
    assert result.finish.code == "fault.crashed"
    message = rulings(hosted)[0]["message"]
    assert "exit code 9" in message
    assert "the sky is falling" in message


async def test_without_restarts_the_signal_is_told(stage, tmp_path):
    terms = Terms(policy=Policy.of(link=LinkBank(restarts=0)))
    hosted = stage.arena.create(
        "pig",
        [program("crash-once", tmp_path / "mark"), "uniform"],
        terms=terms,
        options=LONG,
    )
    result = await hosted.ended
    assert result.finish.code == "fault.crashed"
    assert "SIGABRT; its last words: out of cheese" in rulings(hosted)[0]["message"]


async def test_programs_die_with_the_arena(stage, tmp_path):
    mark = tmp_path / "pid"
    hosted = stage.arena.create("pig", [program("sleep", mark), "uniform"])
    await until(lambda: mark.exists() and mark.read_text())
    pid = int(mark.read_text())
    assert alive(pid)
    await stage.arena.close()
    assert (await hosted.ended).finish.kind is EndKind.WITHDRAWN
    assert not alive(pid)


async def test_programs_die_when_the_match_is_cancelled(stage, tmp_path):
    mark = tmp_path / "pid"
    hosted = stage.arena.create("pig", [program("sleep", mark), "uniform"])
    await until(lambda: mark.exists() and mark.read_text())
    pid = int(mark.read_text())
    stage.arena._tasks[hosted.id].cancel()
    await gone(pid)


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="asks the Linux kernel"
)
async def test_programs_die_with_a_server_that_is_killed(tmp_path):
    mark = tmp_path / "pid"
    script = textwrap.dedent(
        f"""
        import asyncio, sys
        sys.path.insert(0, {str(HERE.parent.parent)!r})
        from tests.service import pig
        from fritillary.service.arena import Arena
        from fritillary.service.server import Server

        async def main():
            async with Arena(pig.registry()) as arena, Server(arena):
                await arena.play("pig", [{program("sleep", mark)!r}, "uniform"])

        asyncio.run(main())
        """
    )
    server = await asyncio.create_subprocess_exec(sys.executable, "-c", script)
    try:
        await until(lambda: mark.exists() and mark.read_text())
        pid = int(mark.read_text())
        assert alive(pid)
    finally:
        server.kill()
        await server.wait()
    await gone(pid)


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
    assert child.out.last_line() == f"(77, 77) (0, 0) ({2**30}, {2**30})"


async def test_a_program_cannot_take_more_memory_than_its_limit():
    child = Child(
        [sys.executable, "-c", "x = bytearray(2**29)"],
        minimal_environment({}),
        ProcessLimits(memory_bytes=2**28),
    )
    await child.start()
    assert await child.wait() == 1
    await child.end()
    assert child.err.last_line() == "MemoryError"


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
    assert output.last_line() == "last\N{REPLACEMENT CHARACTER}[0m"


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
    result = await stage.arena.play("pig", ["python:my.bots:Clever", "uniform"])
    assert result.finish.kind is EndKind.PLAYED
