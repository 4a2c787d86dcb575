"""The client and TLS: against the server of this project, and when they do not fit."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from attrs import define
from cryptography.hazmat.primitives import serialization
from tests.service import pig
from tests.service.authority import HOUR, Authority, Pair, key_pem

from fritillary.record.terms import EndKind
from fritillary.service.arena import Arena
from fritillary.service.server import Server
from fritillary.service.tls import ServerTls
from fritillary.service.tokens import Role
from fritillary_client import (
    ArenaError,
    Ask,
    Client,
    ConfigurationError,
    LegalAction,
    LinkError,
    Referee,
    RefusedError,
    main,
    run_async,
)
from fritillary_client.settings import resolve

pytestmark = pytest.mark.system


def uniform(ask: Ask) -> LegalAction:
    return ask.rng.choice(ask.legal)


@define
class House:
    """An arena with an authority of its own."""

    arena: Arena
    authority: Authority
    folder: Path

    def token(self, role: Role = Role.BOT) -> str:
        return self.arena.tokens.create("me", role)

    def certificate(self) -> Pair:
        return self.authority.sign("server", "localhost", "127.0.0.1")

    def server(self, *, members: bool = False, pair: Pair | None = None) -> Server:
        pair = pair or self.certificate()
        roots = self.authority.ca if members else None
        return Server(self.arena, tls=ServerTls.load(pair.cert, pair.key, roots))


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with Arena(pig.registry()) as arena:
        yield House(arena, Authority(tmp_path), tmp_path)


async def asked(server: Server, token: str, **settings: Any) -> str:
    """Return ``ok``, or the line in which a referee and a bot are told the same."""
    told = []
    async with asyncio.timeout(60):
        try:
            async with Referee(server.address, token, **settings) as referee:
                await anext(aiter(referee.list_matches()), None)
            told.append("ok")
        except ArenaError as error:
            told.append(str(error))
        try:
            await run_async(uniform, address=server.address, token=token, **settings)
        except ArenaError as error:
            told.append(str(error))
    if told[0] == "ok":
        # The token of a referee is none of a bot's.
        assert told[1].endswith("[auth.wrong-role]")
    else:
        assert told[0] == told[1]
    assert "\n" not in told[0]
    assert len(told[0]) < 300
    return told[0]


# --------------------------------------------------------------------------- in order


@pytest.mark.parametrize("members", [False, True])
async def test_a_match_is_played_and_fetched_in_tls(
    house: House, members: bool
) -> None:
    settings: dict[str, Any] = {"ca": house.authority.ca}
    if members:
        pair = house.authority.sign("me")
        settings |= {"cert": pair.cert, "key": pair.key}
    token = house.arena.tokens.create("bob", Role.BOT)
    async with house.server(members=members) as server:
        bot = Client(
            uniform, address=server.address, token=token, matches=1, **settings
        )
        playing = asyncio.ensure_future(bot.run())
        result = await house.arena.play("pig", ["remote:bob", "uniform"])
        await playing
        async with Referee(
            server.address, house.token(Role.REFEREE), **settings
        ) as referee:
            record = await referee.fetch_record(result.match_id)
    assert result.finish.kind is EndKind.PLAYED
    assert record == house.arena.match(result.match_id).record()


async def test_the_environment_names_the_files(house: House, monkeypatch) -> None:
    pair = house.authority.sign("me")
    monkeypatch.setenv("FRITILLARY_CA", str(house.authority.ca))
    monkeypatch.setenv("FRITILLARY_CERT", str(pair.cert))
    monkeypatch.setenv("FRITILLARY_KEY", str(pair.key))
    async with house.server(members=True) as server:
        assert await asked(server, house.token(Role.REFEREE)) == "ok"


async def test_a_revoked_bot_is_sent_away_for_good(house: House) -> None:
    token = house.arena.tokens.create("bob", Role.BOT)
    async with house.server() as server:
        client = Client(
            uniform, address=server.address, token=token, ca=house.authority.ca
        )
        running = asyncio.ensure_future(client.run())
        while not house.arena.hub.sessions():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        house.arena.tokens.revoke("bob")
        with pytest.raises(RefusedError) as caught:
            await asyncio.wait_for(running, 60)
    assert caught.value.code == "auth.revoked-token"


# ------------------------------------------------------------ when they do not fit


async def test_the_certificate_of_another_authority_is_one_clear_line(
    house: House,
) -> None:
    other = Authority(house.folder, "other")
    async with house.server() as server:
        for settings in ({"ca": other.ca}, {"tls": True}):
            told = await asked(server, house.token(Role.REFEREE), **settings)
            assert told.startswith(
                f"the certificate of the server at {server.address} is not trusted"
            )
            assert "FRITILLARY_CA" in told
            assert told.endswith("[link.certificate]")


async def test_a_certificate_for_another_name_is_one_clear_line(house: House) -> None:
    pair = house.authority.sign("server", "arena.example")
    async with house.server(pair=pair) as server:
        told = await asked(server, house.token(Role.REFEREE), ca=house.authority.ca)
    assert told == (
        f"the certificate of the server at {server.address} is not for the name "
        "127.0.0.1 [link.certificate]"
    )


async def test_a_server_without_tls_is_one_clear_line(house: House) -> None:
    async with Server(house.arena) as server:
        told = await asked(server, house.token(Role.REFEREE), ca=house.authority.ca)
    assert told.startswith(f"the server at {server.address} speaks no TLS;")
    assert told.endswith("[link.no-tls]")


async def test_a_client_without_tls_is_one_clear_line(house: House) -> None:
    async with house.server() as server:
        told = await asked(server, house.token(Role.REFEREE))
    assert told == (
        f"no server answers at {server.address} (it closed the connection; if it "
        "speaks TLS, name its authority with ca (--ca) or FRITILLARY_CA) "
        "[link.unreachable]"
    )


async def test_a_missing_client_certificate_is_one_clear_line(house: House) -> None:
    async with house.server(members=True) as server:
        told = await asked(server, house.token(Role.REFEREE), ca=house.authority.ca)
    assert "if it wants a client certificate, set FRITILLARY_CERT" in told


async def test_a_client_certificate_of_a_stranger_is_one_clear_line(
    house: House,
) -> None:
    pair = Authority(house.folder, "other").sign("me")
    settings = {"ca": house.authority.ca, "cert": pair.cert, "key": pair.key}
    async with house.server(members=True) as server:
        told = await asked(server, house.token(Role.REFEREE), **settings)
    assert "it may not trust the client certificate" in told


async def test_no_server_at_all_is_still_told_as_that(house: House) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        trusting: dict[str, Any] = {"ca": house.authority.ca}
        for settings in (trusting, {}):
            with pytest.raises(LinkError, match="Connection refused") as caught:
                await run_async(uniform, address=address, token="t", **settings)
            assert caught.value.code == "link.unreachable"


async def test_a_server_that_closes_at_once_is_told_as_that(house: House) -> None:
    async def close(_: Any, writer: asyncio.StreamWriter) -> None:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()

    server = await asyncio.start_server(close, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        with pytest.raises(LinkError, match="no server answers"):
            await run_async(uniform, address=f"127.0.0.1:{port}", token="t")


# --------------------------------------------------------------------------- settings


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    return Authority(tmp_path).sign("me")


def refusal(**settings: Any) -> ConfigurationError:
    """Return the error of settings that cannot be."""
    given: Any = {"address": "localhost:1", "token": "t", **settings}
    with pytest.raises(ConfigurationError) as caught:
        resolve(uniform, given)
    assert "\n" not in caught.value.message
    return caught.value


def test_files_for_tls_turn_it_on_also_on_this_machine(pair: Pair) -> None:
    here: Any = {"address": "localhost:1", "token": "t"}
    assert not resolve(uniform, here).tls
    here |= {"cert": pair.cert, "key": pair.key}
    setup = resolve(uniform, here)
    assert setup.tls
    assert setup.certificate == pair.cert.read_bytes()
    assert b"PRIVATE" not in repr(setup).encode()
    assert pair.key.read_bytes().decode()[40:80] not in repr(setup)


def test_without_tls_the_environment_counts_for_nothing(
    pair: Pair, monkeypatch
) -> None:
    monkeypatch.setenv("FRITILLARY_CA", "/no/such")
    monkeypatch.setenv("FRITILLARY_CERT", "/no/such")
    setup = resolve(uniform, {"address": "localhost:1", "token": "t", "tls": False})
    assert (setup.tls, setup.roots, setup.certificate) == (False, None, None)
    said = refusal(tls=False, cert=pair.cert, key=pair.key)
    assert said.code == "usage.tls"


def test_certificate_and_key_go_together(pair: Pair) -> None:
    assert "key (--key, FRITILLARY_KEY) is missing" in refusal(cert=pair.cert).message
    assert "cert (--cert, FRITILLARY_CERT) is missing" in refusal(key=pair.key).message


def test_an_empty_word_is_no_file_and_not_what_the_environment_says(
    pair: Pair, monkeypatch
) -> None:
    monkeypatch.setenv("FRITILLARY_CERT", str(pair.cert))
    monkeypatch.setenv("FRITILLARY_KEY", str(pair.key))
    for name in ("ca", "cert", "key"):
        error = refusal(**{name: ""})
        assert error.message.startswith(f"{name} is an empty word")
        assert error.code == "usage.tls"


def test_wrong_files_are_one_clear_line(pair: Pair, tmp_path: Path) -> None:
    folder = tmp_path / "others"
    folder.mkdir()
    other = Authority(folder).sign("other")
    old = Authority(folder).sign("old", good_for=-HOUR)
    locked, empty = tmp_path / "locked.key", tmp_path / "empty"
    key = serialization.load_pem_private_key(pair.key.read_bytes(), None)
    locked.write_bytes(key_pem(key, "secret"))
    empty.write_bytes(b"")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    said = {
        "No such file": refusal(cert=tmp_path / "no", key=pair.key),
        "does not belong": refusal(cert=pair.cert, key=other.key),
        "expired on": refusal(cert=old.cert, key=old.key),
        "is encrypted": refusal(cert=pair.cert, key=locked),
        "a key where a certificate": refusal(cert=pair.key, key=pair.cert),
        "holds no certificate": refusal(ca=empty),
        "pipe: not a regular file": refusal(cert=pipe, key=pair.key),
        "/dev/zero: not a regular file": refusal(ca=Path("/dev/zero")),
    }
    for words, error in said.items():
        assert words in error.message
        assert error.code in {"usage.tls", "usage.ca"}


def test_a_program_takes_the_files_from_its_command_line(
    pair: Pair, caplog: pytest.LogCaptureFixture
) -> None:
    words = ["--address", "localhost:1", "--token", "t", "--ca", str(pair.cert)]
    said = {
        "cert and key go together": ["--cert", str(pair.cert)],
        "a certificate where a key": [
            "--cert",
            str(pair.cert),
            "--key",
            str(pair.cert),
        ],
        "no server answers": ["--cert", str(pair.cert), "--key", str(pair.key)],
    }
    for line, files in said.items():
        caplog.clear()
        with pytest.raises(SystemExit) as ended:
            main(uniform, [*words, *files])
        assert ended.value.code == 1
        assert line in caplog.text
