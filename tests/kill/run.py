"""One match of the kill matrix, its processes, and what is done to them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from attrs import frozen
from tests.kill.driver import MATCH
from tests.kill.lives import Forge, Life, Told, differences
from tests.kill.plan import BOT_KINDS, SERVER_KINDS, Case, LineUp, script_of, seed_of
from tests.kill.proxy import Proxy

from fritillary.codec.converter import make_converter
from fritillary.core.errors import FritillaryError
from fritillary.plugins.discovery import Registry
from fritillary.record.terms import LinkBank, Policy, Terms
from fritillary.referee.verify import verify
from fritillary.service.private import PrivateFolder
from fritillary.service.tokens import Role, TokenStore

#: In seconds: the longest that a run may take to its end.
_WITHIN_S: Final = 120.0

#: In seconds: for what follows at once.
_SOON_S: Final = 60.0

_ROOT: Final = Path(__file__).parents[2]
_PROGRAM: Final = f"exec:{sys.executable} {_ROOT / 'examples/bots/uniform.py'}"


@frozen(kw_only=True)
class Undisturbed:
    """A run to which nothing was done.

    Args:
        content_hash: of its record.
        counts: how often each moment came.
        told: what each seat of a bot was told.
    """

    content_hash: str
    counts: dict[str, int]
    told: dict[int, Told]


class Run:
    """One match, its processes and what is done to them.

    Args:
        forge: starts processes.
        line_up: the match.
        deal: of the match.
        case: what is done; ``None``: nothing.
        undisturbed: how the same match went then.
    """

    def __init__(
        self,
        forge: Forge,
        line_up: LineUp,
        deal: int,
        case: Case | None = None,
        undisturbed: Undisturbed | None = None,
    ) -> None:
        self.failures: list[str] = []
        self.twice = False
        self._forge = forge
        self._line_up = line_up
        self._deal = deal
        self._case = case
        self._undisturbed = undisturbed
        self.folder = Path(tempfile.mkdtemp(prefix="kill-"))
        self._lives: dict[str, Life] = {}
        self._server: Life | None = None
        self._bots: dict[int, Life] = {}
        self._proxies = {seat: Proxy() for seat in line_up.remotes}
        self._tokens: dict[int, str] = {}
        self._strikes: set[asyncio.Task[None]] = set()
        self._struck = 0
        self._over: dict[str, Any] = {}
        self._is_over = asyncio.Event()
        self._moved = asyncio.Event()

    # ------------------------------------------------------------------ processes

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _launch(self, life: Life, **order: Any) -> None:
        self._lives[life.tag] = life
        self._forge.start(
            {
                "tag": life.tag,
                "control": str(self.folder / "control"),
                "log": str(self.folder / f"{life.tag}.log"),
                "armed": life.armed,
                **order,
            }
        )

    async def _start_server(
        self, *, armed: tuple[str, int] | None = None, blow: str = "", new: bool = False
    ) -> None:
        number = sum(life.seat is None for life in self._lives.values())
        self._server = life = Life(f"server-{number}", None, armed, blow)
        match = None
        if new:
            policy = self._line_up.policy
            policy = Policy(policy.rules, policy.stand_in, LinkBank(restarts=2))
            # A busy machine may take long to start a program.
            terms = Terms(policy=policy, offer_ms=100_000)
            match = {
                "game": self._line_up.game,
                "players": [
                    f"remote:bot{seat}"
                    if player == "remote"
                    else _PROGRAM
                    if player == "program"
                    else player
                    for seat, player in enumerate(self._line_up.players)
                ],
                "terms": make_converter().unstructure(terms),
                "seed": seed_of(self._line_up, self._deal).hex(),
            }
        self._launch(life, role="server", data=str(self._data), match=match)

    async def _start_bot(
        self, seat: int, armed: tuple[str, int] | None = None, blow: str = ""
    ) -> None:
        number = sum(life.seat == seat for life in self._lives.values())
        self._bots[seat] = life = Life(f"bot{seat}-{number}", seat, armed, blow)
        self._launch(
            life,
            role="bot",
            address=self._proxies[seat].address,
            token=self._tokens[seat],
            name=f"bot{seat}",
            script=script_of(self._line_up),
        )

    async def _listen(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        life: Life | None = None
        try:
            while line := await reader.readline():
                message = json.loads(line)
                if "hello" in message:
                    life = self._lives[message["hello"]]
                    life.pid, life.writer = message["pid"], writer
                    life.begun.set()
                    if life.killed:
                        await life.kill()
                elif life is not None:
                    self._hear(life, message)
        except (OSError, ValueError):
            pass
        finally:
            writer.close()
            if life is not None:
                life.gone.set()
                if not (life.killed or life.leaving):
                    self._fail(f"{life.tag} has ended by itself")

    def _hear(self, life: Life, message: dict[str, Any]) -> None:
        if life.killed and "at" in message:
            return
        if "listening" in message:
            host, _, port = message["listening"].rpartition(":")
            for proxy in self._proxies.values():
                proxy.target = host, int(port)
        elif "at" in message:
            task = asyncio.create_task(self._strike(life, message))
            self._strikes.add(task)
            task.add_done_callback(self._struck_down)
        elif "start" in message:
            life.took_seat = True
        elif "decide" in message:
            number = message["decide"]
            life.ids.append(number)
            life.decided[number] = message["seen"]
            life.shown += message["events"]
        elif "event" in message:
            number = message["event"]
            if number in life.events:
                self._fail(f"{life.tag}: event {number} was told twice")
            life.events[number] = message["what"]
        elif "end" in message:
            life.ends += 1
            self._moved.set()
        elif "over" in message:
            self._over = message
            self._is_over.set()
        elif "gone" in message and not life.leaving:
            self._fail(f"{life.tag}: no result: {message['gone']}")

    def _fail(self, what: str) -> None:
        self.failures.append(what)
        self._is_over.set()
        self._moved.set()

    def _struck_down(self, task: asyncio.Task[None]) -> None:
        self._strikes.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._fail(f"the harness failed: {task.exception()!r}")

    # ---------------------------------------------------------------------- blows

    async def _strike(self, life: Life, message: dict[str, Any]) -> None:
        case = self._case
        assert case is not None
        self._struck += 1
        kind = life.blow
        if kind in BOT_KINDS and not case.victims:
            for launcher in message["programs"]:
                _kill_programs(launcher)
        elif kind not in BOT_KINDS | SERVER_KINDS:
            for seat in case.victims:
                await self._proxies[seat].do(kind)
        bots: tuple[int, ...] = case.victims if kind in BOT_KINDS else ()
        server = self._server if kind in SERVER_KINDS else None
        for seat in bots:
            await self._bots[seat].kill()
        if server is not None:
            if kind == "term":
                server.leaving = True
                server.signal(signal.SIGTERM)
                life.go_on()
                await asyncio.wait_for(server.gone.wait(), _SOON_S)
            else:
                await server.kill()
            for proxy in self._proxies.values():
                proxy.target = None
        life.go_on()
        if server is not None and case.server_first:
            await self._again(life)
        for seat in bots:
            await self._start_bot(seat)
        if server is not None and not case.server_first:
            await asyncio.sleep(0.1)
            await self._again(life)

    async def _again(self, life: Life) -> None:
        """Start the server again; perhaps for a second blow."""
        second = None if self._case is None else self._case.second
        if second is None or self._struck > 1:
            await self._start_server()
        else:
            await self._start_server(armed=(second[1], 1), blow=second[0])

    # ------------------------------------------------------------------- the match

    async def play(self) -> None:
        """Play the match to its end, and note what does not hold."""
        self._prepare()
        control = await asyncio.start_unix_server(
            self._listen, self.folder / "control", limit=2**20
        )
        try:
            for proxy in self._proxies.values():
                await proxy.start()
            case = self._case
            in_bot = in_server = None
            if case is not None:
                armed = case.moment, case.occurrence
                in_bot = armed if armed[0].startswith("bot:") else None
                in_server = None if in_bot else armed
            blow = "" if case is None else case.kind
            await self._start_server(armed=in_server, blow=blow, new=True)
            first = True
            for seat in self._line_up.remotes:
                # The bot of a seat in which the moment came so often.
                hits = first if case is None else seat == self._seat_of_moment()
                await self._start_bot(seat, in_bot if hits else None, blow)
                first = False
            await self._until_over()
            await self._leave()
        finally:
            await self._clean_up()
            control.close()
        self._check()

    def _seat_of_moment(self) -> int:
        """Return whose bot is to stand still: that of the first victim."""
        assert self._case is not None
        victims = self._case.victims
        return victims[0] if victims else -1

    def _prepare(self) -> None:
        self._data.mkdir(mode=0o700)
        tokens = TokenStore(self._data / "tokens.json")
        for seat in self._line_up.remotes:
            self._tokens[seat] = tokens.create(f"bot{seat}", Role.BOT)

    async def _until_over(self) -> None:
        try:
            async with asyncio.timeout(_WITHIN_S):
                await self._is_over.wait()
        except TimeoutError:
            self._fail("the match does not come to its end")
        if self.failures:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SOON_S):
                while not self._settled() and not self.failures:
                    self._moved.clear()
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._moved.wait(), 0.02)

    def _settled(self) -> bool:
        """Say whether all have heard of the end, and nothing is kept of the match."""
        heard = all(
            life.ends or self._came_too_late(life) for life in self._bots.values()
        )
        return heard and not self._strikes and not self._kept()

    def _came_too_late(self, life: Life) -> bool:
        """Say whether the match had ended when a bot was started again.

        It has begun anew then, and is told nothing of the match.
        """
        lives = [one for one in self._lives.values() if one.seat == life.seat]
        return len(lives) > 1 and life is lives[-1] and not life.took_seat

    def _kept(self) -> bool:
        return PrivateFolder(self._data / "private").has(MATCH)

    async def _leave(self) -> None:
        """End all processes in order."""
        if self.failures:
            return
        # An end that is told twice would come now.
        await asyncio.sleep(0.05)
        for life in [*self._bots.values(), self._server]:
            if life is None:
                continue
            life.leaving = True
            try:
                async with asyncio.timeout(_SOON_S):
                    await life.begun.wait()
                    life.signal(signal.SIGTERM)
                    await life.gone.wait()
            except TimeoutError:
                self._fail(f"{life.tag} does not stop in order")

    async def _clean_up(self) -> None:
        for task in list(self._strikes):
            task.cancel()
        for life in self._lives.values():
            if not life.gone.is_set():
                await life.kill()
        for proxy in self._proxies.values():
            await proxy.close()

    # ------------------------------------------------------------------ what came

    def undisturbed(self) -> Undisturbed:
        """Return this run as that to which others are compared."""
        return Undisturbed(
            content_hash=self._over["over"],
            counts=self._over["counts"] | self._bot_counts(),
            told={
                seat: Told(decided=life.decided, events=life.events)
                for seat, life in self._bots.items()
            },
        )

    def _bot_counts(self) -> dict[str, int]:
        """Return how often the moments of bots came to each of them, at the least."""
        asked = min((len(life.decided) for life in self._bots.values()), default=0)
        often = ("bot:request", "bot:answering", "bot:answered", "bot:closed")
        once = ("bot:offer", "bot:ready", "bot:end", "bot:end-heard")
        return {**dict.fromkeys(often, asked), **dict.fromkeys(once, int(asked > 0))}

    def _check(self) -> None:
        if self.failures:
            return
        path = self._data / "records" / f"{MATCH}.frec"
        try:
            verified = verify(path.read_bytes(), registry())
        except (FritillaryError, OSError) as error:
            self._fail(f"the record does not verify: {error}")
            return
        if verified.content_hash != self._over["over"]:
            self._fail("the result has another content hash than the record")
        if self._kept():
            self._fail("the seed of the match is still kept")
        self._check_logs()
        if self._undisturbed is None:
            return
        if not self._struck:
            self._fail("the moment did not come")
        self.twice = self._struck > 1
        if verified.content_hash != self._undisturbed.content_hash:
            self._fail(f"another content hash; it ended {self._over['kind']}")
        for seat in self._line_up.remotes:
            self._check_seat(seat, self._undisturbed.told[seat])

    def _check_logs(self) -> None:
        for path in sorted(self.folder.glob("*.log")):
            text = path.read_text(errors="replace")
            if "Traceback" in text or "ERROR" in text:
                self._fail(f"{path.name} tells of an error")

    def _check_seat(self, seat: int, told: Told) -> None:
        lives = [life for life in self._lives.values() if life.seat == seat]
        ends = sum(life.ends for life in lives)
        if ends != 1 and not (ends == 0 and self._came_too_late(lives[-1])):
            self._fail(f"the bot of seat {seat} was told of the end {ends} times")
        for life in lives:
            for what in differences(life, told):
                self._fail(f"{life.tag}: {what}")


_registry: list[Registry] = []


def registry() -> Registry:
    """Return the installed games."""
    if not _registry:
        found = Registry()
        found.load()
        _registry.append(found)
    return _registry[0]


def _kill_programs(launcher: int) -> None:
    """Kill what a launcher has started, and not the launcher."""
    path = Path(f"/proc/{launcher}/task/{launcher}/children")
    with contextlib.suppress(OSError):
        for pid in path.read_text(encoding="ascii").split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
