"""The calls of a simulator: from a request to its answer, with nothing kept.

What is remembered between two calls is the game that was opened last, with its tables,
and could be made anew from the request at any time. Games and worlds travel as bytes:

- a game is the msgpack of a list: form, full id, version of the rules, versions of the
  variants, options, seats, encoding;
- a world is 8 bytes of BLAKE2b, keyed by the game, and the bytes of the state. They
  tell worlds of another game, and bytes that were cut, from worlds.
"""
# ruff: noqa: ANN401, TID251 - values of any game; calls have generators of their own

from __future__ import annotations

import contextlib
import functools
import hashlib
import random
from collections.abc import Callable, Iterator
from typing import Any, Final

from attrs import frozen

from fritillary.api.v1 import common_pb2
from fritillary.api.v1 import simulator_pb2 as pb
from fritillary.bots.search.worlds import worlds
from fritillary.codec.packing import pack, unpack
from fritillary.core.dealer import FastDealer
from fritillary.core.errors import (
    CodecError,
    FritillaryError,
    GameError,
    InvalidPositionError,
    NotYourTurnError,
    ServiceError,
    UsageError,
)
from fritillary.core.points import Act, Chance, Over
from fritillary.core.text import told
from fritillary.plugins.checks import failed
from fritillary.plugins.discovery import Registry
from fritillary.plugins.game import Game
from fritillary.plugins.table import ActionTable, OpenTable
from fritillary.service import games, wire
from fritillary.service.seatwire import Dialect
from fritillary.service.simulator_limits import GivenUpError, SimulatorLimits, Watch

#: So many opened games are remembered.
_KEPT: Final = 32

#: Of the bytes that name a game; raised when they change.
_FORM: Final = 1

_CHECK_BYTES: Final = 8


@frozen(eq=False)
class Opened:
    """A game with options, seats and encoding.

    Args:
        game: the rules.
        name: full id, as it was asked for.
        options: of the game.
        seats: how many there are.
        dialect: writes actions and observations.
        key: tells its worlds from those of others.
    """

    game: Game[Any, Any, Any]
    name: str
    options: Any
    seats: int
    dialect: Dialect
    key: bytes

    @property
    def table(self) -> ActionTable[Any] | OpenTable[Any]:
        """All actions."""
        return self.game.table(self.options, self.seats)

    def packed(self) -> bytes:
        """Return the bytes that name it."""
        game = self.game
        return pack(
            [
                _FORM,
                self.name,
                *_versions(game),
                game.codec.options_to_data(self.options),
                self.seats,
                self.dialect.coder.encoding,
            ]
        )

    # -- worlds

    def world(self, state: Any) -> bytes:
        """Return a state as a world."""
        raw = self.game.codec.encode_state(state)
        return self._digest(raw) + raw

    def state(self, world: bytes) -> Any:
        """Return the state of a world; it is the caller's.

        Raises:
            UsageError: ``simulator.world`` if it is none of this game.
            CodecError: if it was made under other rules.
        """
        raw = world[_CHECK_BYTES:]
        if world[:_CHECK_BYTES] != self._digest(raw):
            msg = "these bytes are no world of this game with these options and seats"
            raise UsageError(msg, code="simulator.world")
        return self.game.codec.decode_state(raw, self.options)

    def _digest(self, raw: bytes) -> bytes:
        return hashlib.blake2b(raw, digest_size=_CHECK_BYTES, key=self.key).digest()

    def check_seat(self, seat: int) -> None:
        """Check a seat.

        Raises:
            UsageError: ``simulator.seat`` if there is none of that number.
        """
        if seat >= self.seats:
            msg = f"there is no seat {seat}; {self.game.id} is opened for {self.seats}"
            raise UsageError(msg, code="simulator.seat")

    # -- positions

    def position(self, state: Any, *, expanded: bool) -> pb.SimulatedPosition:
        """Return what is to be done in a state.

        Args:
            state: of the game.
            expanded: write legal actions out.
        """
        point = self.game.point(state)
        if type(point) is Over:
            return pb.SimulatedPosition(over=wire.outcome(point.outcome))
        if type(point) is not Act:
            return pb.SimulatedPosition(chance=True)
        legal = self.game.legal(state)
        indices = self.dialect.legal(legal)
        return pb.SimulatedPosition(
            seat=point.seat,
            legal=indices,
            legal_actions=self.dialect.written(legal, indices) if expanded else (),
        )

    @contextlib.contextmanager
    def blaming(self, what: str) -> Iterator[None]:
        """Make errors name what they are about, and foreign ones errors of the game.

        Args:
            what: such as ``step 3``; empty for the whole call.
        """
        try:
            yield
        except GivenUpError:
            raise
        except FritillaryError as error:
            if not what:
                raise
            raise type(error)(f"{what}: {error.message}", code=error.code) from error
        except Exception as error:
            # Which hook it was, only the traceback tells.
            raise failed(self.game.id, "a hook", error) from error


def _versions(game: Game[Any, Any, Any]) -> tuple[int, list[int]]:
    return game.info.rules_version, [info.version for info in game.variants]


class _Answer:
    """Counts what an answer comes to, before it is too large for the memory."""

    def __init__(self, limits: SimulatorLimits) -> None:
        self._limits = limits
        self._size = 0

    def take(self, size: int) -> None:
        """Count some bytes.

        Raises:
            ServiceError: ``limit.message-size``.
        """
        self._size += size
        self._limits.check_size(self._size, "the answer")


class Calls:
    """Answers the calls of a simulator.

    Args:
        registry: the games.
        limits: on each call.
    """

    def __init__(self, registry: Registry, limits: SimulatorLimits) -> None:
        self.registry = registry
        self.limits = limits
        self.opened: Callable[[bytes], Opened] = functools.lru_cache(_KEPT)(self._find)

    def _find(self, raw: bytes) -> Opened:
        """Return the game that bytes name.

        Raises:
            UsageError: ``simulator.game`` if `open_game` never gave them.
            ServiceError: ``game.other-version`` if the rules have changed since.
        """
        try:
            form, name, rules, variants, data, seats, encoding = unpack(raw)
            if form != _FORM or type(name) is not str or type(encoding) is not int:
                raise ValueError(form)
        except (CodecError, TypeError, ValueError) as error:
            msg = "these bytes name no game; pass on what OpenGame gave"
            raise UsageError(msg, code="simulator.game") from error
        game = self.registry.game(name)
        if _versions(game) != (rules, variants):
            msg = f"the rules of {game.id} have changed since this game was opened"
            raise ServiceError(msg, code="game.other-version")
        return _opened(game, name, game.options(data), seats, encoding)

    # -- opening

    def open_game(self, request: pb.OpenGameRequest, _: Watch) -> pb.OpenGameResponse:
        """Open a game.

        Raises:
            UnknownGameError: if it is not installed.
            InvalidOptionsError: if options or seats are none of it.
        """
        game = self.registry.game(request.game)
        seats = request.seats if request.HasField("seats") else game.info.min_seats
        options = wire.game_options(game, request.options)
        opened = _opened(game, request.game, options, seats, request.encoding)
        return pb.OpenGameResponse(
            game=opened.packed(),
            ref=games.game_ref(game, games.name_of(self.registry, game)),
            table=games.table_message(opened.table),
            seats=seats,
            policies=sorted(game.bots),
            evaluates=game.evaluate is not None,
            limits=self.limits.to_proto(),
        )

    # -- worlds

    def sample_worlds(
        self, request: pb.SampleWorldsRequest, watch: Watch
    ) -> pb.SampleWorldsResponse:
        """Draw worlds.

        Raises:
            CodecError: if the observation cannot be read.
            InvalidPositionError: if no seat can see it.
            GameError: ``game.no-worlds`` if the game cannot draw any.
        """
        opened = self.opened(request.game)
        game, seat = opened.game, request.seat
        opened.check_seat(seat)
        check_count(request.count)
        self.limits.check_worlds(request.count)
        seen = request.observation
        data = wire.coder(seen.encoding).decode(seen.data)
        observation = game.codec.observation_from_data(data, opened.options)
        try:
            draw_world = worlds(game, observation, random.Random(request.seed))
        except GameError as error:
            raise GameError(error.message, code="game.no-worlds") from error
        answer, found = _Answer(self.limits), []
        for _ in range(request.count):
            watch.check()
            try:
                state = draw_world()
                if game.seen(state, seat) != observation:
                    msg = f"seat {seat} cannot see that: worlds drawn from it differ"
                    raise InvalidPositionError(msg)
                world = opened.world(state)
            except InvalidPositionError:
                raise
            except Exception as error:
                # The observation is the caller's; most hooks trust what they get.
                msg = f"it cannot arise in {game.id}: {told(error)}"
                raise InvalidPositionError(msg) from error
            answer.take(len(world))
            found.append(world)
        return pb.SampleWorldsResponse(worlds=found)

    def get_positions(
        self, request: pb.GetPositionsRequest, watch: Watch
    ) -> pb.GetPositionsResponse:
        """Tell what is to be done in worlds."""
        opened = self.opened(request.game)
        self.limits.check_worlds(len(request.worlds))
        answer, response = _Answer(self.limits), pb.GetPositionsResponse()
        for number, world in enumerate(request.worlds):
            watch.check()
            with opened.blaming(f"world {number}"):
                state = opened.state(world)
                position = opened.position(state, expanded=request.expanded)
            answer.take(position.ByteSize())
            response.positions.append(position)
        return response

    def apply_actions(
        self, request: pb.ApplyActionsRequest, watch: Watch
    ) -> pb.ApplyActionsResponse:
        """Apply actions."""
        opened = self.opened(request.game)
        self.limits.check_worlds(len(request.steps), "steps")
        answer, response = _Answer(self.limits), pb.ApplyActionsResponse()
        for number, step in enumerate(request.steps):
            watch.check()
            with opened.blaming(f"step {number}"):
                state = opened.state(step.world)
                drawn = _applied(opened, state, step)
                result = pb.SimulatedResult(
                    world=opened.world(state),
                    position=opened.position(state, expanded=request.expanded),
                    drawn=drawn,
                )
            answer.take(result.ByteSize())
            response.results.append(result)
        return response

    def observe_worlds(
        self, request: pb.ObserveWorldsRequest, watch: Watch
    ) -> pb.ObserveWorldsResponse:
        """Tell what a seat would see."""
        opened = self.opened(request.game)
        seat = request.seat if request.HasField("seat") else None
        if seat is not None:
            opened.check_seat(seat)
        self.limits.check_worlds(len(request.worlds))
        answer, found = _Answer(self.limits), []
        for number, world in enumerate(request.worlds):
            watch.check()
            with opened.blaming(f"world {number}"):
                seen = opened.game.seen(opened.state(world), seat)
                raw = opened.dialect.observation(seen)
            answer.take(len(raw))
            found.append(raw)
        return pb.ObserveWorldsResponse(observations=found)


def check_count(count: int) -> None:
    """Check a number of worlds or of playouts.

    Raises:
        UsageError: ``simulator.count`` if nothing is asked for.
    """
    if count < 1:
        raise UsageError("count must be from 1", code="simulator.count")


def _opened(
    game: Game[Any, Any, Any], name: str, options: Any, seats: int, encoding: int
) -> Opened:
    """Return a game that is opened.

    Raises:
        InvalidOptionsError: if it cannot be dealt so.
    """
    game.check_options(options, seats)
    coder = wire.coder(encoding)
    dialect = Dialect(game, options, seats, coder)
    opened = Opened(game, name, options, seats, dialect, b"")
    # What does not matter to a state is left out: worlds are the same in any encoding.
    *identity, _ = unpack(opened.packed())
    key = hashlib.blake2b(pack(identity), digest_size=16).digest()
    return Opened(game, name, options, seats, dialect, key)


def _applied(opened: Opened, state: Any, step: pb.SimulatedStep) -> bytes:
    """Change a state by a step; return what chance drew, else nothing.

    Raises:
        GameError: if the step cannot be made; the state is then as it was.
    """
    game = opened.game
    point = game.point(state)
    which = step.WhichOneof("choice")
    if which == "draw":
        if type(point) is Act:
            msg = f"seat {point.seat} is to act, not chance"
            raise NotYourTurnError(msg)
        if type(point) is Chance:
            action = game.draw_chance(state, FastDealer(step.draw))
            game.apply(state, action)
            return opened.dialect.action(action)
    # It raises where no seat is to act.
    legal = game.legal(state)
    if which == "index":
        action = opened.table.at(step.index, legal)
    elif which == "action":
        action = opened.table.structure(_data(step.action))
    else:
        msg = "it names no action; set index, action or draw"
        raise UsageError(msg, code="simulator.step")
    game.play(state, action, legal)
    return b""


def _data(payload: common_pb2.Payload) -> Any:
    return wire.coder(payload.encoding).decode(payload.data)
