"""Positions as text, for tests and talk: one fact a line, written by hand.

    to move: 0                    # or, after the end, "over: pile-empty"
    draw: not red                 # or "draw: any"; no line before a card is played
    hand 0: red W 7 9, blue 2, 3 cards
    hand 1: 8 cards
    known 1: red 8                # taken from a discard pile; no line if none
    expedition 0: red W W 2 4     # no line if none
    discards: red 9 4, blue W     # from the bottom up; no line if none
    deck: red 3, green 5, 20 cards        # the next card first
    game: 2                       # 1 if left out
    score 1: -12 30               # of each game before this one, by seat
    starter: 1                    # of this game
    turns: 17                     # of this game that are over
    exploits: three-wagers 0      # the claimed ones
    pack 3: red 7, yellow 2 ...   # of a later game, as it will be dealt

Cards are a colour and ranks, ``W`` for a wager, with commas between colours. What
follows ``#`` is a comment. The order of the lines does not matter.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from attrs import define, field

from fritillary import InvalidPositionError
from fritillary_games.facts import facts_in
from fritillary_games.lost_cities.cards import (
    BITS,
    COLOURS,
    NUMBERS,
    RANKS,
    SCORES,
    SHIFTS,
    WAGER,
    card_name,
    cards_in,
    full_pack,
    pack,
    pile_of,
    pile_ranks,
    ranks_in,
)
from fritillary_games.lost_cities.exploits import POINTS, Exploit
from fritillary_games.lost_cities.layout import CARD, DRAW, DRAW_BUT, layout_of
from fritillary_games.lost_cities.model import (
    HAND_SIZE,
    NOBODY,
    REASONS,
    Options,
    State,
)
from fritillary_games.lost_cities.pictures_facts import listed, mark
from fritillary_games.lost_cities.rules import score_now

_KEYS: Final = (
    "to move",
    "over",
    "draw",
    *(f"{what} {n}" for what in ("hand", "known", "expedition") for n in (0, 1)),
    "discards",
    "deck",
    "game",
    "score 1",
    "score 2",
    "score 3",
    "starter",
    "turns",
    "exploits",
    "pack 2",
    "pack 3",
)

_BY_NAME: Final = {colour.value: colour for colour in COLOURS}
_BY_MARK: Final = {mark(rank).casefold(): rank for rank in RANKS}
_BY_EXPLOIT: Final = {exploit.value: exploit for exploit in Exploit}

_SIZE: Final = re.compile(r"([0-9]{1,2}) cards?")
_SCORE: Final = re.compile(r"(-?[0-9]{1,4}) (-?[0-9]{1,4})")
_NUMBER: Final = re.compile(r"[0-9]{1,4}")

#: The fewest and the most points of an expedition (C-f).
_COLUMN: Final = (min(SCORES), max(SCORES))


def parse_position(text: str, options: Options | None = None) -> State:
    """Return the state of a text position.

    Cards of which only the number is given are taken, in rising order by colour,
    from those that are named nowhere: first for the hands, then for the draw pile.
    Later packs that are left out are in that order as well.

    Args:
        text: see the module.
        options: of the match; the defaults if left out.

    Raises:
        InvalidPositionError: if the text cannot be read, or if the position cannot
            arise; one line that says why.
    """
    options = Options() if options is None else options
    state = _Reader(facts_in(text, _KEYS), options).state()
    for problem in (
        _about_hands(state),
        _about_step(state),
        _about_turns(state),
        _about_games(state),
        _about_exploits(state),
    ):
        if problem is not None:
            raise InvalidPositionError(problem)
    return state


def format_position(state: State) -> str:
    """Return the text of a state, complete: `parse_position` gives it back."""
    colours = state.options.colours
    if state.reason:
        lines = [f"over: {REASONS[state.reason]}"]
    else:
        lines = [f"to move: {state.to_move}"]
    if state.step:
        barred = state.step - DRAW_BUT
        lines.append(f"draw: {'any' if barred < 0 else f'not {COLOURS[barred].value}'}")
    for name, collections in (
        ("hand", state.hands),
        ("known", state.known),
        ("expedition", state.expeditions),
    ):
        for seat, cards in enumerate(collections):
            lines.append(f"{name} {seat}: {listed(ranks_in(cards, colours))}")
    lines += [
        f"discards: {listed(tuple(map(pile_ranks, state.piles)))}",
        f"deck: {_in_order(state.deck)}",
        f"game: {len(state.results) + (not state.reason)}",
    ]
    for game, (first, second) in enumerate(state.results, start=1):
        lines.append(f"score {game}: {first} {second}")
    lines += [f"starter: {state.starter}", f"turns: {state.turns}"]
    claimed = [
        f"{exploit.value} {owner}"
        for exploit, owner in zip(state.options.exploits, state.claims, strict=True)
        if owner != NOBODY
    ]
    if claimed:
        lines.append(f"exploits: {', '.join(claimed)}")
    first_later = state.options.games - len(state.later) + 1
    for game, cards_of_game in enumerate(state.later, start=first_later):
        lines.append(f"pack {game}: {_in_order(cards_of_game)}")
    return "\n".join(lines) + "\n"


def _in_order(cards: Sequence[int]) -> str:
    """List cards in their order, those of one colour in a row together."""
    groups = [
        f"{COLOURS[number].value} {' '.join(mark(card % BITS) for card in same)}"
        for number, same in itertools.groupby(cards, lambda card: card // BITS)
    ]
    return ", ".join(groups) or "none"


def _name(card: int) -> str:
    return card_name(COLOURS[card // BITS], card % BITS)


@define
class _Reader:
    """Reads the values of the facts."""

    facts: dict[str, str]
    options: Options
    #: The cards that are named nowhere, in rising order.
    unnamed: list[int] = field(init=False)

    def state(self) -> State:
        """Return the state, sound in its parts, but not yet as a whole."""
        options = self.options
        expeditions = [self._expedition(seat) for seat in (0, 1)]
        discards, _ = self._cards("discards")
        deck, more = self._cards("deck", sized=True)
        hands = [self._cards(f"hand {seat}", sized=True) for seat in (0, 1)]
        self.unnamed = full_pack(options.colours)
        for card in (
            *expeditions[0],
            *expeditions[1],
            *discards,
            *deck,
            *hands[0][0],
            *hands[1][0],
        ):
            if card not in self.unnamed:
                often = "three times" if card % BITS == WAGER else "once"
                msg = f"{_name(card)} is named more than {often}"
                raise InvalidPositionError(msg)
            self.unnamed.remove(card)
        dealt = [pack([*named, *self._unnamed(size)]) for named, size in hands]
        deck += self._unnamed(more)
        if self.unnamed:
            example = _name(self.unnamed[0])
            msg = f"{len(self.unnamed)} cards are nowhere, such as {example}"
            raise InvalidPositionError(msg)
        step = self._step()
        to_move, reason = self._turn()
        game = self._number("game", 1, options.games, 1)
        self._check_games(game, reason)
        starter, turns = self._turns(to_move, len(deck), reason)
        if to_move is None:
            to_move = (starter + turns - 1) % 2
        state = State(
            options,
            to_move,
            step,
            dealt,
            [pack(self._cards(f"known {seat}")[0]) for seat in (0, 1)],
            [pack(cards) for cards in expeditions],
            [
                pile_of(card % BITS for card in discards if card // BITS == number)
                for number in range(options.colours)
            ],
            tuple(deck),
            tuple(self._pack(n) for n in range(game + 1, options.games + 1)),
            starter,
            turns,
            tuple(self._score(n) for n in range(1, game)),
            self._claims(),
            reason,
        )
        last = f"score {game}"
        if reason:
            state.results += (
                self._score(game) if last in self.facts else score_now(state),
            )
        return state

    def _unnamed(self, size: int) -> list[int]:
        if size > len(self.unnamed):
            total = len(full_pack(self.options.colours))
            missing = size - len(self.unnamed)
            msg = f"the position has {total + missing} cards; there are {total}"
            raise InvalidPositionError(msg)
        taken, self.unnamed = self.unnamed[:size], self.unnamed[size:]
        return taken

    def _turn(self) -> tuple[int | None, int]:
        if ("to move" in self.facts) == ("over" in self.facts):
            msg = "say either 'to move: SEAT' or 'over: REASON'"
            raise InvalidPositionError(msg)
        if "to move" in self.facts:
            return self._number("to move", 0, 1, 0), 0
        reason = self.facts["over"]
        if reason not in REASONS:
            msg = f"over: {reason!r} is no reason; say pile-empty or turn-cap"
            raise InvalidPositionError(msg)
        return None, REASONS.index(reason)

    def _step(self) -> int:
        if "draw" not in self.facts:
            return CARD
        word = self.facts["draw"]
        if word == "any":
            return DRAW
        colour = word.removeprefix("not ")
        if colour == word:
            msg = f"draw: {word!r}; say any, or not and a colour"
            raise InvalidPositionError(msg)
        return DRAW_BUT + self._colour("draw", colour)

    def _number(self, key: str, low: int, high: int, default: int) -> int:
        word = self.facts.get(key, str(default))
        if not _NUMBER.fullmatch(word) or not low <= int(word) <= high:
            msg = f"{key}: {word!r} is no number from {low} to {high}"
            raise InvalidPositionError(msg)
        return int(word)

    def _check_games(self, game: int, reason: int) -> None:
        """Refuse scores of games that are not over, and packs that are dealt."""
        games = self.options.games
        for n in (1, 2, 3):
            if f"score {n}" in self.facts and n >= game + bool(reason):
                raise InvalidPositionError(f"score {n}: game {n} is not over")
            if f"pack {n}" in self.facts and not game < n <= games:
                msg = f"pack {n}: game {n} is no later one of this match"
                raise InvalidPositionError(msg)

    def _turns(self, to_move: int | None, left: int, reason: int) -> tuple[int, int]:
        """Return starter and turns; turns as few as the draw pile allows."""
        layout = layout_of(self.options)
        starter = self._number("starter", 0, 1, self.options.starter)
        dealt = 2 * HAND_SIZE
        drawn = len(full_pack(self.options.colours)) - dealt - left
        fewest = drawn + sum(len(self._cards(f"known {seat}")[0]) for seat in (0, 1))
        if reason == REASONS.index("turn-cap"):
            fewest = layout.cap
        elif to_move is not None and (starter + fewest) % 2 != to_move:
            fewest += 1
        return starter, self._number("turns", 0, layout.cap, min(fewest, layout.cap))

    def _colour(self, key: str, word: str) -> int:
        colours = self.options.colours
        if word not in _BY_NAME or NUMBERS[_BY_NAME[word]] >= colours:
            names = ", ".join(colour.value for colour in COLOURS[:colours])
            msg = f"{key}: {word!r} is no colour; there are {names}"
            raise InvalidPositionError(msg)
        return NUMBERS[_BY_NAME[word]]

    def _cards(self, key: str, *, sized: bool = False) -> tuple[list[int], int]:
        """Return the cards that are named, and how many more there are."""
        text = self.facts.get(key, "none")
        if key not in self.facts and sized:
            raise InvalidPositionError(f"{key!r} is missing")
        cards: list[int] = []
        more = 0
        for group in [] if text == "none" else text.split(","):
            size = _SIZE.fullmatch(group.strip()) if sized else None
            if size:
                more += int(size[1])
                continue
            colour, *ranks = group.split() or [""]
            shift = SHIFTS[self._colour(key, colour)]
            if not ranks:
                raise InvalidPositionError(f"{key}: {colour} what? Name its ranks")
            for word in ranks:
                if word not in _BY_MARK:
                    msg = f"{key}: {word!r} is no rank from 2 to 10, and no W"
                    raise InvalidPositionError(msg)
                cards.append(shift + _BY_MARK[word])
        return cards, more

    def _expedition(self, seat: int) -> list[int]:
        key = f"expedition {seat}"
        cards, _ = self._cards(key)
        for number, colour in enumerate(COLOURS):
            ranks = [card % BITS for card in cards if card // BITS == number]
            for lower, higher in itertools.pairwise(ranks):
                if lower > higher or lower == higher != WAGER:
                    msg = (
                        f"{key}: {colour.value} {mark(higher)} does not follow "
                        f"{mark(lower)}"
                    )
                    raise InvalidPositionError(msg)
        return cards

    def _pack(self, game: int) -> tuple[int, ...]:
        key = f"pack {game}"
        whole = full_pack(self.options.colours)
        if key not in self.facts:
            return tuple(whole)
        cards, _ = self._cards(key)
        if sorted(cards) != whole:
            raise InvalidPositionError(
                f"{key}: it must hold all {len(whole)} cards once"
            )
        return tuple(cards)

    def _score(self, game: int) -> tuple[int, int]:
        key = f"score {game}"
        if key not in self.facts:
            raise InvalidPositionError(f"{key!r} is missing")
        found = _SCORE.fullmatch(self.facts[key])
        if not found:
            msg = f"{key}: {self.facts[key]!r}; say the points of seat 0 and of seat 1"
            raise InvalidPositionError(msg)
        fewest, most = (points * self.options.colours for points in _COLUMN)
        most += POINTS * len(self.options.exploits)
        for points in (int(found[1]), int(found[2])):
            if not fewest <= points <= most:
                msg = f"{key}: {points} is no score from {fewest} to {most}"
                raise InvalidPositionError(msg)
        return int(found[1]), int(found[2])

    def _claims(self) -> tuple[int, ...]:
        owners = dict.fromkeys(self.options.exploits, NOBODY)
        text = self.facts.get("exploits", "none")
        for claim in [] if text == "none" else text.split(","):
            name, _, seat = claim.strip().partition(" ")
            exploit = _BY_EXPLOIT.get(name)
            if exploit not in owners or seat not in {"0", "1"}:
                msg = f"exploits: {claim.strip()!r} is no exploit in play and its seat"
                raise InvalidPositionError(msg)
            owners[exploit] = int(seat)
        return tuple(owners.values())


def _about_hands(state: State) -> str | None:
    for seat, hand in enumerate(state.hands):
        size = HAND_SIZE - (state.must_draw and seat == state.to_move)
        held = cards_in(hand)
        if len(held) != size:
            return f"hand {seat}: {len(held)} cards; {size} are held now"
        extra = Counter(cards_in(state.known[seat])) - Counter(held)
        for card in extra:
            return f"known {seat}: {_name(card)} is not in that hand"
    return None


def _about_step(state: State) -> str | None:
    if not state.reason and not state.deck:
        return "the draw pile is empty, so the game is over"
    if state.reason and state.must_draw:
        return "the game is over, so nothing is to be drawn"
    barred = state.step - DRAW_BUT
    if barred >= 0 and not state.piles[barred]:
        return f"draw: {COLOURS[barred].value} was discarded, but its pile is empty"
    if state.step == DRAW and not state.expeditions[state.to_move]:
        return f"draw: seat {state.to_move} has played no card yet"
    return None


def _about_turns(state: State) -> str | None:
    dealt = 2 * HAND_SIZE
    drawn = len(full_pack(state.options.colours)) - dealt - len(state.deck)
    known = sum(len(cards_in(cards)) for cards in state.known)
    if state.turns < drawn + known:
        return (
            f"turns: {state.turns}, but {drawn} cards were drawn from the draw pile "
            f"and at least {known} from discard piles"
        )
    if not state.reason:
        if state.turns >= state.layout.cap:
            return f"turns: the game ends after {state.layout.cap}"
        if (state.starter + state.turns) % 2 != state.to_move:
            return (
                f"turns: {state.turns} turns after seat {state.starter} started, seat "
                f"{1 - state.to_move} is to move"
            )
    return None


def _about_games(state: State) -> str | None:
    name = REASONS[state.reason]
    if name is not None and state.later:
        return f"over: game {len(state.results)} is not the last of the match"
    if name == "pile-empty" and state.deck:
        return f"over: the draw pile has {len(state.deck)} cards"
    if name == "turn-cap" and (state.turns < state.layout.cap or not state.deck):
        return f"over: {state.turns} turns; the cap is {state.layout.cap}"
    if name is not None:
        first, second = score_now(state)
        if state.results[-1] != (first, second):
            game = len(state.results)
            return f"score {game}: the expeditions are worth {first} and {second}"
    return None


def _about_exploits(state: State) -> str | None:
    for exploit, owner, meets in zip(
        state.options.exploits, state.claims, state.layout.conditions, strict=True
    ):
        for seat, expeditions in enumerate(state.expeditions):
            met = meets(expeditions)
            if owner == seat and not met:
                return f"exploits: seat {seat} does not meet {exploit.value}"
            # Who has just played claims at the end of the turn.
            waiting = state.must_draw and seat == state.to_move
            if met and owner == NOBODY and not waiting:
                return f"exploits: seat {seat} meets {exploit.value}, so it is claimed"
    return None
