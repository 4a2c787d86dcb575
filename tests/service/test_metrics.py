"""Metrics for Prometheus, read from the real server over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import re
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import grpc
import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.service import pig
from tests.service.authority import Authority
from tests.service.calls import Caller, outcome_of
from tests.service.rawbot import RawBot, decide, last_legal, until

from fritillary.api.v1 import match_pb2, match_pb2_grpc
from fritillary.core.errors import ServiceError, UsageError
from fritillary.record.terms import EndKind, Terms, parse_policy
from fritillary.service import metrics
from fritillary.service.arena import Arena
from fritillary.service.counts import BOUNDS_MS, Counts
from fritillary.service.hosted import HostedMatch
from fritillary.service.metering import Meter
from fritillary.service.metrics import Metrics
from fritillary.service.server import Server
from fritillary.service.tls import ServerTls
from fritillary.service.tokens import Role


def get(address, method="GET"):
    """Return the status and the body of the page."""
    with contextlib.closing(http.client.HTTPConnection(address, timeout=60)) as link:
        link.request(method, "/metrics")
        answer = link.getresponse()
        return answer.status, answer.read().decode()


class Page:
    """The metrics of a stage."""

    def __init__(self, address):
        self.address = address

    async def text(self):
        status, text = await asyncio.to_thread(get, self.address)
        assert status == 200
        return text

    async def all(self):
        """Return all values by name and labels, as they are written."""
        found = {}
        for family in text_string_to_metric_families(await self.text()):
            for one in family.samples:
                labels = ",".join(f"{k}={v}" for k, v in sorted(one.labels.items()))
                found[f"{one.name}{{{labels}}}" if labels else one.name] = one.value
        return found


@pytest.fixture
async def page(stage):
    async with Metrics(stage.arena, stage.server, "0") as telling:
        yield Page(telling.address)


async def test_when_the_certificate_ends_is_told_where_there_is_one(page, tmp_path):
    name = "fritillary_certificate_end_timestamp_seconds"
    assert name not in await page.all()
    pair = Authority(tmp_path).sign("server", "127.0.0.1")
    tls = ServerTls.load(pair.cert, pair.key)
    async with (
        Arena(pig.registry()) as arena,
        Server(arena, tls=tls) as server,
        Metrics(arena, server, "0") as telling,
    ):
        found = await Page(telling.address).all()
    assert found[name] == tls.about.good_until.timestamp()


async def test_a_quiet_server_tells_that_nothing_has_happened(page):
    found = await page.all()
    assert found["fritillary_bots_connected"] == 0
    assert found["fritillary_matches{phase=running}"] == 0
    assert found["fritillary_rulings_total{fault=flooding}"] == 0
    assert found["fritillary_decisions_total{closed=accepted}"] == 0
    assert found["fritillary_decision_seconds_count"] == 0
    assert found["process_resident_memory_bytes"] > 1e6
    assert found["process_cpu_seconds_total"] > 0
    build = next(name for name in found if name.startswith("fritillary_build_info"))
    assert "version=" in build
    assert "python=3." in build
    assert found[build] == 1


async def test_a_match_is_counted_while_it_goes_on_and_after(stage, page):
    async with stage.bot("bob", play=None) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        request = await bot.until("decision_request")
        during = await page.all()
        bot.play = last_legal
        await bot.send_all(last_legal(request))
        result = await hosted.ended
        await until(lambda: not stage.arena.hub.link("bob").matches)
        after = await page.all()
        await bot.until("match_ended")
        decisions = len(bot.all("decision_closed"))
    assert during["fritillary_bots_connected"] == 1
    assert during["fritillary_sessions_total{event=opened}"] == 1
    assert during["fritillary_matches{phase=running}"] == 1
    assert during["fritillary_decisions_total{closed=accepted}"] == 0
    assert "fritillary_matches_ended_total{game=pig,kind=played}" not in during
    assert after["fritillary_matches{phase=running}"] == 0
    assert after["fritillary_matches_ended_total{game=pig,kind=played}"] == 1
    assert after["fritillary_plies_total{game=pig}"] == result.plies
    assert after["fritillary_decisions_total{closed=accepted}"] == decisions
    assert after["fritillary_decision_seconds_count"] == decisions
    assert after["fritillary_decision_seconds_bucket{le=+Inf}"] == decisions
    assert after["fritillary_frames_total{direction=in}"] > 2
    assert after["fritillary_frames_total{direction=out}"] > 2
    for direction in ("in", "out"):
        name = f"fritillary_frame_bytes_total{{direction={direction}}}"
        assert after[name] > during[name] > 0


async def test_sessions_that_are_resumed_and_replaced_are_told_apart(stage, page):
    token = stage.token("bob")
    async with stage.bot("bob", token) as bot:
        session = (await bot.until("welcome")).session_token
    await until(lambda: not stage.arena.hub.sessions())
    async with (
        stage.bot("bob", token, session_token=session) as bot,
        stage.bot("bob", token) as other,
    ):
        await bot.until("goodbye")
        found = await page.all()
        await other.until("welcome")
    sessions = {
        event: found[f"fritillary_sessions_total{{event={event}}}"]
        for event in ("opened", "resumed", "replaced")
    }
    assert sessions == {"opened": 2, "resumed": 1, "replaced": 1}
    assert found["fritillary_bots_connected"] == 1


async def test_rulings_are_counted_by_fault_at_once_and_only_once(stage, page):
    def illegal(request):
        # Nothing can be held at first.
        return decide(request, index=1) if request.attempt < 3 else None

    terms = Terms(policy=parse_policy(["illegal=retry:5"]))
    async with stage.bot("bob", play=illegal) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"], terms=terms)
        await until(
            lambda: any(one.attempt == 3 for one in bot.all("decision_request"))
        )
        during = await page.all()
        hosted.abort(EndKind.VOID, "test", "enough")
        await hosted.ended
        after = await page.all()
    for found in (during, after):
        assert found["fritillary_rulings_total{fault=illegal}"] == 2
        assert found["fritillary_decisions_total{closed=ruled}"] == 2
    assert after["fritillary_decisions_total{closed=withdrawn}"] == 1
    assert after["fritillary_matches_ended_total{game=pig,kind=void}"] == 1


async def test_a_match_that_failed_altogether_has_a_kind_of_its_own(
    stage, page, monkeypatch
):
    async def fail(*_, **__):
        raise OSError

    monkeypatch.setattr(HostedMatch, "play", fail)
    hosted = stage.arena.create("pig", ["uniform", "uniform"])
    await until(lambda: hosted.over)
    found = await page.all()
    assert found["fritillary_matches_ended_total{game=pig,kind=failed}"] == 1


async def test_watchers_and_refused_calls_are_counted(stage, page, monkeypatch):
    # However long that takes, there is no room for another line meanwhile.
    monkeypatch.setattr(stage.server.audit, "_meter", Meter(lambda: 0.0))
    async with stage.bot("bob", play=None) as bot, Caller(stage, Role.SPECTATOR) as ann:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        await bot.until("decision_request")
        call = ann.WatchMatch(match_id=hosted.id)
        await call.read()
        async with grpc.aio.insecure_channel(stage.address) as channel:
            stub = match_pb2_grpc.MatchServiceStub(channel)
            for _ in range(30):
                assert await outcome_of(
                    stub.ListMatches(match_pb2.ListMatchesRequest())
                ) == ("auth.missing-token")
        assert await outcome_of(ann.AbortMatch(match_id=hosted.id)) == "auth.wrong-role"
        found = await page.all()
        call.cancel()
        await until(lambda: not hosted._watchers and not stage.server.admission.count)
        after = await page.all()
    assert found["fritillary_watches"] == 1
    assert found["fritillary_refused_calls_total{code=auth.missing-token}"] == 30
    assert found["fritillary_refused_calls_total{code=auth.wrong-role}"] == 1
    assert found["fritillary_refused_calls_hidden_total"] == 11
    assert after["fritillary_watches"] == 0
    assert (found["fritillary_calls"], after["fritillary_calls"]) == (1, 0)
    assert found["fritillary_unread_bytes"] == 0


async def test_no_name_and_no_secret_is_told(stage, page):
    token = stage.token("s3cret-bob")
    async with stage.bot(
        "s3cret-bob", token, play=last_legal, bot={"name": "s3cret-show"}
    ):
        await stage.arena.play(
            "pig",
            ["remote:s3cret-bob", "uniform"],
            match_id="s3cret-match",
            labels={"s3cret-key": "s3cret-label"},
        )
        bad = RawBot(stage.address, "frt_bot_s3cret-token")
        await outcome_of(bad.call)
        await bad.close()
        text = await page.text()
    assert "s3cret" not in text
    assert token not in text
    assert "127.0.0.1" not in text


async def test_labels_have_few_values_whatever_happens(stage, page):
    before = len((await page.text()).splitlines())
    for number in range(20):
        await stage.arena.play("pig", ["uniform", "uniform"], match_id=f"m{number}")
    async with Caller(stage, Role.REFEREE) as referee:
        for number in range(20):
            await outcome_of(referee.GetMatch(match_id=f"no-{number}"))
    # One game that has ended in one way, and one code.
    assert len((await page.text()).splitlines()) == before + 3


def test_times_fall_into_the_right_classes():
    counts = Counts()
    for spent in (0, 1, 2, 3, 59_999, 60_000, 60_001, 10**9):
        counts.closed("accepted", spent)
    assert counts.decided[:3] == [2, 1, 1]
    assert counts.decided[-2:] == [2, 2]
    assert sum(counts.decided) == 8
    assert list(BOUNDS_MS) == sorted(BOUNDS_MS)


# ----------------------------------------------------------------------- where, and how


async def test_without_a_host_it_is_on_loopback_alone(stage):
    for address in ("0", ":0"):
        async with Metrics(stage.arena, stage.server, address) as telling:
            host, _, port = telling.address.rpartition(":")
            assert host == "127.0.0.1"
            assert int(port) > 0


async def test_it_stops_with_the_server(stage):
    async with Metrics(stage.arena, stage.server, "0") as telling:
        address = telling.address
        assert (await asyncio.to_thread(get, address))[0] == 200
    with pytest.raises(OSError, match="refused"):
        await asyncio.to_thread(get, address)
    # The port is free at once.
    async with Metrics(stage.arena, stage.server, address) as telling:
        assert telling.address == address


async def test_a_port_in_use_is_one_clear_error(stage):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = f"127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(ServiceError, match="in use") as caught:
            await Metrics(stage.arena, stage.server, address).start()
    assert caught.value.code == "server.address-in-use"
    assert address in caught.value.message


async def test_an_address_of_another_machine_is_one_clear_error(stage):
    for address in ("192.0.2.1:0", "no-such-host.invalid:0"):
        with pytest.raises(ServiceError, match="not of this machine"):
            await Metrics(stage.arena, stage.server, address).start()


@pytest.mark.parametrize(
    "address",
    ["x", "127.0.0.1", "127.0.0.1:x", ":99999", "::", "::1:80", "[zz]:0", "a..b:0"],
)
async def test_what_is_no_address_is_wrong_usage(stage, address):
    with pytest.raises(UsageError, match="HOST:PORT"):
        Metrics(stage.arena, stage.server, address)


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


async def test_a_host_of_ipv6_is_in_brackets(stage):
    telling = Metrics(stage.arena, stage.server, "[::1]:0")
    if not has_ipv6():
        with pytest.raises(ServiceError, match="not of this machine"):
            await telling.start()
        return
    async with telling:
        assert telling.address.startswith("[::1]:")
        assert (await asyncio.to_thread(get, telling.address))[0] == 200


async def test_other_requests_do_no_harm(stage, page, capfd):
    def provoke():
        host, _, port = page.address.rpartition(":")
        for raw in (b"\x00\xff\r\n\r\n", b"GET /" + b"x" * 70_000 + b"\r\n\r\n", b""):
            with socket.create_connection((host, int(port)), 60) as link:
                link.sendall(raw)
                link.shutdown(socket.SHUT_WR)
                link.settimeout(60)
                with contextlib.suppress(ConnectionError):
                    while link.recv(65_536):
                        pass
        return get(page.address, "POST")[0]

    assert await asyncio.to_thread(provoke) == 405
    assert "fritillary_bots_connected" in await page.text()
    assert capfd.readouterr().err == ""


@contextlib.contextmanager
def asking(page, count, request=b""):
    """Keep connections that send this and nothing more."""
    host, _, port = page.address.rpartition(":")
    with contextlib.ExitStack() as stack:
        links = []
        for _ in range(count):
            link = socket.create_connection((host, int(port)), 60)
            stack.enter_context(contextlib.closing(link))
            link.sendall(request)
            links.append(link)
        yield links


async def test_those_that_do_not_ask_are_in_nobodys_way(page):
    with asking(page, 20) as silent:
        assert "fritillary" in await page.text()
        # Who was there first has lost its place.
        assert await asyncio.to_thread(silent[0].recv, 1) == b""
        assert threading.active_count() < 50


async def test_those_that_trickle_are_in_nobodys_way_and_are_cut_off_at_last(
    stage, monkeypatch
):
    monkeypatch.setattr(metrics, "_REQUEST_S", 1.5)
    async with Metrics(stage.arena, stage.server, "0") as telling:
        page = Page(telling.address)
        with asking(page, 8, b"GET /metrics HTTP/1.1\r\nX-A: ") as slow:
            for _ in range(3):
                for link in slow:
                    with contextlib.suppress(OSError):
                        link.sendall(b"a")
                assert "fritillary" in await page.text()

            def trickle(link):
                # Never as long without a byte as a read may take.
                for _ in range(600):
                    try:
                        link.sendall(b"a")
                    except OSError:
                        return True
                    time.sleep(0.1)
                return False

            assert await asyncio.to_thread(trickle, slow[-1])


async def test_those_that_read_no_answer_are_in_nobodys_way(stage, monkeypatch):
    asked = []

    def lengthy(*_):
        asked.append(1)
        # More than lies in the buffers of a link.
        return [metrics._counted("many", "x" * 30_000_000, (), {(): 1})]

    with monkeypatch.context() as patch:
        patch.setattr(metrics, "families", lengthy)
        async with Metrics(stage.arena, stage.server, "0") as telling:
            page = Page(telling.address)
            with asking(page, 8, b"GET /metrics HTTP/1.1\r\n\r\n"):
                await until(lambda: len(asked) == 8)
                patch.undo()
                async with asyncio.timeout(60):
                    # Their answers have yet to be written out.
                    status = 503
                    while status == 503:
                        status, _ = await asyncio.to_thread(get, page.address)
                assert "fritillary_bots_connected" in await page.text()


async def test_who_finds_no_place_is_told_so(stage, page, monkeypatch):
    released, asked = asyncio.Event(), []

    async def read(_):
        asked.append(1)
        await released.wait()

    monkeypatch.setattr(metrics, "_READ_S", 60)
    monkeypatch.setattr(metrics._Reader, "_read", read)
    with asking(page, 8, b"GET /metrics HTTP/1.1\r\n\r\n"):
        await until(lambda: len(asked) == 8)
        found = await asyncio.to_thread(get, page.address)
        released.set()
    assert found == (503, "too many ask at the moment\n")


async def test_a_loop_that_is_busy_is_no_reason_to_hang(stage, page, monkeypatch):
    monkeypatch.setattr(metrics, "_READ_S", 0.2)
    answers = []

    def ask():
        answers.append(get(page.address))

    asking = threading.Thread(target=ask)
    asking.start()
    # The loop does nothing else meanwhile.
    asking.join(timeout=60)
    assert answers == [(503, "the server is busy or stopping\n")]
    await page.text()


def test_serving_without_metrics_does_not_load_what_tells_them():
    script = (
        "import sys, fritillary.cli.serve, fritillary.service.server; "
        "print([m for m in sys.modules if 'prometheus' in m or m == 'wsgiref'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


async def test_every_metric_is_documented(page):
    docs = (Path(__file__).parents[2] / "docs" / "operate.md").read_text()
    names = re.findall(r"^# TYPE (fritillary_\w+)", await page.text(), re.MULTILINE)
    assert len(names) > 10
    assert [name for name in names if f"`{name}`" not in docs] == []


async def test_two_servers_in_one_process_count_apart():
    async with (
        Arena(pig.registry()) as one,
        Server(one) as at,
        Arena(pig.registry()) as two,
        Server(two) as other,
        Metrics(one, at, "0") as first,
        Metrics(two, other, "0") as second,
    ):
        bot = RawBot(at.address, one.tokens.create("bob", Role.BOT))
        await bot.open()
        found = [await Page(page.address).all() for page in (first, second)]
        await bot.close()
    assert [page["fritillary_bots_connected"] for page in found] == [1, 0]
