"""Programs that the arena starts: what they are given, and who hears what they say."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any, Final
from unittest import mock

from attrs import define, field
from tests.service.leakgate import (
    MASKS,
    WireLeakError,
    compare,
    finder_for,
    places_for,
)
from tests.service.leakstage import LeakStage, leak_stage
from tests.service.leaktable import Heard
from tests.service.tape import PATIENCE_S, Tape, WatchTape, call, until
from tests.service.wireform import entries
from tests.service.worlds import Pair, Rules, Turn, Wish

from fritillary import Plugin
from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2, match_pb2
from fritillary.record.terms import Terms
from fritillary.service import children
from fritillary.service.hosted import HostedMatch
from fritillary.service.tokens import Role

_PROGRAM: Final = Path(__file__).with_name("leakprogram.py")

#: In the environment of the host.
SECRET: Final = "FRITILLARY_LEAK"

_MATCH: Final = "with-a-program"

#: Under which a program dials in; drawn for each.
_NAME: Final = re.compile(rb"program-[0-9a-f]{16}")

#: Of what a program is given, what is its own in every match.
_OWN: Final = ("FRITILLARY_ADDRESS", "FRITILLARY_TOKEN", "FRITILLARY_PROGRAM")

#: The seat of the program; the other one is a bot's that dials in.
SEAT: Final = 1


@define
class Told:
    """What came of one match with a program.

    Args:
        given: to each process: its surroundings, then what it was sent.
        heard: by the other seat and by a spectator.
        record: of the match.
        referee: what a referee is shown of the match after its end.
    """

    given: list[Any] = field(factory=list)
    heard: Heard = field(factory=Heard)
    record: bytes = b""
    referee: bytes = b""


def words(which: int) -> str:
    """Return what a program says in one of the worlds."""
    return f"I hold card {7 + which} " * (1 + which)


def pair_for(rules: Rules, viewer: int, shared: str) -> Pair:
    """Return a pair in which the program is asked once more after its turns."""
    finder = finder_for(rules)
    wish = Wish(shared=shared, tries=5)
    for number in range(70, 100):
        pair = finder.pair(viewer, number, wish)
        mine = sum(turn.seat == SEAT for turn in pair.turns)
        secret = any(one.actions[0] != one.actions[1] for one in pair.turns)
        if pair.differs and pair.last == SEAT and mine and (secret or viewer == SEAT):
            return pair
    raise AssertionError


@define
class Scene:
    """One match with a program in one world.

    Args:
        stage: the server.
        folder: for what the program writes down.
        pair: both worlds and the line.
        which: of the two worlds this is.
        kind: ``exec`` or ``stdio``.
        how: see `leakprogram`.
        loud: whether the program tells what it holds, in many ways.
    """

    stage: LeakStage
    folder: Path
    pair: Pair
    which: int
    kind: str
    how: str
    loud: bool

    async def play(self) -> Told:
        """Play the match."""
        bot = Tape(
            self.stage.arena.address,
            self.stage.token("bot"),
            1 - SEAT,
            bot=common_pb2.PlayerInfo(name="bot", version="1", build="b"),
            encoding=common_pb2.ENCODING_JSON,
            capacity=1,
        )
        await bot.open()
        told = Told()
        try:
            match = self._create()
            await bot.last("match_offer")
            if self.how != "look":
                # Else it is left to chance who is ready first.
                await until(lambda: match.players[SEAT].is_ready)
            watch = WatchTape(
                self.stage.calls,
                self.stage.token("watcher", Role.SPECTATOR),
                match_id=_MATCH,
                after_event=0,
            )
            await watch.joined()
            await bot.sync()
            where: dict[str, Any] = {"match_id": _MATCH, "seat": 1 - SEAT}
            await bot.send(accept=pb.Accept(**where))
            await bot.send(ready=pb.Ready(**where))
            for turn in self.pair.turns:
                if turn.seat != SEAT and self.how != "look":
                    request = await bot.request()
                    index = self._index(turn)
                    where["decision_id"] = request.decision_id
                    await bot.send(decision=pb.Decision(**where, index=index))
                    bot.closed_id = request.decision_id
            await match.ended
            await bot.last("match_ended")
            await bot.sync()
            await watch.ended()
            await until(lambda: _MATCH not in self.stage.arena.running.tasks)
            calls = []
            for name, role in (("bot", Role.BOT), ("watcher", Role.SPECTATOR)):
                calls.append(("GetMatch", await self._shown(name, role)))
            told.heard = Heard(
                streams=[[raw and _unnamed(raw) for raw in bot.raw]],
                watches=[(list(map(_unnamed, watch.raw)), watch.error)],
                calls=calls,
            )
            if self.how == "fail":
                _leave_statuses_out(told.heard)
            told.referee = bytes(await self._shown("referee", Role.REFEREE))
            told.record = match.record()
        finally:
            await bot.close()
        told.given = self._given()
        return told

    def _create(self) -> HostedMatch:
        world = self.pair.worlds[self.which]
        codec = self.stage.game.codec
        raw = codec.encode_state(world.state)
        self.stage.beginnings.set(lambda options: codec.decode_state(raw, options))
        mine = [str(self._index(turn)) for turn in self.pair.turns if turn.seat == SEAT]
        loud = self.loud
        command = (
            sys.executable,
            str(_PROGRAM),
            self.how,
            str(self._file),
            ",".join(mine),
            words(self.which) if loud else "",
            str(3 + self.which if loud else 0),
        )
        return self.stage.arena.create(
            self.stage.game_name,
            ["remote:bot", f"{self.kind}:{shlex.join(command)}"],
            options=world.state.options,
            match_id=_MATCH,
            seed=world.seed,
            salt=world.salt,
            terms=Terms(offer_ms=60_000),
        )

    @property
    def _file(self) -> Path:
        return self.folder / "given"

    def _index(self, turn: Turn) -> int:
        options = self.pair.worlds[self.which].state.options
        index: int = self.stage.game.table(options, 2).index[turn.actions[self.which]]
        return index

    async def _shown(self, name: str, role: Role) -> bytes | tuple[Any, ...]:
        request = match_pb2.GetMatchRequest(match_id=_MATCH)
        token = self.stage.token(name, role)
        answer = await call(self.stage.calls, token, "GetMatch", request)
        return _unnamed(answer) if isinstance(answer, bytes) else answer

    def _given(self) -> list[Any]:
        """Return what the program was given, without what differs between folders.

        Whether a program of lines hears of the end, it is not waited for.
        """
        given: list[Any] = []
        for line in self._file.read_bytes().splitlines():
            if not line.startswith(b"{"):
                given.append(_unnamed(bytes.fromhex(line.decode())))
                continue
            one = json.loads(line.replace(str(self.folder).encode(), b"FOLDER"))
            if one.get("type") == "end":
                continue
            for name in _OWN:
                if name in one.get("environ", ()):
                    one["environ"][name] = "*"
            given.append(one)
        return given


def _unnamed(raw: bytes) -> bytes:
    return _NAME.sub(b"program-" + b"*" * 16, raw)


def _leave_statuses_out(heard: Heard) -> None:
    """Leave out what depends on what shows first: the end or the lost link."""
    heard.streams = [
        [
            raw
            for raw in stream
            if raw is None
            or not pb.ServerMessage.FromString(raw).HasField("match_status")
        ]
        for stream in heard.streams
    ]
    heard.watches = [
        (
            [
                raw
                for raw in updates
                if not match_pb2.WatchMatchResponse.FromString(raw).HasField("status")
            ],
            error,
        )
        for updates, error in heard.watches
    ]


@contextmanager
def _host(which: int) -> Iterator[None]:
    """Let the host have a secret in its environment, another one in each world.

    It waits for programs to hear of the end, however busy the machine is.
    """
    secret = mock.patch.dict(os.environ, {SECRET: f"world {which}"})
    patient = mock.patch.object(children, "_PATIENCE_S", PATIENCE_S)
    with secret, patient:
        yield


async def play_with_a_program(
    rules: Rules,
    folder: Path,
    *,
    viewer: int,
    kind: str = "exec",
    how: str = "play",
    loud: bool = False,
    variants: tuple[Plugin, ...] = (),
) -> tuple[Told, Told]:
    """Play a match with a program in two worlds, and compare.

    Args:
        rules: of a game for two.
        folder: for records, and for what programs write down.
        viewer: who cannot tell the worlds apart: the program's seat, or the other.
        kind: of player, ``exec`` or ``stdio``.
        how: the program plays.
        loud: whether it tells what it holds.
        variants: that are played at the server, over the rules.

    Raises:
        WireLeakError: if a viewer can tell the worlds apart, or somebody is told what
            the program said.
    """
    shared = "all" if kind == "stdio" else "nothing"
    pair = pair_for(rules, viewer, shared)
    told: list[Told] = []
    async with AsyncExitStack() as stack:
        for which, place in enumerate(places_for(folder)):
            stage = await stack.enter_async_context(leak_stage(rules, variants, place))
            assert place is not None
            with _host(which):
                scene = Scene(stage, place, pair, which, kind, how, loud)
                told.append(await scene.play())
    one, two = told
    if viewer == SEAT:
        _compare_given(one.given, two.given, MASKS[shared])
    else:
        compare(one.heard, two.heard, MASKS[shared], "beside a program")
        for which, each in enumerate(told):
            _check_unsaid(each, words(which).strip() if loud else "")
    return one, two


def _compare_given(one: list[Any], two: list[Any], masks: frozenset[str]) -> None:
    """Compare what a program was given.

    Raises:
        WireLeakError: if it differs, or is more than a program needs.
    """
    for mine, theirs in zip(one, two, strict=False):
        if not isinstance(mine, dict) or not isinstance(theirs, dict):
            continue
        for name in sorted({*mine, *theirs}):
            if mine.get(name) != theirs.get(name):
                what = f"{name}: {mine.get(name)!r} and {theirs.get(name)!r}"
                raise WireLeakError(f"given to a program: {what}")
        if SECRET in mine.get("environ", ()):
            raise WireLeakError(f"given to a program: environ: {SECRET}")
        left = [fd for fd, _ in mine.get("descriptors", ())]
        if {*left} - {"0", "1", "2"}:
            raise WireLeakError(f"given to a program: descriptors: {left}")
    frames = [[raw for raw in given if isinstance(raw, bytes)] for given in (one, two)]
    compare(_as_heard(frames[0]), _as_heard(frames[1]), masks, "a program")
    if len(one) != len(two) and not any(frames):
        raise WireLeakError(f"given to a program: {len(one)} lines, and {len(two)}")


def _as_heard(frames: list[bytes]) -> Heard:
    return Heard([[raw for frame in frames for raw in entries(frame)]])


def _check_unsaid(told: Told, secret: str) -> None:
    """Check that nobody but the host and referees is told what a program said.

    Raises:
        WireLeakError: if somebody is, or if not even referees are.
    """
    if not secret:
        return
    raw = secret.encode()
    places: dict[str, list[Any]] = {
        "stream": [one for stream in told.heard.streams for one in stream if one],
        "watch": [one for updates, _ in told.heard.watches for one in updates],
        "call": [answer for _, answer in told.heard.calls if isinstance(answer, bytes)],
        "record": [told.record],
    }
    for name, found in places.items():
        if any(raw in one for one in found):
            msg = f"what a program said is in the {name}"
            raise WireLeakError(msg)
    if raw not in told.referee:
        msg = "vacuous: what the program said is told to nobody"
        raise WireLeakError(msg)
