"""Bots as programs: signals, exit codes, and what a person reads."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
from pathlib import Path

import grpc
import pytest
from tests.clients.python.fake_arena import WITHIN_S, FakeArena, Stream

from fritillary.api.v1 import common_pb2 as common
from fritillary_client import Ask, main, run

ROOT = Path(__file__).parents[3]
UNIFORM = ROOT / "examples" / "bots" / "uniform.py"

pytestmark = pytest.mark.system


async def result(program: asyncio.subprocess.Process) -> tuple[int, str]:
    """Exit code and standard error of a program that ends."""
    _, err = await asyncio.wait_for(program.communicate(), WITHIN_S)
    assert program.returncode is not None
    return program.returncode, err.decode()


async def error_line(program: asyncio.subprocess.Process, text: str) -> str:
    """The next line of standard error in which there is a text."""
    assert program.stderr is not None
    while True:
        line = await asyncio.wait_for(program.stderr.readline(), WITHIN_S)
        assert line, f"the program ended before {text}"
        if text in line.decode():
            return line.decode()


async def connected(arena: FakeArena) -> Stream:
    stream = await arena.stream()
    await stream.welcome()
    return stream


async def test_the_example_plays_and_leaves_with_success(arena, start) -> None:
    program = await start(UNIFORM, "--matches", "1")
    stream = await connected(arena)
    assert stream.hello.bot.name == "uniform"
    await stream.seated()
    await stream.ask()
    assert (await stream.find("decision")).index in {1, 2, 3}
    await stream.ended()
    code, err = await result(program)
    assert code == 0
    assert err.splitlines() == [
        f"connected to {arena.address} as tester (server 0.0-fake)",
        "match m1, nim, seat 0: played, place 1 of 2, most-points",
    ]


async def test_ctrl_c_lets_the_matches_in_play_end(arena, start) -> None:
    program = await start(UNIFORM)
    stream = await connected(arena)
    await stream.seated()
    program.send_signal(signal.SIGINT)
    assert (await stream.find("capacity")).matches == 0
    await stream.ask()
    await stream.find("decision")
    await stream.ended()
    assert (await stream.find("goodbye")).code == "bot.stopping"
    code, err = await result(program)
    assert code == 0
    assert "Traceback" not in err
    assert "again to stop now" in err


async def test_ctrl_c_without_a_match_is_the_end(arena, start) -> None:
    program = await start(UNIFORM)
    stream = await connected(arena)
    await error_line(program, "connected to")
    program.send_signal(signal.SIGINT)
    assert (await stream.find("goodbye")).code == "bot.stopping"
    code, err = await result(program)
    assert (code, err.splitlines()[-1]) == (0, "stopping")


async def test_ctrl_c_without_a_match_is_the_end_while_the_server_is_away(
    arena, start
) -> None:
    program = await start(UNIFORM)
    await connected(arena)
    await arena.stop()
    await error_line(program, "(Connection refused); trying again for ")
    program.send_signal(signal.SIGINT)
    code, err = await result(program)
    assert (code, err.splitlines()[-1]) == (0, "stopping")


async def test_ctrl_c_in_a_match_says_that_the_server_is_waited_for(
    arena, start
) -> None:
    program = await start(UNIFORM)
    stream = await connected(arena)
    await stream.seated()
    await arena.stop()
    await error_line(program, "(Connection refused); trying again for ")
    program.send_signal(signal.SIGINT)
    await error_line(program, "have ended; the server is away, and is waited for; ")
    program.send_signal(signal.SIGINT)
    code, err = await result(program)
    assert (code, err.splitlines()[-1]) == (1, "left 1 match unfinished")


@pytest.mark.parametrize(
    "numbers",
    [[signal.SIGINT] * 2, [signal.SIGTERM] * 2, [signal.SIGTERM, signal.SIGINT]],
)
async def test_a_second_ctrl_c_or_terminate_leaves_at_once(
    arena, start, numbers
) -> None:
    program = await start(
        "import sys, time\n"
        "from fritillary_client import run\n"
        "def decide(ask):\n"
        "    print('thinking', file=sys.stderr, flush=True)\n"
        "    time.sleep(600)\n"
        "run(decide)\n"
    )
    stream = await connected(arena)
    await stream.seated()
    await stream.ask()
    # Of two signals that come at once a program may see one.
    for number, seen in zip(numbers, ("thinking", "again to stop now"), strict=True):
        await error_line(program, seen)
        program.send_signal(number)
    assert (await stream.find("goodbye")).code == "bot.stopping"
    code, err = await result(program)
    assert code == 1
    assert err.splitlines()[-1] == "left 1 match unfinished"
    assert "Traceback" not in err


async def test_a_bot_that_raises_shows_its_traceback_and_fails(arena, start) -> None:
    program = await start(
        "from fritillary_client import run\n"
        "def decide(ask):\n"
        "    return {}['missing']\n"
        "run(decide)\n"
    )
    stream = await connected(arena)
    await stream.seated()
    await stream.ask()
    goodbye = await stream.find("goodbye")
    assert goodbye.code == "bot.failed"
    # What the bot itself says may hold anything.
    assert goodbye.message == "the bot failed: decide() raised KeyError"
    code, err = await result(program)
    assert code == 1
    assert "Traceback" in err
    assert err.count("KeyError: 'missing'") >= 2
    assert err.splitlines()[-1] == (
        "error: decide() raised KeyError: 'missing' [bot.failed]"
    )


async def test_goodbye_for_good_ends_the_program_with_success(arena, start) -> None:
    program = await start(UNIFORM)
    stream = await connected(arena)
    await stream.goodbye("session.replaced", message="the bot has dialled in anew")
    code, err = await result(program)
    assert code == 0
    assert err.splitlines()[-1] == (
        "the server says goodbye: the bot has dialled in anew [session.replaced]"
    )


async def test_a_program_whose_place_is_taken_in_a_match_says_so_and_fails(
    arena, start
) -> None:
    program = await start(UNIFORM)
    stream = await connected(arena)
    await stream.seated()
    await stream.goodbye("session.replaced", message="the bot has dialled in anew")
    code, err = await result(program)
    assert code == 1
    goodbye, last = err.splitlines()[-2:]
    assert goodbye.endswith("[session.replaced]")
    assert last == "left 1 match unfinished"


async def test_a_lost_link_is_told_in_our_words_alone(arena, start) -> None:
    program = await start(
        "from fritillary_client import run\n"
        "run(lambda ask: 1, give_up_after=5, name='x')\n"
    )
    await connected(arena)
    await arena.stop()
    code, err = await result(program)
    assert code == 1
    connected_to, lost, *others, error = err.splitlines()
    assert connected_to.startswith("connected to")
    assert lost.endswith("; trying again for 5 s")
    # However often it is tried, each reason is told once.
    reasons = [re.sub(r"; trying again for [0-5] s$", "", line) for line in others]
    assert len({lost, *reasons}) == len(others) + 1
    assert reasons[-1].endswith("(Connection refused)")
    assert error.endswith("[link.unreachable]")


async def test_a_token_that_is_revoked_is_told_once(arena, start) -> None:
    program = await start(UNIFORM)
    stream = await connected(arena)
    await stream.goodbye("auth.revoked-token", message="the token was revoked")
    code, err = await result(program)
    assert code == 1
    assert err.splitlines()[1:] == ["error: the token was revoked [auth.revoked-token]"]


async def test_an_unknown_token_is_one_line(arena, start) -> None:
    program = await start(UNIFORM, "--token", "wrong")
    stream = await arena.stream()
    info = common.ErrorInfo(code="auth.unknown-token", message="no such token")
    await stream.refuse(
        grpc.StatusCode.UNAUTHENTICATED,
        "x",
        (("fritillary-error-bin", info.SerializeToString()),),
    )
    code, err = await result(program)
    assert (code, err) == (1, "error: no such token [auth.unknown-token]\n")
    assert arena.metadata[0]["authorization"] == "Bearer wrong"


async def test_no_server_and_no_token_are_one_line(start) -> None:
    program = await start(UNIFORM, "--address", "127.0.0.1:1")
    code, err = await result(program)
    assert code == 1
    assert err == (
        "error: no server answers at 127.0.0.1:1 (Connection refused) "
        "[link.unreachable]\n"
    )
    program = await start(UNIFORM, env={"FRITILLARY_TOKEN": ""})
    code, err = await result(program)
    assert code == 1
    assert err == (
        "error: there is no token; give token='...' (--token), or set "
        "FRITILLARY_TOKEN [usage.token]\n"
    )


def test_the_command_line_wins_over_what_the_program_says(capsys) -> None:
    def decide(ask: Ask) -> int:
        return 0

    with pytest.raises(SystemExit) as caught:
        main(decide, ["--capacity", "0"], address="localhost:1")
    assert caught.value.code == 2
    assert "at least 1" in capsys.readouterr().err
    with pytest.raises(SystemExit) as caught:
        main(decide, ["--address", "nowhere"], address="localhost:1", token="t")
    assert caught.value.code == 1


def test_a_program_with_logging_of_its_own_keeps_it(caplog, capsys) -> None:
    with pytest.raises(SystemExit):
        run(lambda _: 0, address="127.0.0.1:1", token="t")
    assert "no server answers" in caplog.text
    assert "no server answers" not in capsys.readouterr().err


def test_importing_the_client_imports_no_game_and_no_server() -> None:
    program = (
        "import sys, fritillary_client\n"
        "print([m for m in sys.modules if m.startswith(('fritillary_games',"
        "'fritillary.service', 'fritillary.referee', 'cryptography', 'rich',"
        "'typer', 'numpy'))])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
