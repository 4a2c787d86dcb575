"""fritillary matches fetch: the whole record or none, and whether it holds."""

import json
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import grpc
import pytest
from attrs import define, field
from tests.cli.conftest import Run, one_line
from tests.cli.houses import House, Start, last, opened, play

from fritillary.api.v1 import match_pb2 as wire
from fritillary.api.v1 import match_pb2_grpc
from fritillary.cli import fetching_at_server
from fritillary.plugins.discovery import Registry

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with opened(tmp_path_factory.mktemp("server") / "data") as house:
        yield house


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)


@pytest.fixture
def fetch(run: Run, house: House) -> Run:
    return lambda *words: run("matches", "fetch", *words, *house.there())


def written() -> list[str]:
    """The files in the current folder."""
    return sorted(path.name for path in Path().iterdir())


def test_a_record_is_fetched_into_a_file_of_its_name_and_verified(
    run: Run, fetch: Run, house: House
) -> None:
    play(run, house, "whole")
    code, said, remark = fetch("whole")
    assert code == 0
    assert said.startswith("played: won by seat ")
    assert said.splitlines()[-1] == "record  whole.frec"
    assert remark.startswith("verified; signed by ")
    there = house.data / "records" / "whole.frec"
    assert Path("whole.frec").read_bytes() == there.read_bytes()
    assert written() == ["whole.frec"]
    signer = remark.split()[-1]
    # A file that is there is left alone, unless that is wanted.
    Path("whole.frec").write_text("precious")
    code, out, error = fetch("whole")
    assert (code, out) == (2, "")
    assert "--overwrite" in one_line(error)
    assert Path("whole.frec").read_text() == "precious"
    words = ("whole", "--overwrite", "--signed-by", signer, "--json")
    code, said, errors = fetch(*words)
    assert (code, errors) == (0, "")
    data = json.loads(said)
    assert (data["record"], data["verified"]) == ("whole.frec", True)
    assert Path("whole.frec").read_bytes() == there.read_bytes()


def test_a_record_goes_where_it_is_wanted(
    run: Run, fetch: Run, house: House, tmp_path: Path
) -> None:
    play(run, house, "placed")
    target = tmp_path / "final.frec"
    assert fetch("placed", "--output", target)[0] == 0
    assert run("verify", target)[0] == 0
    assert written() == []
    link = tmp_path / "link.frec"
    link.symlink_to(target)
    assert fetch("placed", "--output", link, "--overwrite")[0] == 0
    assert link.is_symlink()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, said in (
        (tmp_path / "no" / "m.frec", "the folder does not exist"),
        (tmp_path, "there is a folder"),
        (pipe, "something else than a file"),
    ):
        code, out, error = fetch("placed", "--output", path, "--overwrite")
        assert (code, out) == (2, "")
        assert said in one_line(error)


def test_a_record_that_somebody_else_has_signed_does_not_hold_and_is_kept(
    run: Run, fetch: Run, house: House
) -> None:
    play(run, house, "signed")
    code, said, error = fetch("signed", "--signed-by", "ab" * 32, "--json")
    assert code == 3
    assert json.loads(said)["verified"] is False
    assert "not by abab" in one_line(error)
    assert written() == ["signed.frec"]


def test_a_record_of_a_game_that_is_not_installed_is_fetched_and_a_remark_says_so(
    run: Run, fetch: Run, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(run, house, "foreign")
    monkeypatch.setattr(Registry, "load", Registry.games)
    code, said, remark = fetch("foreign")
    assert code == 0
    assert said.splitlines()[-1] == "record  foreign.frec"
    assert remark.startswith("chain and signature hold; it was not played again: ")
    assert "no game 'lepidoptery'" in remark


def test_a_match_that_goes_on_is_not_fetched(
    start: Start, run: Run, fetch: Run, house: House
) -> None:
    program = last(start, run, house, "open")
    code, out, error = fetch("open")
    assert (code, out) == (1, "")
    assert "match open goes on" in one_line(error)
    assert written() == []
    program.signal()
    program.end()


# ------------------------------------------------------------------- what breaks off


@define
class Broken(match_pb2_grpc.MatchServiceServicer):
    """A server whose records do not arrive.

    Attributes:
        chunks: what it sends.
        stays: whether it says nothing more after that, and does not end.
        met: somebody fetches.
        over: it may go.
    """

    chunks: list[wire.FetchRecordResponse] = field(factory=list)
    stays: bool = False
    met: threading.Event = field(factory=threading.Event)
    over: threading.Event = field(factory=threading.Event)
    address: str = ""

    def FetchRecord(
        self, request: Any, context: grpc.ServicerContext
    ) -> Iterator[wire.FetchRecordResponse]:
        del request
        yield from self.chunks
        self.met.set()
        if self.stays:
            self.over.wait(60)
        else:
            context.abort(grpc.StatusCode.UNAVAILABLE, "gone")


@pytest.fixture
def broken() -> Iterator[Broken]:
    servicer = Broken()  # type: ignore[abstract]
    server = grpc.server(ThreadPoolExecutor(2))
    match_pb2_grpc.add_MatchServiceServicer_to_server(servicer, server)
    servicer.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    yield servicer
    servicer.over.set()
    server.stop(None).wait()


def test_of_a_link_that_breaks_off_nothing_is_left(run: Run, broken: Broken) -> None:
    broken.chunks = [wire.FetchRecordResponse(data=b"half")]
    Path("m.frec").write_text("older")
    there = ("--server", broken.address, "--token", "t", "--overwrite")
    code, out, error = run("matches", "fetch", "m", *there)
    assert (code, out) == (1, "")
    assert f"the link to {broken.address} was lost" in one_line(error)
    assert written() == ["m.frec"]
    assert Path("m.frec").read_text() == "older"


def test_of_a_fetch_that_is_interrupted_nothing_is_left(
    start: Start, broken: Broken
) -> None:
    broken.chunks = [wire.FetchRecordResponse(data=b"half")]
    broken.stays = True
    there = ("--server", broken.address, "--token", "t")
    fetching = start("matches", "fetch", "m", *there)
    assert broken.met.wait(60)
    fetching.signal()
    assert fetching.end() == (130, "", "interrupted\n")
    assert written() == []


def chunk(raw: bytes) -> wire.FetchRecordResponse:
    return wire.FetchRecordResponse(
        data=raw, size=len(raw), sha256=sha256(raw).digest()
    )


@pytest.mark.parametrize(
    ("sent", "ends", "said"),
    [
        (lambda _: chunk(b"garbage"), 3, "no finished record"),
        (lambda raw: chunk(raw[: len(raw) // 2]), 3, "no finished record"),
        (chunk, 1, "the record of another match, m-1"),
        (lambda raw: wire.FetchRecordResponse(data=raw), 1, "did not arrive"),
    ],
    ids=["garbage", "half", "another", "no-end"],
)
def test_what_is_no_record_of_the_match_is_not_written(
    run: Run,
    broken: Broken,
    frec: Path,
    sent: Callable[[bytes], wire.FetchRecordResponse],
    ends: int,
    said: str,
) -> None:
    broken.chunks = [sent(frec.read_bytes())]
    broken.stays = True
    broken.over.set()
    there = ("--server", broken.address, "--token", "t")
    code, out, error = run("matches", "fetch", "m", *there)
    assert (code, out) == (ends, "")
    assert said in one_line(error)
    assert written() == []


def test_a_file_that_appears_while_a_record_is_fetched_is_left_alone(
    run: Run, fetch: Run, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(run, house, "raced")
    fetched = fetching_at_server._fetch

    async def slowly(order: fetching_at_server.Order) -> bytes:
        raw = await fetched(order)
        order.target.write_text("precious")
        return raw

    monkeypatch.setattr(fetching_at_server, "_fetch", slowly)
    code, out, error = fetch("raced")
    assert (code, out) == (2, "")
    assert "there is a file already; --overwrite replaces it" in one_line(error)
    assert Path("raced.frec").read_text() == "precious"
    assert written() == ["raced.frec"]
    assert fetch("raced", "--overwrite")[0] == 0
    assert run("verify", "raced.frec")[0] == 0
