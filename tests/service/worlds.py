"""Pairs of worlds that a viewer cannot tell apart, and lines of play in both.

A pair is a position and the same position after ``shuffle_hidden`` for the viewer. A
line goes on from there by what looks the same to the viewer, whether it is the same or
not. What it looks like is asked of the rules as they are, never of the game that is
tried at the server: a game that leaks there is not asked whether it does.
"""

from __future__ import annotations

from collections.abc import Iterator
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
        by: whose they are: of the ``player``, a ``substitute`` of the referee's, or of
            a ``stand-in``.
        fails: whether the seat is forfeited before.
    """

    seat: int
    actions: tuple[Any, Any]
    by: str = "player"
    fails: bool = False


@frozen(kw_only=True)
class Wish:
    """What a pair is to be like.

    Args:
        shared: of the deal in both worlds: ``nothing``, the ``seed``, with salt and
            the nonces of the viewer, or ``all``.
        mixed: whether there are nonces.
        ends: whether the line may come to the end of the match.
        substitutes: whether the referee chooses for a seat where it looks alike.
        fails: whether a stand-in plays on for a seat: by its first turn, or by
            ``decline`` from the beginning on; empty for not at all.
        own: whether that seat is the viewer's.
        length: of the line at most, in turns.
        tries: so many worlds are tried for the longest line.
    """

    shared: str = "nothing"
    mixed: bool = False
    ends: bool = False
    substitutes: bool = False
    fails: str = ""
    own: bool = False
    length: int = 5
    tries: int = 20


@frozen
class Pair:
    """Two worlds and a line of play.

    Args:
        viewer: who cannot tell them apart; ``None`` for spectators.
        worlds: the two.
        turns: the line.
        last: the seat to act after it; ``None`` if the match is over.
        differs: whether the two differ in truth.
        wish: what it was to be like.
        absent: a seat that does not take part; ``None`` if all do.
    """

    viewer: int | None
    worlds: tuple[World, World]
    turns: tuple[Turn, ...]
    last: int | None
    differs: bool
    wish: Wish
    absent: int | None = None


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
        self._found: dict[tuple[int | None, int, Wish], Pair] = {}

    def pair(self, viewer: int | None, number: int, wish: Wish) -> Pair:
        """Return a pair.

        Args:
            viewer: who cannot tell the worlds apart.
            number: of the pair; the same number gives the same pair.
            wish: what it is to be like.
        """
        key = (viewer, number, wish)
        if key not in self._found:
            self._found[key] = self._best(*key)
        return self._found[key]

    def _best(self, viewer: int | None, number: int, wish: Wish) -> Pair:
        dealer = FastDealer(f"worlds/{viewer}/{number}")
        best: Pair | None = None
        for _ in range(wish.tries):
            start = self._position(dealer)
            other = self._game.copy(start)
            assert self._game.shuffle_hidden is not None
            self._game.shuffle_hidden(other, viewer, dealer)
            one = self._world(start, viewer, dealer, None, wish)
            two = self._world(other, viewer, dealer, one, wish)
            absent = None
            if wish.fails == "decline":
                absent = viewer if wish.own else self._another(viewer)
            pair = Pair(viewer, (one, two), (), 0, True, wish, absent)
            found = self._play(pair, dealer)
            if best is None or _worth(found) > _worth(best):
                best = found
            if not wish.ends and _worth(best) == (
                True,
                False,
                _most(wish),
                wish.length,
            ):
                break
        assert best is not None
        return best

    def _another(self, viewer: int | None) -> int:
        return 0 if viewer is None else (viewer + 1) % self._rules.seats

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
        wish: Wish,
    ) -> World:
        if other is not None and wish.shared == "all":
            return evolve(other, state=state)

        def some(size: int = 32) -> bytes:
            return bytes(dealer.below(256) for _ in range(size))

        seed, salt = some(), some()
        if other is not None and wish.shared == "seed":
            seed, salt = other.seed, other.salt
        nonces: tuple[bytes, ...] = ()
        if wish.mixed:
            # One that is missing is one of no bytes.
            sizes = (32, 32) if wish.shared == "nothing" else (0, 32, 9, 31)
            nonces = tuple(
                some(dealer.choice(sizes))
                if other is None or seat != viewer
                else other.nonces[seat]
                for seat in range(self._rules.seats)
            )
        return World(state, seed, salt, nonces)

    # ---------------------------------------------------------------------- the line

    def _play(self, pair: Pair, dealer: Any) -> Pair:
        """Return a pair with its line.

        What a stand-in does follows at once; so a line never stops before its turn.
        """
        game, wish = self._game, pair.wish
        line = _Line(*(game.copy(world.state) for world in pair.worlds))
        encode = game.codec.encode_state
        differs = encode(line.one) != encode(line.two)
        turns: list[Turn] = []
        out = pair.absent
        sure: Pair | None = None
        while True:
            point = game.decision_point(line.one)
            over = type(point) is Over
            seat = point.seat
            if seat is None or seat != out:
                sure = evolve(pair, turns=tuple(turns), last=seat, differs=differs)
                if over or len(turns) >= wish.length:
                    return sure
            assert seat is not None
            for turn in self._turns(line, seat, pair, out, dealer):
                after = self._after(line, turn.actions, pair)
                if after is not None and (wish.ends or not self._over(after)):
                    line = after
                    turns.append(turn)
                    out = seat if turn.fails else out
                    break
            else:
                # There may be nothing that can be played at all.
                return sure or evolve(pair, turns=(), last=seat, differs=False)

    def _turns(
        self, line: _Line, seat: int, pair: Pair, out: int | None, dealer: Any
    ) -> Iterator[Turn]:
        """Yield what a seat may do next, the best first."""
        wish = pair.wish
        meant = (seat == pair.viewer) == wish.own
        if seat == out:
            yield self._chosen(line, seat, pair, "stand-in")
            return
        if wish.fails and meant and out is None:
            yield evolve(self._chosen(line, seat, pair, "stand-in"), fails=True)
        if wish.substitutes and meant:
            yield self._chosen(line, seat, pair, "substitute")
        for actions in self._candidates(line, seat, pair.viewer, dealer):
            yield Turn(seat, actions)

    def _chosen(self, line: _Line, seat: int, pair: Pair, by: str) -> Turn:
        """Return what is chosen for a seat, which may look unlike."""
        one, two = (
            world.dealer(by, line.ply).choice(tuple(self._game.legal_actions(state)))
            for state, world in zip((line.one, line.two), pair.worlds, strict=True)
        )
        return Turn(seat, (one, two), by)

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

    def _look(self, state: Any, action: Any, viewer: int | None, by: Any = None) -> str:
        """Return what an action looks like; to whoever acts, as it is."""
        own = by is not None and by == viewer
        seen = action if own else self._game.observe_action(state, action, viewer)
        return "" if seen is None else repr(self._game.codec.action_to_data(seen))

    def _after(self, line: _Line, actions: tuple[Any, Any], pair: Pair) -> _Line | None:
        """Return the line after a turn, chance included, if it still looks alike."""
        game = self._game
        seat = game.decision_point(line.one).seat
        looks = {
            self._look(state, action, pair.viewer, seat)
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


def _most(wish: Wish) -> int:
    return 2 if wish.fails else int(wish.substitutes)


def _worth(pair: Pair) -> tuple[bool, bool, int, int]:
    chosen = sum(turn.by != "player" for turn in pair.turns)
    enough = min(chosen, _most(pair.wish))
    return pair.differs, pair.last is None, enough, len(pair.turns)
