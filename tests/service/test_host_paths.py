"""What goes wrong with files of the server: callers are not told where they lie."""

from __future__ import annotations

import shutil
from pathlib import Path

import grpc
import pytest
from tests.service.calls import Caller, code_of

from fritillary.core.errors import RecordError, StorageError
from fritillary.plugins.checks import failed
from fritillary.service.tokens import Role


def in_the_way(folder):
    """Put a file where a folder was."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.write_bytes(b"")


async def refused(house, method="CreateMatch", **fields):
    """Return code and everything that a referee is told of a call that fails."""
    async with Caller(house, Role.REFEREE) as referee:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await getattr(referee, method)(**fields)
    error = caught.value
    assert error.code() is grpc.StatusCode.INTERNAL
    return code_of(error), f"{error.details()} {error.trailing_metadata()}"


@pytest.mark.parametrize("name", ["private", "records"])
async def test_a_match_that_cannot_be_kept_names_no_folder(house, caplog, name):
    folder = house.path / name
    in_the_way(folder)
    seats = [{"player": "uniform"}] * 2
    code, told = await refused(house, game="pig", seats=seats)
    assert code.partition(".")[0] == "storage"
    assert "the server cannot use files of its own" in told
    for part in (house.path, house.path.name, ".order", ".frec"):
        assert str(part) not in told
    assert str(folder) in caplog.text


async def test_a_file_that_rules_miss_is_named_without_its_folder(house, monkeypatch):
    async def fails(_):
        try:
            Path("/srv/secret/openings.bin").read_bytes()
        except OSError as error:
            raise failed("pig", "new_state", error) from error

    monkeypatch.setattr(house.arena, "find", fails)
    async with Caller(house, Role.REFEREE) as referee:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await referee.GetMatch(match_id="m")
    assert "openings.bin" in str(caught.value.details())
    assert "secret" not in f"{caught.value.details()} {caught.value}"


@pytest.mark.parametrize("kind", [StorageError, RecordError])
async def test_no_error_of_a_file_names_it_and_the_reason_is_told(
    house, monkeypatch, kind
):
    async def fails(_):
        try:
            raise OSError(28, "what the system says", "/srv/secret/place")
        except OSError as error:
            raise kind(
                f"/srv/secret/place: {error.strerror}", code="storage"
            ) from error

    monkeypatch.setattr(house.arena, "find", fails)
    code, told = await refused(house, "GetMatch", match_id="m")
    assert code == "storage"
    assert "No space left on device" in told
    assert "secret" not in told
