"""Pairs of worlds that a viewer cannot tell apart, and lines of play in both.

A pair is a position and the same position after ``shuffle_hidden`` for the viewer. A
line goes on from there by what looks the same to the viewer, whether it is the same or
not. What it looks like is asked of the rules as they are, never of the game that is
tried at the server: a game that leaks there is not asked whether it does.
"""

from __future__ import annotations

from typing import Any

from attrs import define, evolve, frozen

from fritillary import Act, Chance, FastDealer, Game, Over, Plugin
from fritillary.core.commitment import mix_nonces
from fritillary.core.dealer import SealedDealer

#: So many pairs of actions are tried for one step of a line.
_TRIED = 10


@frozen
class Rules:
    """Rules for the gate.

    Args:
        plugin: the game.
        seats: how many play.
        options: as data.
        actions: any actions of a game without a table.
        plies: pairs begin at most so many plies into a match.
    """

    plugin: Plugin
    seats: int = 2
    options: Any = None
    actions: tuple[Any, ...] = ()
    plies: int = 60


@frozen
class World:
    """One of the worlds.

    Args:
        state: at the beginning.
        seed: of the deal.
        salt: of its commitment.
        nonces: of the bots, by seat; empty where none are wanted.
    """

    state: Any
    seed: bytes
    salt: bytes
    nonces: tuple[bytes, ...]

    def dealer(self, *labels: str | int) -> Any:
        """Return a stream of the match's dealer."""
        return SealedDealer(mix_nonces(self.seed, self.nonces)).stream(*labels)


@frozen
class Turn:
    """One step of a line.

    Args:
        seat: that acts.
        actions: in either world.
        substituted: whether they are the referee's, in place of illegal ones.
    """

    seat: int
    actions: tuple[Any, Any]
    substituted: bool = False


@frozen
class Pair:
    """Two worlds and a line of play.

    Args:
        viewer: who cannot tell them apart; ``None`` for spectators.
        worlds: the two.
        turns: the line.
        last: the seat to act after it; ``None`` if the match is over.
        differs: whether the two differ in truth.
        twins: whether seed, salt and nonces are the same.
    """

    viewer: int | None
    worlds: tuple[World, World]
    turns: tuple[Turn, ...]
    last: int | None
    differs: bool
    twins: bool


@define
class _Line:
    """Two states side by side."""

    one: Any
    two: Any
    ply: int = 0
    chances: int = 0


class Finder:
    """Finds pairs.

    Args:
        rules: of the game.
        game: the same, loaded.
    """

    def __init__(self, rules: Rules, game: Game[Any, Any, Any]) -> None:
        self._rules = rules
        self._game = game
        self._options = game.options(rules.options)

    def pair(
        self,
        viewer: int | None,
        number: int,
        *,
        twins: bool,
        mixed: bool,
        ends: bool,
        substitutes: bool = False,
        length: int = 5,
        tries: int = 20,
    ) -> Pair:
        """Return a pair.

        Args:
            viewer: who cannot tell the worlds apart.
            number: of the pair; the same number gives the same pair.
            twins: whether seed, salt and nonces are the same in both.
            mixed: whether there are nonces.
            ends: whether the line may come to the end of the match.
            substitutes: whether the referee chooses for others where it looks alike.
            length: of the line at most, in turns.
            tries: so many worlds are tried for the longest line.
        """
        dealer = FastDealer(f"worlds/{viewer}/{number}")
        best: Pair | None = None
        for _ in range(tries):
            start = self._position(dealer)
            other = self._game.copy(start)
            assert self._game.shuffle_hidden is not None
            self._game.shuffle_hidden(other, viewer, dealer)
            one = self._world(start, viewer, dealer, None, mixed=mixed)
            two = self._world(other, viewer, dealer, one, mixed=mixed)
            if twins:
                two = evolve(one, state=other)
            pair = Pair(viewer, (one, two), (), 0, True, twins)
            found = self._play(pair, length, dealer, ends=ends, substitutes=substitutes)
            if best is None or _worth(found) > _worth(best):
                best = found
            if _worth(best) == (True, False, substitutes, length) and not ends:
                break
        assert best is not None
        return best

    def _position(self, dealer: Any) -> Any:
        """Return a state of a random match before one of its seats acts."""
        game = self._game
        deal = FastDealer(f"deal/{dealer.below(1 << 30)}")
        state = game.new(deal, self._options, self._rules.seats)
        found = game.copy(state)
        for ply in range(1, 1 + dealer.below(self._rules.plies)):
            point = game.decision_point(state)
            if type(point) is Over:
                break
            if type(point) is Chance:
                action = game.draw_chance(state, deal.stream("chance", ply))
            else:
                action = dealer.choice(game.legal_actions(state))
            game.apply(state, action)
            if type(game.decision_point(state)) is Act:
                found = game.copy(state)
        return found

    def _world(
        self,
        state: Any,
        viewer: int | None,
        dealer: Any,
        other: World | None,
        *,
        mixed: bool,
    ) -> World:
        def some() -> bytes:
            return bytes(dealer.below(256) for _ in range(32))

        nonces: tuple[bytes, ...] = ()
        if mixed:
            nonces = tuple(
                some() if other is None or seat != viewer else other.nonces[seat]
                for seat in range(self._rules.seats)
            )
        return World(state, some(), some(), nonces)

    # ---------------------------------------------------------------------- the line

    def _play(
        self, pair: Pair, length: int, dealer: Any, *, ends: bool, substitutes: bool
    ) -> Pair:
        game = self._game
        line = _Line(*(game.copy(world.state) for world in pair.worlds))
        encode = game.codec.encode_state
        differs = encode(line.one) != encode(line.two)
        turns: list[Turn] = []
        while True:
            point = game.decision_point(line.one)
            if type(point) is Over:
                return evolve(pair, turns=tuple(turns), last=None, differs=differs)
            assert type(point) is Act
            if len(turns) == length:
                break
            found: list[Turn] = []
            if substitutes and point.seat != pair.viewer:
                found.append(self._substituted(line, point.seat, pair))
            found += [
                Turn(point.seat, actions)
                for actions in self._candidates(line, point.seat, pair.viewer, dealer)
            ]
            for turn in found:
                after = self._after(line, turn.actions, pair)
                if after is not None and (ends or not self._over(after)):
                    line = after
                    turns.append(turn)
                    break
            else:
                break
        return evolve(pair, turns=tuple(turns), last=point.seat, differs=differs)

    def _substituted(self, line: _Line, seat: int, pair: Pair) -> Turn:
        """Return what the referee chooses for a seat, which may look unlike."""
        one, two = (
            world.dealer("substitute", line.ply).choice(
                tuple(self._game.legal_actions(state))
            )
            for state, world in zip((line.one, line.two), pair.worlds, strict=True)
        )
        return Turn(seat, (one, two), substituted=True)

    def _candidates(
        self, line: _Line, seat: int, viewer: int | None, dealer: Any
    ) -> list[tuple[Any, Any]]:
        """Return pairs of actions that look the same, often unlike ones first."""
        game = self._game
        mine = [*game.legal_actions(line.one)]
        dealer.shuffle(mine)
        if seat == viewer:
            return [(action, action) for action in mine[:_TRIED]]
        others = [*game.legal_actions(line.two)]
        dealer.shuffle(others)
        looks: dict[str, list[Any]] = {}
        for action in others:
            looks.setdefault(self._look(line.two, action, viewer), []).append(action)
        found = [
            (action, other)
            for action in mine
            for other in looks.get(self._look(line.one, action, viewer), ())
        ]
        dealer.shuffle(found)
        if dealer.below(2):
            found.sort(key=lambda pair: pair[0] == pair[1])
        return found[:_TRIED]

    def _look(self, state: Any, action: Any, viewer: int | None) -> str:
        seen = self._game.observe_action(state, action, viewer)
        return "" if seen is None else repr(self._game.codec.action_to_data(seen))

    def _after(self, line: _Line, actions: tuple[Any, Any], pair: Pair) -> _Line | None:
        """Return the line after a turn, chance included, if it still looks alike."""
        game = self._game
        looks = {
            self._look(state, action, pair.viewer)
            for state, action in zip((line.one, line.two), actions, strict=True)
        }
        if len(looks) > 1:
            return None
        after = _Line(
            game.copy(line.one), game.copy(line.two), line.ply + 1, line.chances
        )
        game.apply(after.one, actions[0])
        game.apply(after.two, actions[1])
        while self._alike(after, pair.viewer):
            if type(game.decision_point(after.one)) is not Chance:
                return after
            outcomes = [
                game.draw_chance(state, world.dealer("chance", after.chances))
                for state, world in zip(
                    (after.one, after.two), pair.worlds, strict=True
                )
            ]
            looks = {
                self._look(state, outcome, pair.viewer)
                for state, outcome in zip((after.one, after.two), outcomes, strict=True)
            }
            if len(looks) > 1:
                return None
            game.apply(after.one, outcomes[0])
            game.apply(after.two, outcomes[1])
            after.chances += 1
            after.ply += 1
        return None

    def _over(self, line: _Line) -> bool:
        return type(self._game.decision_point(line.one)) is Over

    def _alike(self, line: _Line, viewer: int | None) -> bool:
        game = self._game
        one, two = line.one, line.two
        return game.decision_point(one) == game.decision_point(two) and game.observe(
            one, viewer
        ) == game.observe(two, viewer)


def _worth(pair: Pair) -> tuple[bool, bool, bool, int]:
    substituted = any(turn.substituted for turn in pair.turns)
    return pair.differs, pair.last is None, substituted, len(pair.turns)
