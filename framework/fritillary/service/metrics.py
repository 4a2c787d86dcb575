"""Metrics over HTTP for Prometheus, off unless an address is named.

Nothing is measured here: the arena and its sessions keep plain numbers, which are read
in the loop when somebody asks, and told by a thread of their own. No label holds a
name of a bot, a match or an address, so that their number is bounded and nothing is
told that the catalog does not tell as well.
"""

from __future__ import annotations

import asyncio
import logging
import platform
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, Self

import grpc

import fritillary
from fritillary.core.address import host_and_port
from fritillary.core.errors import ServiceError
from fritillary.record.terms import Fault
from fritillary.service import wire
from fritillary.service.arena import Arena
from fritillary.service.counts import BOUNDS_MS, rulings_of
from fritillary.service.metrics_http import Http
from fritillary.service.server import Server

if TYPE_CHECKING:
    from prometheus_client import Metric

_log = logging.getLogger(__name__)

#: Where to listen if no host is named.
LOOPBACK: Final = "127.0.0.1"

#: Seconds that the loop may take to tell the numbers.
_READ_S: Final = 5.0

#: Seconds that a client may take for its request, and for reading the answer.
_REQUEST_S: Final = 5.0

_PHASES: Final = tuple(phase for phase in wire.PHASE if phase != "ended")


def families(arena: Arena, server: Server) -> list[Metric]:
    """Return the metrics as they are; to be called in the loop."""
    from prometheus_client.core import (
        GaugeMetricFamily,
        HistogramMetricFamily,
        InfoMetricFamily,
    )

    counts = arena.hub.counts
    phases = Counter(dict.fromkeys(_PHASES, 0))
    plies, rulings = Counter(counts.plies), Counter(counts.rulings)
    phases["stranded"] = len(arena.stranded)
    for hosted in arena.matches():
        if not hosted.over:
            # Where the referee is done, the arena may not have noted it yet.
            phase = hosted.phase
            phases[phase if phase in phases else "closing"] += 1
            plies[hosted.order.game.info.id] += hosted.ply
            rulings.update(rulings_of(hosted))

    build = InfoMetricFamily("fritillary_build", "What runs.")
    versions = {
        "version": fritillary.__version__,
        "python": platform.python_version(),
        "grpc": grpc.__version__,
    }
    build.add_metric([], versions)
    matches = GaugeMetricFamily(
        "fritillary_matches", "Matches that have not ended, by phase.", labels=["phase"]
    )
    for phase, number in phases.items():
        matches.add_metric([phase], number)
    seconds = HistogramMetricFamily(
        "fritillary_decision_seconds",
        "Time from asking a bot that dials in to its accepted answer.",
    )
    bounds = [*(str(bound / 1000) for bound in BOUNDS_MS), "+Inf"]
    classes = zip(bounds, accumulate(counts.decided), strict=True)
    seconds.add_metric([], list(classes), counts.decided_ms / 1000)
    audit = server.audit
    certificate = GaugeMetricFamily(
        "fritillary_certificate_end_timestamp_seconds",
        "When the certificate of the server ends, since 1970; none without TLS.",
    )
    until = server.certificate_until
    if until is not None:
        certificate.add_metric([], until.timestamp())
    return [
        build,
        certificate,
        GaugeMetricFamily(
            "fritillary_bots_connected",
            "Bots that are connected.",
            len(arena.hub.sessions()),
        ),
        GaugeMetricFamily(
            "fritillary_watches", "Streams that watch a match.", server.watches
        ),
        GaugeMetricFamily(
            "fritillary_calls",
            "Calls that run, streams of bots aside.",
            server.admission.count,
        ),
        GaugeMetricFamily(
            "fritillary_unread_bytes",
            "Bytes of answers to calls that are not read.",
            server.admission.unread,
        ),
        matches,
        _counted(
            "matches_ended",
            "Matches that have ended, by game and how.",
            ("game", "kind"),
            counts.ended,
        ),
        _counted("plies", "Plies of all matches.", ("game",), plies),
        _counted(
            "sessions",
            "Sessions of bots: opened anew, resumed, replaced by another one.",
            ("event",),
            {
                "opened": counts.opened,
                "resumed": counts.resumed,
                "replaced": counts.replaced,
            },
        ),
        _counted(
            "decisions",
            "Requests to bots that dial in, by how they were closed.",
            ("closed",),
            {
                "accepted": sum(counts.decided),
                "ruled": counts.ruled,
                "withdrawn": counts.withdrawn,
            },
        ),
        seconds,
        _counted(
            "rulings",
            "Rulings, by fault.",
            ("fault",),
            {fault.value: rulings[fault.value] for fault in Fault},
        ),
        _counted(
            "frames",
            "Frames of bots, by direction.",
            ("direction",),
            {"in": counts.frames_in, "out": counts.frames_out},
        ),
        _counted(
            "frame_bytes",
            "Bytes of these frames.",
            ("direction",),
            {"in": counts.bytes_in, "out": counts.bytes_out},
        ),
        _counted(
            "refused_calls",
            "Calls that were refused, and streams that were cut off, by code.",
            ("code",),
            audit.refused,
        ),
        _counted(
            "refused_calls_hidden",
            "Those of them without a line of their own in the log.",
            (),
            {(): audit.hidden},
        ),
    ]


def _counted(
    name: str,
    what: str,
    labels: tuple[str, ...],
    rows: Mapping[Any, int],
) -> Metric:
    """Return numbers that only grow.

    Args:
        name: of the metric, without what all have in common.
        what: it is, for people.
        labels: of each row.
        rows: by label, or by labels.
    """
    from prometheus_client.core import CounterMetricFamily

    family = CounterMetricFamily(f"fritillary_{name}", what, labels=labels)
    for key, number in rows.items():
        family.add_metric([key] if isinstance(key, str) else key, number)
    return family


class Metrics:
    """Tells the metrics of an arena and its server.

    Use it as an async context manager, inside those of both.

    Args:
        arena: that is told of.
        server: that is told of.
        address: ``HOST:PORT``, ``:PORT`` or ``PORT``; without a host, on loopback; port
            0 takes a free one.

    Raises:
        UsageError: ``usage.address`` if the address is none.

    Attributes:
        address: where it listens, once it does.
    """

    def __init__(self, arena: Arena, server: Server, address: str) -> None:
        self._arena = arena
        self._server = server
        self._wanted = host_and_port(address, host=LOOPBACK)
        self.address = ""
        self._http: Http | None = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Listen.

        Raises:
            ServiceError: ``server.address-in-use`` if the port is taken.
        """
        from prometheus_client import CollectorRegistry, ProcessCollector
        from prometheus_client.exposition import make_wsgi_app

        host, port = self._wanted
        loop = asyncio.get_running_loop()
        registry = CollectorRegistry()
        registry.register(_Reader(self._arena, self._server, loop))
        ProcessCollector(registry=registry)
        try:
            http = Http(
                host.strip("[]"),
                port,
                make_wsgi_app(registry),
                most_s=_REQUEST_S,
            )
        except OSError as error:
            msg = (
                f"cannot tell metrics on {host}:{port}: the port is in use or the "
                "address is not of this machine; choose another one, or port 0"
            )
            raise ServiceError(msg, code="server.address-in-use") from error
        self._http = http
        self.address = f"{host}:{http.server_port}"
        threading.Thread(
            target=http.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True
        ).start()

    async def stop(self) -> None:
        """Stop listening."""
        http, self._http = self._http, None
        if http is not None:
            # The loop must go on: a request that runs may be waiting for it.
            await asyncio.to_thread(http.shutdown)
            http.server_close()


class _Reader:
    """Reads the numbers in the loop, for a thread that tells them."""

    def __init__(
        self, arena: Arena, server: Server, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._arena = arena
        self._server = server
        self._loop = loop

    def describe(self) -> Iterable[Metric]:
        """Return nothing: what there is depends on what has happened."""
        return ()

    def collect(self) -> list[Metric]:
        """Return the metrics of now.

        Raises:
            TimeoutError: if the loop is too busy.
        """
        reading = asyncio.run_coroutine_threadsafe(self._read(), self._loop)
        return reading.result(_READ_S)

    async def _read(self) -> list[Metric]:
        return families(self._arena, self._server)
