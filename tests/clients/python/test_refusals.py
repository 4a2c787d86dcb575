"""Servers that are not there, will not have the bot, or send garbage."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
from typing import Any

import grpc
import msgpack
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.clients.python.bots import first
from tests.clients.python.fake_arena import (
    TABLE_HASH,
    TOKEN,
    FakeArena,
    an_event,
    arena_running,
    server_message,
)

from fritillary.api.v1 import bot_pb2 as wire
from fritillary.api.v1 import common_pb2 as common
from fritillary_client import (
    Ask,
    Client,
    ConfigurationError,
    LegalAction,
    LinkError,
    ProtocolError,
    RefusedError,
    run_async,
)
from fritillary_client.calls import error_of


def error_metadata(code: str, message: str, **fields: Any) -> Any:
    info = common.ErrorInfo(code=code, message=message, **fields)
    return (("fritillary-error-bin", info.SerializeToString()),)


async def test_no_server_is_told_at_once() -> None:
    with pytest.raises(
        LinkError, match=r"no server answers at 127\.0\.0\.1:1 "
    ) as caught:
        await run_async(first, address="127.0.0.1:1", token="t")
    assert caught.value.code == "link.unreachable"


async def test_a_web_server_is_told_from_an_arena() -> None:
    async def answer(reader: Any, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b"HTTP/1.1 505 HTTP Version Not Supported\r\n\r\n")
        writer.write_eof()
        # What is closed with something unread is reset, and the answer may be lost.
        with contextlib.suppress(OSError):
            await reader.read()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(LinkError, match="ordinary web server") as caught:
            await run_async(first, address=f"127.0.0.1:{port}", token="t")
    assert caught.value.code == "link.unreachable"


def test_a_name_that_nobody_knows_is_told_without_the_brackets_of_grpc() -> None:
    details = (
        "errors resolving arena.invalid:1: [field:hostname lookup error:address "
        "lookup failed for arena.invalid:1: Domain name not found]"
    )
    error = error_of(
        grpc.StatusCode.UNAVAILABLE, details, None, "arena.invalid:1", opened=False
    )
    assert error.message == (
        "no server answers at arena.invalid:1 (Domain name not found)"
    )


async def test_a_server_can_be_waited_for() -> None:
    async with arena_running() as arena:
        await arena.stop()
        client = Client(first, address=arena.address, token=TOKEN, wait=60)
        task = asyncio.ensure_future(client.run())
        await asyncio.sleep(0.3)
        await arena.start()
        stream = await arena.stream()
        await stream.welcome()
        client.stop()
        await task


async def test_an_unknown_token_is_final(arena, play):
    running = play(first)
    stream = await arena.stream()
    await stream.refuse(
        grpc.StatusCode.UNAUTHENTICATED,
        "unknown",
        error_metadata("auth.unknown-token", "the server does not know this token"),
    )
    with pytest.raises(RefusedError) as caught:
        await running.done()
    assert caught.value.code == "auth.unknown-token"
    assert str(caught.value) == (
        "the server does not know this token [auth.unknown-token]"
    )
    assert arena.streams.empty()


async def test_a_refused_token_is_final_also_after_a_lost_link(arena, play):
    running = play(first)
    stream = await arena.stream()
    await stream.welcome()
    stream.close()
    stream = await arena.stream()
    await stream.refuse(grpc.StatusCode.UNAUTHENTICATED, "revoked")
    with pytest.raises(RefusedError, match="revoked"):
        await running.done()


async def test_an_answer_that_grpc_has_lost_is_asked_for_again(arena, play):
    running = play(first)
    for _ in range(3):
        stream = await arena.stream()
        await stream.refuse(grpc.StatusCode.INTERNAL, "lost")
    stream = await arena.stream()
    await stream.refuse(grpc.StatusCode.UNAUTHENTICATED, "revoked")
    with pytest.raises(RefusedError, match="revoked"):
        await running.done()


async def test_answers_that_are_always_lost_are_asked_for_four_times(arena, play):
    running = play(first)
    for _ in range(4):
        stream = await arena.stream()
        await stream.refuse(grpc.StatusCode.INTERNAL, "lost")
    with pytest.raises(LinkError) as caught:
        await running.done()
    assert caught.value.code == "link.answer-lost"
    assert arena.streams.empty()


async def test_a_refusal_that_time_mends_is_waited_for(arena, play):
    play(first, wait=5)
    stream = await arena.stream()
    await stream.expect("hello")
    info = common.ErrorInfo(code="server.full", message="full", retry_after_ms=100)
    await stream.send(server_message(refusal=wire.Refusal(error=info)))
    stream = await arena.stream()
    await stream.welcome()


async def test_a_refusal_that_time_does_not_mend_is_final(arena, play):
    running = play(first)
    stream = await arena.stream()
    await stream.expect("hello")
    info = common.ErrorInfo(code="encoding.unknown", message="speak up")
    await stream.send(server_message(refusal=wire.Refusal(error=info)))
    with pytest.raises(RefusedError, match="speak up") as caught:
        await running.done()
    assert caught.value.code == "encoding.unknown"


async def test_a_grpc_server_that_is_no_arena_is_named() -> None:
    server = grpc.aio.server()
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    with pytest.raises(RefusedError, match="is no arena") as caught:
        await run_async(first, address=f"127.0.0.1:{port}", token="t")
    assert caught.value.code == "link.no-arena"
    await server.stop(0)


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({}, "usage.address"),
        ({"address": "localhost"}, "usage.address"),
        ({"address": "http://localhost:1"}, "usage.address"),
        ({"address": "127.0.0.1:0"}, "usage.address"),
        ({"address": "127.0.0.1:65536"}, "usage.address"),
        ({"address": "127.0.0.1:73087"}, "usage.address"),
        ({"address": "127.0.0.1:\N{ARABIC-INDIC DIGIT SEVEN}"}, "usage.address"),
        ({"address": "::1:7551"}, "usage.address"),
        ({"address": "localhost:1"}, "usage.token"),
        ({"address": "localhost:1", "token": "two words"}, "usage.token"),
        ({"address": "localhost:1", "token": "t", "capacity": 0}, "usage.capacity"),
        ({"address": "localhost:1", "token": "t", "encoding": "xml"}, "usage.encoding"),
        ({"address": "localhost:1", "token": "t", "legal": "all"}, "usage.legal"),
        ({"address": "localhost:1", "token": "t", "on_error": "?"}, "usage.on-error"),
        ({"address": "localhost:1", "token": "t", "nonce": b"0" * 33}, "usage.nonce"),
        ({"address": "localhost:1", "token": "t", "nonce": "00"}, "usage.nonce"),
        ({"address": "localhost:1", "token": "t", "ca": "/no/such"}, "usage.ca"),
    ],
)
def test_wrong_settings_are_named(settings, code) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Client(first, **settings)
    assert caught.value.code == code


@pytest.mark.parametrize("bot", [3, None, divmod, str, list])
def test_what_is_no_bot_is_named(bot) -> None:
    with pytest.raises(ConfigurationError, match="is no bot"):
        Client(bot, address="localhost:1", token="t")


def test_address_and_token_come_from_the_environment(monkeypatch) -> None:
    monkeypatch.setenv("FRITILLARY_ADDRESS", "localhost:77")
    monkeypatch.setenv("FRITILLARY_TOKEN", "t")
    assert Client(first).address == "localhost:77"
    assert Client(first, address="localhost:78").address == "localhost:78"


@pytest.mark.parametrize(
    ("address", "tls"),
    [
        ("localhost:1", False),
        ("127.0.0.1:1", False),
        ("[::1]:1", False),
        ("unix:/tmp/arena", False),
        ("arena.example:1", True),
        ("10.0.0.1:1", True),
    ],
)
def test_other_machines_are_spoken_to_in_tls(address, tls) -> None:
    from fritillary_client.settings import resolve

    assert resolve(first, {"address": address, "token": "t"}).tls is tls
    assert not resolve(first, {"address": address, "token": "t", "tls": False}).tls


async def test_a_server_with_a_certificate_of_its_own_is_trusted_by_name(
    tmp_path, caplog
) -> None:
    key, certificate = self_signed("localhost")
    arena = FakeArena()
    await arena.start(grpc.ssl_server_credentials([(key, certificate)]))
    roots = tmp_path / "roots.pem"
    roots.write_bytes(certificate)
    address = f"localhost:{arena.port}"
    client = Client(first, address=address, token=TOKEN, ca=roots)
    task = asyncio.ensure_future(client.run())
    await (await arena.stream()).welcome()
    client.stop()
    await task
    assert arena.metadata[0]["authorization"] == f"Bearer {TOKEN}"
    for tls in (True, False):
        with pytest.raises(LinkError):
            await run_async(first, address=address, token=TOKEN, tls=tls)
    assert len(arena.metadata) == 1
    await arena.stop()


def self_signed(name: str) -> tuple[bytes, bytes]:
    """A private key and a certificate for a host, PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(hours=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    return (
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
        certificate.public_bytes(serialization.Encoding.PEM),
    )


@pytest.mark.parametrize("when", ["first", "later"])
async def test_a_frame_that_cannot_be_read_is_an_error(arena, play, when):
    running = play(first)
    stream = await arena.stream()
    if when == "later":
        await stream.welcome()
    await stream.raw(b"\xff\xff\xff")
    with pytest.raises(ProtocolError, match="cannot be read"):
        await running.done()


async def test_anything_before_welcome_is_an_error(arena, play):
    running = play(first)
    stream = await arena.stream()
    await stream.offer()
    with pytest.raises(ProtocolError, match="match_offer in place of Welcome"):
        await running.done()


async def test_a_second_welcome_is_an_error(arena, play):
    running = play(first)
    stream = await arena.stream()
    await stream.welcome()
    await stream.send(
        server_message(welcome=wire.Welcome(encoding=common.ENCODING_JSON))
    )
    with pytest.raises(ProtocolError, match="twice"):
        await running.done()


async def test_an_encoding_from_nowhere_is_an_error(arena, play):
    running = play(first)
    stream = await arena.stream()
    await stream.welcome(encoding=17)
    with pytest.raises(ProtocolError) as caught:
        await running.done()
    assert caught.value.code == "encoding.unknown"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"observation": b"\xc1"}, "an observation that is not msgpack"),
        ({"legal": [1, 77]}, "index 77 of a table of 10 actions"),
        ({"legal_actions": [wire.LegalAction()]}, "wrote out 1 of 3 actions"),
    ],
)
async def test_garbage_in_a_request_is_an_error_of_the_server(
    arena, play, changes, words
):
    def look(ask: Ask) -> LegalAction:
        assert ask.observation is not None
        return list(ask.legal)[0]  # noqa: RUF015 - looks at all of them

    running = play(look)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    await stream.ask(**changes)
    assert (await stream.find("goodbye")).code == "bot.stopping"
    with pytest.raises(ProtocolError) as caught:
        await running.done()
    assert words in caught.value.message


@pytest.mark.parametrize("changes", [{"seats": []}, {"match_id": ""}, {"seat": 9}])
async def test_an_offer_that_makes_no_sense_is_an_error(arena, play, changes):
    running = play(first)
    stream = await arena.stream()
    await stream.welcome()
    await stream.offer(**changes)
    with pytest.raises(ProtocolError, match="the server offered seat"):
        await running.done()


async def test_what_is_not_known_is_ignored(arena, play):
    play(first)
    stream = await arena.stream()
    await stream.welcome()
    await stream.raw(b"\x0a\x03\xaa\x06\x00")  # a message of a later version
    await stream.send(
        server_message(),
        an_event(1, match="nowhere"),
        server_message(decision_request=wire.DecisionRequest(match_id="nowhere")),
        server_message(decision_closed=wire.DecisionClosed(match_id="nowhere")),
        server_message(match_status=wire.MatchStatus(match_id="nowhere")),
    )
    await stream.seated()
    await stream.ask()
    await stream.find("decision")


async def test_notices_are_shown_and_change_nothing(arena, play, caplog):
    play(first)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    for code in ("decision.stale", "capacity.odd"):
        notice = wire.ErrorNotice(
            match_id="m1", error=common.ErrorInfo(code=code, message="of no use")
        )
        await stream.send(server_message(error=notice))
    await stream.ask()
    await stream.find("decision")
    assert "capacity.odd" in caplog.text
    assert "decision.stale" not in caplog.text


async def test_a_match_that_the_server_does_not_know_is_given_up(arena, play):
    running = play(first, matches=1)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    notice = wire.ErrorNotice(
        match_id="m1", error=common.ErrorInfo(code="match.unknown", message="?")
    )
    await stream.send(server_message(error=notice))
    await stream.find("goodbye")
    await running.done()


async def test_another_table_in_the_catalog_declines_the_offer(arena, play):
    play(first)
    stream = await arena.stream()
    await stream.welcome()
    await stream.offer(table=common.ActionTable(size=10, hash=b"?" * 32))
    decline = await stream.find("decline")
    assert decline.code == "game.other-table"
    await stream.offer("m2", table=common.ActionTable(size=11, hash=TABLE_HASH))
    assert (await stream.find("decline")).code == "game.other-table"


async def test_a_catalog_that_fails_declines_the_offer(arena, play):
    arena.list_error = (
        grpc.StatusCode.NOT_FOUND,
        "no such game",
        error_metadata("game.unknown", "no such game"),
    )
    play(first)
    stream = await arena.stream()
    await stream.welcome()
    await stream.offer()
    assert (await stream.find("decline")).code == "game.unknown"


async def test_a_large_table_is_fetched_page_by_page(arena, play):
    from fritillary.api.v1 import catalog_pb2 as catalog

    arena.page = 5000
    arena.table = [
        catalog.ActionEntry(index=i, text=f"t{i}", msgpack=msgpack.packb(i))
        for i in range(20_000)
    ]
    play(first)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated(table=common.ActionTable(size=20_000, hash=TABLE_HASH))
    assert len(arena.listed) == 4
    await stream.ask(legal=[19_999])
    assert (await stream.find("decision")).index == 19_999
