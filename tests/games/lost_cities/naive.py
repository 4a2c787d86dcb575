"""Deliberately naive Lost Cities, written straight from the numbered rules.

For tests only: everything is spelled out with plain lists and dicts, so that it can
be checked by eye against the rules (C-a ... C-j).

Interface:

- A card is ``(colour, rank)``; rank 0 is a wager, otherwise 2..10. Colours are the
  first five or six of red, green, blue, white, yellow, purple.
- ``decks[k]`` is the complete shuffled deck of game k, in draw order. Its first
  eight cards are the hand of seat 0, the next eight the hand of seat 1, whoever
  starts; the rest is the draw pile ``deck``, whose next card is ``deck[0]``.
- A turn is two actions of the same seat: first ``("play", colour, rank)`` or
  ``("discard", colour, rank)``, then ``("draw",)`` from the draw pile or
  ``("take", colour)`` from the top of a discard pile. ``legal()`` returns the set
  of them (empty when the match is over), ``apply(action)`` carries out one of them.
- ``piles[colour]`` and ``expeditions[seat][colour]`` are lists of ranks, in the
  order laid down, so the top card of a discard pile is the last one. All colours of
  the match are always keys.
- ``phase`` is "play" or "draw"; ``barred`` is the colour discarded in this turn (its
  pile may not be taken in this turn), None otherwise.
- ``game`` counts the games from 0, ``starter`` is the seat that starts this game,
  ``turns`` counts the finished turns of both seats in this game.
- ``game_scores`` holds ``[points of seat 0, points of seat 1]`` of every finished
  game, ``totals`` their sums; both include exploits. ``points(seat)`` is the score
  of the game in progress as it stands.
- ``claimed`` maps the name of each exploit claimed in this game to its seat.
- ``over``; then ``winners`` is ``[seat]``, or ``[0, 1]`` for a draw (``[]`` before
  the end), and ``winner`` is the seat, or None for a draw and before the end.

Where the rules are silent, the plain reading is taken:

- The next game is dealt at once when a game ends before the last one. After the
  last game, hands, columns, piles and claims stay as they are at its end, and
  ``to_move`` is the seat whose turn would be next.
- A turn in which the last pile card is drawn is a turn like any other: it counts,
  and exploits are claimed at its end, before the game is scored.
- A game that reaches the turn cap ends and is scored as it stands; the match goes on.
- Exploits lie open anew in every game. All those met at the end of a turn are
  claimed together, and only by the seat whose turn it was.
- With "last-winner", the winner of a game is the seat with more points in it,
  exploits included. An equal game (or equal totals, with "highest-total") makes the
  seat start that did not start the game just ended.
- ``tie_break`` is the seat that wins when the totals are equal at the end of the
  match; it does not settle a single game within a match.
"""

from __future__ import annotations

COLOURS = ["red", "green", "blue", "white", "yellow", "purple"]  # C-a, C-b
WAGER = 0
HAND_SIZE = 8  # C-a
EXPLOIT_POINTS = 10  # C-j
EXPLOITS = ["three-wagers", "eight-cards", "all-colours", "three-tens", "forty-points"]


def score(cards: list[int]) -> int:
    """Score one column, given as a list of ranks with 0 for a wager (C-f)."""
    # C-f: a colour never started counts nothing; wagers alone are a start.
    if len(cards) == 0:
        return 0
    # C-f: twenty points of cost, then multiplied by one more than the wagers.
    points = (sum(cards) - 20) * (1 + cards.count(WAGER))
    # C-f: the bonus counts wagers as cards and is not multiplied.
    if len(cards) >= 8:
        points = points + 20
    return points


def may_lay(column: list[int], rank: int) -> bool:
    """Tell whether a card of the colour may be laid at the end of a column (C-d)."""
    numbers = [card for card in column if card != WAGER]
    # C-d: a wager only before any number.
    if rank == WAGER:
        return numbers == []
    # C-d: a number above all numbers before it; gaps are allowed.
    return all(rank > number for number in numbers)


def meets(exploit: str, columns: dict[str, list[int]]) -> bool:
    """Tell whether the columns of one seat (colour to ranks) meet an exploit.

    Raises:
        ValueError: The exploit is unknown.
    """
    if exploit == "three-wagers":
        return any(column.count(WAGER) == 3 for column in columns.values())
    if exploit == "eight-cards":
        return any(len(column) >= 8 for column in columns.values())
    if exploit == "all-colours":
        return all(len(column) >= 1 for column in columns.values())
    if exploit == "three-tens":
        with_ten = [column for column in columns.values() if 10 in column]
        return len(with_ten) >= 3
    if exploit == "forty-points":
        return any(sum(column) >= 40 for column in columns.values())
    raise ValueError(f"unknown exploit {exploit!r}")


class NaiveLostCities:
    """A match between seats 0 and 1; all attributes may be set directly."""

    def __init__(
        self,
        decks: list[list[tuple[str, int]]],
        *,
        colours: int = 5,
        games: int = 1,
        starter: int = 0,
        next_starter: str = "highest-total",
        tie_break: int | None = None,
        turn_cap: int | None = None,
        exploits: tuple[str, ...] = (),
    ) -> None:
        """Deal the first game.

        Args:
            decks: One complete shuffled deck per game, in draw order.
            colours: 5 or 6.
            games: Number of games of the match, at least 1.
            starter: Seat that starts the first game.
            next_starter: "highest-total" or "last-winner" starts later games.
            tie_break: Seat that wins a tied match; None makes it a draw.
            turn_cap: Turns of both seats after which a game ends; None stands for
                300 with five colours and 600 with six.
            exploits: Names of the exploits laid out.

        Raises:
            ValueError: An option is out of range, or the decks do not match ``games``.
        """
        if colours not in (5, 6):
            raise ValueError("five or six colours")
        if len(decks) != games:
            raise ValueError("one deck per game")
        if next_starter not in ("highest-total", "last-winner"):
            raise ValueError(f"unknown way to find the starter {next_starter!r}")
        for exploit in exploits:
            if exploit not in EXPLOITS:
                raise ValueError(f"unknown exploit {exploit!r}")
        if turn_cap is None:
            turn_cap = 300 if colours == 5 else 600
        self.decks = decks
        self.colours = COLOURS[:colours]
        self.games = games
        self.next_starter = next_starter
        self.tie_break = tie_break
        self.turn_cap = turn_cap
        self.exploits = exploits
        self.game_scores: list[list[int]] = []
        self.totals = [0, 0]
        self.over = False
        self.winners: list[int] = []
        self.winner: int | None = None
        self._deal(0, starter)

    def _deal(self, game: int, starter: int) -> None:
        """Set up one game of the match."""
        cards = list(self.decks[game])
        # C-a, C-b: hands of eight; what is left is the draw pile (44 or 56 cards).
        self.hands: list[list[tuple[str, int]]] = [
            cards[:HAND_SIZE],
            cards[HAND_SIZE : 2 * HAND_SIZE],
        ]
        self.deck: list[tuple[str, int]] = cards[2 * HAND_SIZE :]
        # C-i: one discard pile per colour, face up.
        self.piles: dict[str, list[int]] = {}
        # C-d: one column per colour and seat.
        self.expeditions: list[dict[str, list[int]]] = [{}, {}]
        for colour in self.colours:
            self.piles[colour] = []
            self.expeditions[0][colour] = []
            self.expeditions[1][colour] = []
        self.claimed: dict[str, int] = {}
        self.game = game
        self.starter = starter
        self.to_move = starter
        self.phase = "play"
        self.barred: str | None = None
        self.turns = 0

    def legal(self) -> set[tuple]:
        """Return every legal action of the seat to move."""
        actions: set[tuple] = set()
        if self.over:
            return actions
        if self.phase == "play":
            # C-c: first play or discard one card.
            for colour, rank in self.hands[self.to_move]:
                actions.add(("discard", colour, rank))
                if may_lay(self.expeditions[self.to_move][colour], rank):
                    actions.add(("play", colour, rank))
        else:
            # C-c: then take the top card of the draw pile ...
            if self.deck:
                actions.add(("draw",))
            # C-c: ... or of any discard pile, but not the card just discarded.
            for colour in self.colours:
                if self.piles[colour] and colour != self.barred:
                    actions.add(("take", colour))
        return actions

    def apply(self, action: tuple) -> None:
        """Carry out one legal action.

        Raises:
            ValueError: The action is not legal.
        """
        if action not in self.legal():
            raise ValueError(f"illegal action {action!r}")
        hand = self.hands[self.to_move]
        if action[0] == "play":
            _, colour, rank = action
            hand.remove((colour, rank))
            self.expeditions[self.to_move][colour].append(rank)
            self.phase = "draw"
        elif action[0] == "discard":
            _, colour, rank = action
            hand.remove((colour, rank))
            self.piles[colour].append(rank)
            self.barred = colour
            self.phase = "draw"
        elif action[0] == "draw":
            hand.append(self.deck.pop(0))
            self._end_turn()
        else:
            _, colour = action
            hand.append((colour, self.piles[colour].pop()))
            self._end_turn()

    def points(self, seat: int) -> int:
        """Return the points of a seat in this game so far (C-f, C-j)."""
        # C-e: cards in hand do not count.
        points = 0
        for colour in self.colours:
            points = points + score(self.expeditions[seat][colour])
        for exploit in self.claimed:
            if self.claimed[exploit] == seat:
                points = points + EXPLOIT_POINTS
        return points

    def _end_turn(self) -> None:
        """Finish the turn of the seat to move."""
        self.turns = self.turns + 1
        # C-j: an exploit goes once, to the first seat meeting it after its turn.
        for exploit in self.exploits:
            if exploit not in self.claimed and meets(
                exploit, self.expeditions[self.to_move]
            ):
                self.claimed[exploit] = self.to_move
        self.phase = "play"
        self.barred = None
        self.to_move = 1 - self.to_move
        # C-e: the last pile card ends the game; so does the turn cap.
        if self.deck == [] or self.turns >= self.turn_cap:
            self._end_game()

    def _end_game(self) -> None:
        """Score the game; deal the next one or end the match."""
        self.game_scores.append([self.points(0), self.points(1)])
        # C-g: the totals decide the match.
        self.totals = [
            sum(scores[0] for scores in self.game_scores),
            sum(scores[1] for scores in self.game_scores),
        ]
        if len(self.game_scores) < self.games:
            self._deal(self.game + 1, self._starter_of_next_game())
            return
        self.over = True
        if self.totals[0] > self.totals[1]:
            self.winners = [0]
        elif self.totals[1] > self.totals[0]:
            self.winners = [1]
        elif self.tie_break is not None:
            # C-j: a tie may be broken by a seat named beforehand.
            self.winners = [self.tie_break]
        else:
            self.winners = [0, 1]
        if len(self.winners) == 1:
            self.winner = self.winners[0]

    def _starter_of_next_game(self) -> int:
        """Return the seat that starts the next game (C-h)."""
        if self.next_starter == "highest-total":
            compared = self.totals
        else:
            compared = self.game_scores[-1]
        if compared[0] > compared[1]:
            return 0
        if compared[1] > compared[0]:
            return 1
        # Nobody ahead: the other player than last time.
        return 1 - self.starter
