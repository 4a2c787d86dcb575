"""The simulator as a service: its processes, limits, cancelled calls, health, end."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import (  # type: ignore[import-untyped]
    health_pb2,
    health_pb2_grpc,
)
from grpc_reflection.v1alpha import (  # type: ignore[import-untyped]
    reflection_pb2,
    reflection_pb2_grpc,
)
from tests.service.calls import code_of, outcome_of
from tests.service.simcalls import Asking, decision
from tests.service.simgames import REGISTRY
from tests.service.tape import until
from tests.service.test_programs import alive

from fritillary.api.v1 import common_pb2, simulator_pb2_grpc
from fritillary.api.v1 import simulator_pb2 as pb
from fritillary.codec.packing import pack, unpack
from fritillary.core.errors import ServiceError, UsageError
from fritillary.service.simulator import SimulatorServer
from fritillary.service.simulator_limits import SimulatorLimits
from fritillary.service.spawn import minimal_environment

pytestmark = pytest.mark.system

#: A busy machine is no bug.
WITHIN = 60.0


class Running:
    """A simulator that runs, and a stub.

    Attributes:
        server: the simulator.
        stub: of its service.
        channel: to it.
    """

    def __init__(self, server, channel):
        self.server = server
        self.channel = channel
        self.stub = simulator_pb2_grpc.SimulatorServiceStub(channel)

    @property
    def pids(self):
        """Of the processes that work."""
        return [each._process.pid for each in self.server._pool._all]

    async def trap(self, how):
        """Return Trap as it is opened, and a world of it."""
        payload = common_pb2.Payload(
            encoding=common_pb2.ENCODING_JSON, data=f'{{"how": "{how}"}}'.encode()
        )
        opened = await self.stub.OpenGame(
            pb.OpenGameRequest(
                game="trap", options=common_pb2.OptionsChoice(options=payload)
            )
        )
        sampled = await self.stub.SampleWorlds(
            pb.SampleWorldsRequest(
                game=opened.game,
                observation=decision("trap").observation,
                count=1,
            )
        )
        return opened.game, sampled.worlds

    def endless(self, game, worlds):
        """Begin a call that does not end by itself in any time of a test."""
        tasks = [pb.PlayOutTask(count=1_000_000)]
        return self.stub.PlayOut(
            pb.PlayOutRequest(game=game, worlds=worlds, tasks=tasks)
        )

    async def works(self):
        """Check that a call is answered."""
        async with asyncio.timeout(WITHIN):
            opened = await self.stub.OpenGame(pb.OpenGameRequest(game="pig"))
        assert opened.seats == 2


@pytest.fixture
async def simulator():
    """Return a function that starts a simulator."""
    async with contextlib.AsyncExitStack() as stack:

        async def start(**limits):
            given = SimulatorLimits(**{"workers": 1, **limits})
            server = SimulatorServer(limits=given, registry=REGISTRY)
            await stack.enter_async_context(server)
            channel = await stack.enter_async_context(
                grpc.aio.insecure_channel(server.address)
            )
            return Running(server, channel)

        yield start


def pig(count=1):
    """Return Pig as it is opened, and worlds of it."""
    return Asking().at(decision("pig"), count=count)


# ----------------------------------------------------------------------- answering


async def test_it_answers_what_the_same_calls_answer_in_process(simulator):
    running = await simulator(workers=2)
    asking = Asking(workers=2)
    one = decision("lepidoptery", 5)
    request = pb.OpenGameRequest(game="lepidoptery", seats=2)
    opened = await running.stub.OpenGame(request)
    assert opened == asking.open("lepidoptery", seats=2)
    fields = {"game": opened.game, "observation": one.observation, "seat": one.seat}
    sampled = await running.stub.SampleWorlds(
        pb.SampleWorldsRequest(**fields, count=9, seed=4)
    )
    worlds = sampled.worlds
    assert worlds == asking.sample(**fields, count=9, seed=4)
    positions = await running.stub.GetPositions(
        pb.GetPositionsRequest(game=opened.game, worlds=worlds, expanded=True)
    )
    found = asking.positions(game=opened.game, worlds=worlds, expanded=True)
    assert list(positions.positions) == found
    seen = await running.stub.ObserveWorlds(
        pb.ObserveWorldsRequest(game=opened.game, worlds=worlds, seat=1)
    )
    assert list(seen.observations) == asking.observe(
        game=opened.game, worlds=worlds, seat=1
    )
    index = found[0].legal[0]
    steps = [pb.SimulatedStep(world=world, index=index) for world in worlds]
    applied = await running.stub.ApplyActions(
        pb.ApplyActionsRequest(game=opened.game, steps=steps)
    )
    assert list(applied.results) == asking.apply(game=opened.game, steps=steps)
    tasks = [pb.PlayOutTask(index=each, count=2) for each in found[0].legal[:4]]
    fields = {"game": opened.game, "worlds": worlds, "tasks": tasks, "seed": 5}
    # Whichever process works on it, and however many calls run.
    answers = await asyncio.gather(
        *(running.stub.PlayOut(pb.PlayOutRequest(**fields)) for _ in range(5))
    )
    assert all(each == asking.play_out(**fields) for each in answers)


async def test_errors_have_a_code_and_a_status(simulator):
    running = await simulator()
    game, worlds = pig()
    for call, code, status in (
        (
            running.stub.OpenGame(pb.OpenGameRequest(game="nope")),
            "game.unknown",
            grpc.StatusCode.NOT_FOUND,
        ),
        (
            running.stub.PlayOut(pb.PlayOutRequest(game=b"x")),
            "simulator.game",
            grpc.StatusCode.INVALID_ARGUMENT,
        ),
        (
            running.stub.GetPositions(pb.GetPositionsRequest(game=game, worlds=[b""])),
            "simulator.world",
            grpc.StatusCode.INVALID_ARGUMENT,
        ),
        (
            running.stub.PlayOut(pb.PlayOutRequest(game=game, policy="greedy")),
            "rollout.policy",
            grpc.StatusCode.INVALID_ARGUMENT,
        ),
        (
            running.stub.GetPositions(
                pb.GetPositionsRequest(game=game, worlds=worlds * 5000)
            ),
            "limit.worlds",
            grpc.StatusCode.RESOURCE_EXHAUSTED,
        ),
    ):
        assert await outcome_of(call) == code
        assert await call.code() is status


async def test_a_request_that_is_too_large_is_refused(simulator):
    running = await simulator(max_message_bytes=2000)
    request = pb.GetPositionsRequest(game=b"x" * 2000)
    assert await outcome_of(running.stub.GetPositions(request)) == "limit.message-size"
    method = running.channel.unary_unary("/fritillary.api.v1.SimulatorService/PlayOut")
    assert await outcome_of(method(b"\xff\xff")) == "request.malformed"
    await running.works()


async def test_health_and_reflection_answer_while_all_processes_work(simulator):
    running = await simulator()
    endless = running.endless(*pig())
    await until(lambda: not running.server._pool._idle.qsize())
    waiting = running.stub.OpenGame(pb.OpenGameRequest(game="pig"))
    async with asyncio.timeout(WITHIN):
        health = health_pb2_grpc.HealthStub(running.channel)
        for service in ("", "fritillary.api.v1.SimulatorService"):
            answer = await health.Check(health_pb2.HealthCheckRequest(service=service))
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        reflection = reflection_pb2_grpc.ServerReflectionStub(running.channel)
        call = reflection.ServerReflectionInfo(
            iter([reflection_pb2.ServerReflectionRequest(list_services="")])
        )
        answers = [answer async for answer in call]
    names = {each.name for each in answers[0].list_services_response.service}
    assert names == {
        "fritillary.api.v1.SimulatorService",
        "grpc.health.v1.Health",
        "grpc.reflection.v1alpha.ServerReflection",
    }
    assert not waiting.done()
    endless.cancel()
    assert (await waiting).seats == 2


async def test_more_calls_than_may_wait_are_refused_for_a_while(simulator):
    running = await simulator(max_calls=2)
    game, worlds = pig()
    calls = [running.endless(game, worlds) for _ in range(3)]
    done, _ = await asyncio.wait(
        [asyncio.ensure_future(outcome_of(call)) for call in calls],
        timeout=WITHIN,
        return_when=asyncio.FIRST_COMPLETED,
    )
    assert [each.result() for each in done] == ["limit.calls"]
    for call in calls:
        call.cancel()
    await until(lambda: not running.server._pool._calls)
    await running.works()


# ------------------------------------------------------------------------ stopping


async def test_a_cancelled_call_is_worked_on_no_longer(simulator):
    running = await simulator()
    before = running.pids
    game, worlds = pig()
    for _ in range(3):
        call = running.endless(game, worlds)
        await until(lambda: not running.server._pool._idle.qsize())
        call.cancel()
        # A million playouts take minutes.
        await running.works()
    # It stopped by itself.
    assert running.pids == before


async def test_a_call_past_its_deadline_is_worked_on_no_longer(simulator):
    running = await simulator()
    before = running.pids
    game, worlds = pig()
    request = pb.PlayOutRequest(
        game=game, worlds=worlds, tasks=[pb.PlayOutTask(count=1_000_000)]
    )
    call = running.stub.PlayOut(request, timeout=0.3)
    assert await outcome_of(call) == "DEADLINE_EXCEEDED"
    await running.works()
    assert running.pids == before


async def test_calls_that_wait_can_be_cancelled(simulator):
    running = await simulator()
    game, worlds = pig()
    calls = [running.endless(game, worlds) for _ in range(4)]
    await until(lambda: running.server._pool._calls == 4)
    for call in reversed(calls):
        call.cancel()
    await until(lambda: not running.server._pool._calls)
    await running.works()


async def test_a_call_that_takes_too_long_fails_and_the_next_is_answered(simulator):
    running = await simulator(max_call_ms=2_000)
    before = running.pids
    assert await outcome_of(running.endless(*pig())) == "limit.time"
    await running.works()
    assert running.pids == before


def busy(pid):
    """Return how long a process has been at work, in ticks of the system."""
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    return int(stat.rpartition(")")[2].split()[11])


@pytest.mark.parametrize("given_up", [False, True])
async def test_a_hook_that_never_comes_back_is_killed(simulator, given_up):
    running = await simulator(max_call_ms=60_000 if given_up else 2_000)
    (before,) = running.pids
    game, worlds = await running.trap("loop")
    rested = busy(before)
    call = running.stub.PlayOut(pb.PlayOutRequest(game=game, worlds=worlds))
    if given_up:
        # A process that has not begun is not killed.
        await until(lambda: busy(before) > rested)
        call.cancel()
    else:
        assert await outcome_of(call) == "limit.time"
    await running.works()
    assert running.pids != [before]
    assert not alive(before)


@pytest.mark.parametrize(
    ("how", "code"),
    [("exit", "simulator.failed"), ("memory", "plugin.failed"), ("print", "ok")],
)
async def test_a_game_that_misbehaves_harms_nobody_else(simulator, how, code):
    running = await simulator()
    game, worlds = await running.trap(how)
    call = running.stub.PlayOut(pb.PlayOutRequest(game=game, worlds=worlds))
    async with asyncio.timeout(WITHIN):
        assert await outcome_of(call) == code
    await running.works()


@pytest.mark.parametrize(
    ("name", "lie"),
    [
        ("lost-cities", {"game": -(2**52)}),
        ("butterfly-garden", {"unplaced": [2**52] * 5}),
    ],
)
async def test_an_observation_with_a_lie_that_takes_for_ever_is_cut_off(
    simulator, name, lie
):
    running = await simulator(max_call_ms=2_000)
    one = decision(name, 6)
    raw = pack({**unpack(one.observation.data), **lie})
    opened = await running.stub.OpenGame(pb.OpenGameRequest(game=name))
    fields = {"game": opened.game, "seat": one.seat, "count": 1}
    seen = common_pb2.Payload(encoding=common_pb2.ENCODING_MSGPACK, data=raw)
    found = "ok"
    try:
        async with asyncio.timeout(WITHIN):
            sampled = await running.stub.SampleWorlds(
                pb.SampleWorldsRequest(**fields, observation=seen)
            )
            await running.stub.PlayOut(
                pb.PlayOutRequest(game=opened.game, worlds=sampled.worlds)
            )
    except grpc.aio.AioRpcError as error:
        found = code_of(error)
    assert found in {"limit.time", "position.invalid", "plugin.failed"}
    await running.works()


async def test_a_process_that_was_killed_while_idle_is_replaced(simulator):
    running = await simulator()
    (pid,) = running.pids
    os.kill(pid, 9)
    await until(lambda: running.server._pool._all[0].gone)
    await running.works()
    assert running.pids != [pid]


async def test_it_stops_with_calls_that_run_and_leaves_no_process(simulator):
    running = await simulator(workers=2)
    game, worlds = pig()
    pids = running.pids
    calls = [
        asyncio.ensure_future(outcome_of(running.endless(game, worlds)))
        for _ in range(4)
    ]
    await until(lambda: running.server._pool._calls == 4)
    async with asyncio.timeout(WITHIN):
        await running.server.stop()
        assert not any(map(alive, pids))
        assert "ok" not in await asyncio.gather(*calls)
        await running.server.stop()
    assert not running.server._pool._mending


# ------------------------------------------------------------------------- starting


async def test_it_inherits_no_secrets(simulator, monkeypatch):
    monkeypatch.setenv("FRITILLARY_TOKEN", "frt_bot_secret")
    running = await simulator()
    found = Path(f"/proc/{running.pids[0]}/environ").read_bytes().split(b"\0")
    names = {each.partition(b"=")[0].decode() for each in found}
    assert "FRITILLARY_TOKEN" not in names
    assert names - {""} <= {*minimal_environment({}), "PYTHONPATH"}


@pytest.mark.parametrize(
    ("address", "error", "code"),
    [
        ("0.0.0.0:0", ServiceError, "server.needs-loopback"),
        ("[::]:0", ServiceError, "server.needs-loopback"),
        ("example.org:80", ServiceError, "server.needs-loopback"),
        ("127.0.0.1", UsageError, "usage.address"),
        ("127.0.0.1:99999", UsageError, "usage.address"),
        ("::1:7551", UsageError, "usage.address"),
    ],
)
async def test_it_listens_on_loopback_alone(address, error, code):
    with pytest.raises(error) as caught:
        await SimulatorServer(address, registry=REGISTRY).start()
    assert caught.value.code == code


async def test_a_port_in_use_is_told_before_any_process_starts(simulator):
    running = await simulator()
    second = SimulatorServer(running.server.address, registry="no.such:thing")
    with pytest.raises(ServiceError, match="in use") as caught:
        await second.start()
    assert caught.value.code == "server.address-in-use"


async def test_processes_that_do_not_start_are_one_error(capfd):
    limits = SimulatorLimits(workers=1)
    server = SimulatorServer(limits=limits, registry="tests.service.nothing:here")
    with pytest.raises(ServiceError) as caught:
        await server.start()
    assert caught.value.code == "simulator.failed"
    assert "No module named 'tests.service.nothing'" in capfd.readouterr().err
