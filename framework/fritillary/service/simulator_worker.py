"""The process where rules run apart: a call in, an answer out, one at a time.

It works for a simulator, and for the catalog. Run as a program:
``python -m fritillary.service.simulator_worker REGISTRY LIMITS`` with a function that
returns the games, as ``module:function``, or what `by_name` returns, and the limits as
JSON.
It ends when its standard input does. A game that never comes back, or takes all
memory, takes this process along and nothing else.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import queue
import struct
import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final

import attrs

from fritillary.api.v1 import catalog_pb2, common_pb2
from fritillary.api.v1 import simulator_pb2 as pb
from fritillary.core.errors import FritillaryError
from fritillary.core.memory import limit_memory
from fritillary.core.text import told
from fritillary.plugins.binding import Plugin
from fritillary.plugins.discovery import Registry
from fritillary.service.catalog_calls import check_options, get_game, listed
from fritillary.service.process import settle
from fritillary.service.simulator_calls import Calls
from fritillary.service.simulator_limits import GivenUpError, SimulatorLimits, Watch
from fritillary.service.simulator_playouts import play_out

#: Before each message, either way: what it is, number of the call, size of the rest.
HEAD: Final = struct.Struct(">BQI")

# What goes in.
CALL: Final = 1
GIVE_UP: Final = 2

# What comes out.
READY: Final = 1
ANSWER: Final = 2
ERROR: Final = 3

_MODULE: Final = "fritillary.service.simulator_worker"

#: The installed games, as the name of what returns them.
INSTALLED: Final = f"{_MODULE}:installed"


def installed() -> Registry:
    """Return the installed games."""
    registry = Registry()
    registry.load()
    return registry


def by_name(registry: Registry) -> str:
    """Return the names of the modules of a registry, for another process.

    Plugins that are no modules are left out: they are nowhere to be found by a name.
    """
    return json.dumps(
        [
            [
                [plugin.name, plugin.module.__name__, plugin.distribution]
                for plugin in plugins
                if _is_found(plugin.module)
            ]
            for plugins in registry.plugins()
        ]
    )


def _is_found(module: object) -> bool:
    name = getattr(module, "__name__", None)
    return (
        isinstance(module, types.ModuleType)
        and name != "__main__"
        and sys.modules.get(str(name)) is module
    )


def _named(names: str) -> Registry:
    """Return the registry of names; see `by_name`."""
    registry = Registry()
    for add, found in zip(
        (registry.add_game, registry.add_variant), json.loads(names), strict=True
    ):
        for name, module, distribution in found:
            add(Plugin(name, importlib.import_module(module), distribution))
    return registry


def methods(calls: Calls) -> dict[str, tuple[Any, Callable[[Any, Watch], Any]]]:
    """Return what can be asked for: class of the request, and what answers it.

    A simulator lets its callers ask for what its service has, and the catalog for what
    begins with its name.
    """
    registry = calls.registry
    return {
        "Catalog.GetGame": (
            catalog_pb2.GetGameRequest,
            lambda request, _: get_game(registry, request),
        ),
        "Catalog.CheckOptions": (
            catalog_pb2.GetGameRequest,
            lambda request, _: check_options(registry, request),
        ),
        "Catalog.ListActions": (
            catalog_pb2.ListActionsRequest,
            lambda request, _: listed(registry, request),
        ),
        "OpenGame": (pb.OpenGameRequest, calls.open_game),
        "SampleWorlds": (pb.SampleWorldsRequest, calls.sample_worlds),
        "GetPositions": (pb.GetPositionsRequest, calls.get_positions),
        "ApplyActions": (pb.ApplyActionsRequest, calls.apply_actions),
        "ObserveWorlds": (pb.ObserveWorldsRequest, calls.observe_worlds),
        "PlayOut": (
            pb.PlayOutRequest,
            lambda request, watch: play_out(calls, request, watch),
        ),
    }


class Worker:
    """Reads calls, answers them, and lets go of those that are given up.

    Args:
        calls: answer.
        read: from whoever gives work.
        write: to them.
    """

    def __init__(self, calls: Calls, read: BinaryIO, write: BinaryIO) -> None:
        self._limits = calls.limits
        self._methods = methods(calls)
        self._read = read
        self._write = write
        self._waiting: queue.SimpleQueue[tuple[int, bytes]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._running: tuple[int, Watch] | None = None
        self._given_up = 0

    def run(self) -> None:
        """Work until the other end is gone; the process ends with it."""
        threading.Thread(target=self._listen, daemon=True).start()
        self._say(READY, 0, b"")
        while True:
            number, raw = self._waiting.get()
            watch = Watch(self._limits)
            with self._lock:
                self._running = number, watch
                # It may have been given up before it was begun.
                watch.given_up = self._given_up >= number
            self._say(*self._answer(number, raw, watch))

    def _answer(self, number: int, raw: bytes, watch: Watch) -> tuple[int, int, bytes]:
        name, _, request = raw.partition(b"\n")
        kind, answer = self._methods[name.decode()]
        try:
            response = answer(kind.FromString(request), watch)
            size = response.ByteSize()
            self._limits.check_size(size, "the answer")
            return ANSWER, number, response.SerializeToString()
        except GivenUpError:
            return ANSWER, number, b""
        except FritillaryError as error:
            return ERROR, number, _packed(error)
        except MemoryError as error:
            return ERROR, number, _packed(FritillaryError(told(error)))

    def _listen(self) -> None:
        for kind, number, raw in frames(self._read):
            if kind == CALL:
                self._waiting.put((number, raw))
                continue
            with self._lock:
                self._given_up = number
                if self._running is not None and self._running[0] <= number:
                    self._running[1].given_up = True
        # Nobody is there any more to whom anything could be told.
        os._exit(0)

    def _say(self, kind: int, number: int, raw: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._write.write(HEAD.pack(kind, number, len(raw)) + raw)
            self._write.flush()


def frames(read: BinaryIO) -> Iterator[tuple[int, int, bytes]]:
    """Yield messages until the stream ends."""
    while len(head := read.read(HEAD.size)) == HEAD.size:
        kind, number, size = HEAD.unpack(head)
        raw = read.read(size)
        if len(raw) < size:
            return
        yield kind, number, raw


def _packed(error: FritillaryError) -> bytes:
    """Return an error: the name of its class, and what clients are told."""
    info = common_pb2.ErrorInfo(code=error.code, message=error.message)
    return type(error).__name__.encode() + b"\n" + info.SerializeToString()


def main(registry: str, limits: str) -> None:
    """Work at standard input and output."""
    # What a game prints goes elsewhere.
    write = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    set_limits = SimulatorLimits(**json.loads(limits))
    limit_memory(set_limits.memory_bytes)
    if registry.startswith("["):
        found = _named(registry)
    else:
        module, _, function = registry.partition(":")
        found = getattr(importlib.import_module(module), function)()
    settle()
    Worker(Calls(found, set_limits), sys.stdin.buffer, write).run()


def command(registry: str, limits: SimulatorLimits) -> list[str]:
    """Return what starts a worker.

    Args:
        registry: names a function or the plugins, see the module.
        limits: on each call.
    """
    # -P: a file beside the caller is no module.
    words = [sys.executable, "-P", "-m", _MODULE]
    return [*words, registry, json.dumps(attrs.asdict(limits))]


if __name__ == "__main__":
    main(*sys.argv[1:])
