"""The server in TLS: its files, whom it lets in, and the programs that it starts."""

from __future__ import annotations

import datetime as dt
import os
import shlex
import sys
from pathlib import Path

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from tests.service import pig
from tests.service.authority import HOUR, Authority, key_pem
from tests.service.calls import bearer, outcome_of
from tests.service.house import PATIENT
from tests.service.rawbot import RawBot

from fritillary.api.v1 import (
    catalog_pb2,
    catalog_pb2_grpc,
    match_pb2,
    match_pb2_grpc,
)
from fritillary.core.errors import ServiceError, UsageError
from fritillary.record.terms import EndKind
from fritillary.service.arena import Arena
from fritillary.service.server import Server
from fritillary.service.tls import ServerTls
from fritillary.service.tokens import Role

HERE = Path(__file__).parent
PROGRAM = f"{shlex.quote(sys.executable)} {shlex.quote(str(HERE / 'program.py'))}"


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path)


@pytest.fixture
def server_tls(authority):
    pair = authority.sign("server", "localhost", "127.0.0.1")
    return ServerTls.load(pair.cert, pair.key)


@pytest.fixture
async def arena():
    async with Arena(pig.registry()) as arena:
        yield arena


def credentials(authority, pair=None):
    shown = (None, None)
    if pair is not None:
        shown = (pair.key.read_bytes(), pair.cert.read_bytes())
    return grpc.ssl_channel_credentials(authority.ca.read_bytes(), *shown)


async def listed(address, secret, token):
    """Return what comes of listing matches: ``ok`` or a code."""
    if secret is None:
        channel = grpc.aio.insecure_channel(address)
    else:
        channel = grpc.aio.secure_channel(address, secret)
    async with channel:
        stub = match_pb2_grpc.MatchServiceStub(channel)
        return await outcome_of(
            stub.ListMatches(match_pb2.ListMatchesRequest(), metadata=bearer(token))
        )


# ------------------------------------------------------------------------ who gets in


async def test_who_trusts_the_authority_gets_in(arena, authority, server_tls):
    token = arena.tokens.create("me", Role.REFEREE)
    other = Authority(authority.ca.parent, "other")
    async with Server(arena, tls=server_tls) as server:
        assert await listed(server.address, credentials(authority), token) == "ok"
        assert await listed(server.address, credentials(other), token) == "UNAVAILABLE"
        assert await listed(server.address, None, token) == "UNAVAILABLE"


async def test_with_an_authority_of_clients_they_must_show_a_certificate(
    arena, authority, tmp_path
):
    token = arena.tokens.create("me", Role.REFEREE)
    pair = authority.sign("server", "127.0.0.1")
    members = Authority(tmp_path, "members")
    tls = ServerTls.load(pair.cert, pair.key, members.ca)
    shown = {
        "none": None,
        "good": members.sign("good"),
        "expired": members.sign("expired", good_for=-HOUR),
        "stranger": authority.sign("stranger"),
    }
    async with Server(arena, tls=tls) as server:
        found = {
            name: await listed(server.address, credentials(authority, one), token)
            for name, one in shown.items()
        }
    assert found == {**dict.fromkeys(shown, "UNAVAILABLE"), "good": "ok"}


async def test_a_certificate_is_no_token(arena, authority):
    pair = authority.sign("server", "127.0.0.1")
    tls = ServerTls.load(pair.cert, pair.key, authority.ca)
    shown = credentials(authority, authority.sign("bob"))
    async with Server(arena, tls=tls) as server:
        assert await listed(server.address, shown, "") == "auth.missing-token"


async def test_with_tls_it_listens_beyond_loopback(arena, authority, server_tls):
    token = arena.tokens.create("me", Role.REFEREE)
    async with Server(arena, "0.0.0.0:0", tls=server_tls) as server:
        assert server.address.startswith("0.0.0.0:")
        port = server.address.rpartition(":")[2]
        outcome = await listed(f"127.0.0.1:{port}", credentials(authority), token)
    assert outcome == "ok"


async def test_a_port_in_use_is_one_clear_error_in_tls_too(arena, server_tls, capfd):
    async with Server(arena, tls=server_tls) as server:
        with pytest.raises(ServiceError, match="in use") as caught:
            await Server(arena, server.address, tls=server_tls).start()
    assert caught.value.code == "server.address-in-use"
    assert capfd.readouterr().err == ""


# --------------------------------------------------------------- programs of the arena


@pytest.mark.system
@pytest.mark.parametrize("members_only", [False, True])
async def test_programs_reach_a_server_with_tls_wherever_it_listens(
    arena, authority, members_only
):
    # No program could be sure of a name in this certificate.
    pair = authority.sign("server", "arena.example")
    tls = ServerTls.load(pair.cert, pair.key, authority.ca if members_only else None)
    async with Server(arena, "0.0.0.0:0", tls=tls):
        result = await arena.play(
            "pig", [f"exec:{PROGRAM} play", "uniform"], terms=PATIENT
        )
    assert result.finish.kind is EndKind.PLAYED


async def test_the_door_for_programs_is_on_loopback_and_for_them_alone(
    arena, server_tls
):
    tokens = {role: arena.tokens.create("me", role) for role in Role}
    program = arena.tokens.create("program", Role.BOT, passing=True)
    async with Server(arena, "0.0.0.0:0", tls=server_tls) as server:
        inside = arena.address
        assert inside.startswith("127.0.0.1:")
        assert inside.rpartition(":")[2] != server.address.rpartition(":")[2]
        found = {}
        for role, token in tokens.items():
            bot = RawBot(inside, token)
            found[role] = await outcome_of(bot.call)
            await bot.close()
            # There are no matches to be made here at all.
            assert await listed(inside, None, token) == "method.unknown"
        async with RawBot(inside, program) as bot:
            await bot.until("welcome")
        async with grpc.aio.insecure_channel(inside) as channel:
            stub = catalog_pb2_grpc.CatalogServiceStub(channel)
            request = catalog_pb2.ListActionsRequest(game="pig")
            assert (await stub.ListActions(request)).actions
    assert found == {
        Role.BOT: "auth.wrong-address",
        Role.REFEREE: "auth.wrong-role",
        Role.SPECTATOR: "auth.wrong-role",
    }
    assert await listed(inside, None, program) == "UNAVAILABLE"


async def test_without_tls_there_is_one_door(arena):
    async with Server(arena) as server:
        assert arena.address == server.address


# ---------------------------------------------------------------------- wrong files


def cut(path):
    path.write_bytes(path.read_bytes()[:200])


def make_missing(pair, folder):
    return folder / "no.pem", pair.key, "No such file"


def make_folder(pair, folder):
    return folder, pair.key, "not a regular file"


def make_binary(pair, folder):
    certificate = x509.load_pem_x509_certificate(pair.cert.read_bytes())
    pair.cert.write_bytes(certificate.public_bytes(serialization.Encoding.DER))
    return pair.cert, pair.key, "holds no certificate in PEM"


def make_empty(pair, folder):
    pair.key.write_bytes(b"")
    return pair.cert, pair.key, "holds no private key in PEM"


def make_swapped(pair, folder):
    return pair.key, pair.cert, "holds a key where a certificate is wanted"


def make_two_certificates(pair, folder):
    return pair.cert, pair.cert, "holds a certificate where a key is wanted"


def make_cut_certificate(pair, folder):
    cut(pair.cert)
    return pair.cert, pair.key, "a certificate that cannot be read"


def make_cut_key(pair, folder):
    cut(pair.key)
    return pair.cert, pair.key, "key"


def make_other_key(pair, folder):
    key = folder / "other.key"
    key.write_bytes(key_pem(ec.generate_private_key(ec.SECP256R1())))
    return pair.cert, key, "does not belong to certificate"


def make_encrypted_key(pair, folder):
    key = serialization.load_pem_private_key(pair.key.read_bytes(), None)
    pair.key.write_bytes(key_pem(key, "secret"))
    return pair.cert, pair.key, "is encrypted"


def make_unusable_key(pair, folder):
    pair.key.write_bytes(key_pem(ed25519.Ed25519PrivateKey.generate()))
    return pair.cert, pair.key, "RSA, P-256 or P-384"


def make_expired(pair, folder):
    pair = Authority(folder).sign("old", "127.0.0.1", good_for=-HOUR)
    return pair.cert, pair.key, "expired on 20"


def make_expired_chain(pair, folder):
    old = Authority(folder, "older").sign("link", good_for=-HOUR)
    pair.cert.write_bytes(pair.cert.read_bytes() + old.cert.read_bytes())
    return pair.cert, pair.key, "expired on 20"


def make_early(pair, folder):
    key = ec.generate_private_key(ec.SECP256R1())
    now = dt.datetime.now(dt.UTC)
    name = x509.Name([])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1)
        .not_valid_before(now + HOUR)
        .not_valid_after(now + 2 * HOUR)
        .sign(key, hashes.SHA256())
    )
    pair.cert.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    pair.key.write_bytes(key_pem(key))
    return pair.cert, pair.key, "is not valid before 20"


def make_pipe(pair, folder):
    os.mkfifo(folder / "pipe")
    return pair.cert, folder / "pipe", "not a regular file"


def make_device(pair, _):
    return Path("/dev/zero"), pair.key, "not a regular file"


def make_large(pair, folder):
    with (folder / "large").open("wb") as file:
        file.truncate(2**40)
    return folder / "large", pair.key, "more than 4194304 bytes"


WRONG = [value for name, value in list(globals().items()) if name.startswith("make_")]


@pytest.mark.parametrize("make", WRONG, ids=lambda make: make.__name__)
def test_a_wrong_file_is_one_clear_line(authority, tmp_path, make):
    pair = authority.sign("server", "127.0.0.1")
    cert, key, said = make(pair, tmp_path)
    with pytest.raises(UsageError) as caught:
        ServerTls.load(cert, key)
    assert caught.value.code == "usage.tls"
    assert said in caught.value.message
    assert "\n" not in caught.value.message
    assert str(cert) in caught.value.message or str(key) in caught.value.message


@pytest.mark.parametrize("how", ["missing", "key", "expired"])
def test_a_wrong_authority_of_clients_is_one_clear_line(authority, tmp_path, how):
    pair = authority.sign("server", "127.0.0.1")
    roots, said = {
        "missing": (tmp_path / "no.pem", "No such file"),
        "key": (pair.key, "holds a key"),
        "expired": (authority.sign("old", good_for=-HOUR).cert, "expired on"),
    }[how]
    with pytest.raises(UsageError, match=said) as caught:
        ServerTls.load(pair.cert, pair.key, roots)
    assert str(roots) in caught.value.message


def test_a_bundle_may_hold_what_has_expired(authority, tmp_path):
    pair = authority.sign("server", "127.0.0.1")
    old = authority.sign("old", good_for=-HOUR).cert.read_bytes()
    bundle = tmp_path / "bundle.pem"
    bundle.write_bytes(old + authority.ca.read_bytes())
    assert ServerTls.load(pair.cert, pair.key, bundle).client_roots


@pytest.mark.parametrize(
    "make",
    [
        lambda: rsa.generate_private_key(65_537, 2_048),
        lambda: ec.generate_private_key(ec.SECP384R1()),
    ],
    ids=["rsa", "p-384"],
)
async def test_other_kinds_of_keys_that_are_taken_do_serve(arena, authority, make):
    token = arena.tokens.create("me", Role.REFEREE)
    pair = authority.sign("server", "127.0.0.1", key=make())
    async with Server(arena, tls=ServerTls.load(pair.cert, pair.key)) as server:
        assert await listed(server.address, credentials(authority), token) == "ok"


def test_what_the_certificate_is_for_is_known(authority):
    pair = authority.sign("server", "arena.example", "192.0.2.1")
    about = ServerTls.load(pair.cert, pair.key).about
    assert about.names == ("arena.example", "192.0.2.1")
    assert abs(about.good_until - dt.datetime.now(dt.UTC) - HOUR) < HOUR / 60


def test_nothing_of_the_key_is_shown(authority, server_tls):
    assert "PRIVATE" not in repr(server_tls)


@pytest.mark.skipif(os.name != "posix", reason="files have modes on POSIX")
def test_a_key_that_others_can_read_is_remarked_upon(authority, caplog):
    pair = authority.sign("server", "127.0.0.1")
    ServerTls.load(pair.cert, pair.key)
    assert not caplog.records
    pair.key.chmod(0o640)
    ServerTls.load(pair.cert, pair.key)
    assert "chmod 600" in caplog.text
