"""fritillary simulate: each command a process."""

import signal
import socket
from collections.abc import Callable

import grpc
import pytest
from tests.cli.conftest import Program, Run, one_line
from tests.service.tape import until
from tests.service.test_programs import alive

from fritillary.api.v1 import simulator_pb2 as pb
from fritillary.api.v1 import simulator_pb2_grpc
from fritillary.service.launcher import descendants

pytestmark = pytest.mark.system

Start = Callable[..., Program]


def served(program: Program) -> str:
    """Return the address at which a simulator has begun to listen."""
    word, _, address = program.line().partition(" on ")
    assert word == "listening", program.end()
    return address


def opened(address: str) -> pb.OpenGameResponse:
    """Return what opening a game gives there."""
    with grpc.insecure_channel(address) as channel:
        stub = simulator_pb2_grpc.SimulatorServiceStub(channel)
        response: pb.OpenGameResponse = stub.OpenGame(
            pb.OpenGameRequest(game="lepidoptery"), timeout=60
        )
        return response


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_tells_its_address_serves_and_ends_when_told(
    start: Start, number: signal.Signals
) -> None:
    simulator = start("simulate", "--listen", "127.0.0.1:0", "--workers", 1)
    address = served(simulator)
    response = opened(address)
    assert response.ref.id == "lepidoptery"
    assert response.limits.workers == 1
    simulator.signal(number)
    assert simulator.end() == (0, "", "stopping\n")


def test_attached_it_ends_with_its_input_and_not_at_ctrl_c(start: Start) -> None:
    words = ("simulate", "--listen", "127.0.0.1:0", "--workers", 1, "--attached")
    simulator = start(*words)
    address = served(simulator)
    simulator.signal(signal.SIGINT)
    assert opened(address).seats == 2
    # communicate() closes its input.
    assert simulator.end() == (0, "", "")


async def test_its_processes_end_with_it_even_if_it_is_killed(start: Start) -> None:
    simulator = start("simulate", "--listen", "127.0.0.1:0", "--workers", 2)
    served(simulator)
    children = descendants(simulator.process.pid)
    assert len(children) == 2
    simulator.signal(signal.SIGKILL)
    simulator.end()
    # They have read the end of their input.
    await until(lambda: not any(map(alive, children)))


def test_a_port_in_use_is_one_line(run: Run) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = f"127.0.0.1:{other.getsockname()[1]}"
        code, out, error = run("simulate", "--listen", address)
    assert (code, out) == (1, "")
    assert "the port is in use" in one_line(error)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--listen", "0.0.0.0:0"), 1, "not on loopback"),
        (("--listen", "example.org:80"), 1, "not on loopback"),
        (("--listen", "localhost"), 2, "HOST:PORT"),
        (("--listen", "127.0.0.1:99999"), 2, "HOST:PORT"),
        (("--workers", "0"), 2, "--workers"),
    ],
)
def test_what_makes_no_sense_is_one_line(
    run: Run, words: tuple[str, ...], code: int, said: str
) -> None:
    ended, out, error = run("simulate", *words)
    assert (ended, out) == (code, "")
    assert said in one_line(error)
