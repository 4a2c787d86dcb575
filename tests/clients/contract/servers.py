"""A server in a process of its own, which is killed and started again."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
from pathlib import Path
from typing import Any, Self

from tests.clients.contract.play import Deal
from tests.clients.contract.programs import WITHIN_S
from tests.kill.driver import MATCH
from tests.kill.lives import Forge, Life
from tests.kill.proxy import Proxy

from fritillary.codec.converter import make_converter
from fritillary.record.terms import Terms
from fritillary.service.tokens import Role, TokenStore


class Phoenix:
    """A server that rises from its data folder; it plays one match.

    Args:
        folder: for its data and its logs.

    Attributes:
        token: of the bot ``bob``.
        address: where bots dial in, in whichever process the server is.
        record: path of the record of the match.
        over: set when the match has ended.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._data = folder / "data"
        self._data.mkdir(mode=0o700)
        self.token = TokenStore(self._data / "tokens.json").create("bob", Role.BOT)
        self.record = self._data / "records" / f"{MATCH}.frec"
        self.over = asyncio.Event()
        self._proxy = Proxy()
        self._forge = Forge()
        self._lives: dict[str, Life] = {}
        self._life: Life | None = None
        self._listening = asyncio.Event()
        self._stack = contextlib.AsyncExitStack()

    @property
    def address(self) -> str:
        return self._proxy.address

    async def __aenter__(self) -> Self:
        async with contextlib.AsyncExitStack() as stack:
            control = await asyncio.start_unix_server(self._hear, self._control)
            stack.callback(control.close)
            await self._proxy.start()
            stack.push_async_callback(self._proxy.close)
            await stack.enter_async_context(self._forge)
            stack.push_async_callback(self._end)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    @property
    def _control(self) -> Path:
        return self._folder / "control"

    async def _hear(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        life: Life | None = None
        with contextlib.suppress(OSError):
            async for line in reader:
                told = json.loads(line)
                if "hello" in told:
                    life = self._lives[told["hello"]]
                    life.pid, life.writer = told["pid"], writer
                    life.begun.set()
                elif "listening" in told:
                    host, _, port = told["listening"].rpartition(":")
                    self._proxy.target = host, int(port)
                    self._listening.set()
                elif "over" in told:
                    self.over.set()
        writer.close()
        if life is not None:
            life.gone.set()

    async def start(self, deal: Deal | None = None) -> None:
        """Start the server, and wait until it listens.

        Args:
            deal: begins the match, with ``bob`` in both seats; ``None``: it goes on
                with what it finds.
        """
        number = len(self._lives)
        self._life = life = Life(f"server-{number}", None)
        self._lives[life.tag] = life
        self._listening.clear()
        match: dict[str, Any] | None = None
        if deal is not None:
            match = {
                "game": deal.game,
                "players": ["remote:bob"] * 2,
                "terms": make_converter().unstructure(Terms()),
                "seed": deal.seed.hex(),
            }
        self._forge.start(
            {
                "tag": life.tag,
                "control": str(self._control),
                "log": str(self._folder / f"{life.tag}.log"),
                "armed": None,
                "role": "server",
                "data": str(self._data),
                "match": match,
            }
        )
        async with asyncio.timeout(WITHIN_S):
            await self._listening.wait()

    async def stop(self, how: signal.Signals) -> None:
        """Stop the server: SIGTERM in order, SIGKILL as nothing can be prepared for."""
        life = self._life
        assert life is not None
        if how is signal.SIGKILL:
            await life.kill()
        else:
            life.signal(how)
        async with asyncio.timeout(WITHIN_S):
            await life.gone.wait()
        self._proxy.target = None

    async def _end(self) -> None:
        for life in self._lives.values():
            if not life.gone.is_set():
                await life.kill()
