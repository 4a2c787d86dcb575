"""A bot for Lepidoptery: wins if it can, blocks if it must, sheds what it can.

It shows how to read observations and actions, which are plain dicts and lists. What
each field means stands in the JSON Schemas of the game (`fritillary game lepidoptery`).

    python examples/bots/greedy.py --address HOST:PORT --token TOKEN
"""

from typing import Any

from fritillary_client import Ask, Bot, LegalAction, MatchInfo, Outcome, main

#: Cards of each type of combination, the joker included.
CARDS = {"single": 1, "pair": 2, "triple": 3, "run2": 2, "run3": 3}

#: A column lists the seats whose tokens lie in it, from the bottom up.
Columns = list[list[int]]


class Greedy(Bot):
    """Looks one move ahead and one answer, at the board alone."""

    games = ("lepidoptery",)

    def start(self, info: MatchInfo) -> None:
        """Keep what stays the same for the whole match."""
        self.me = info.seat
        self.heights: list[int] = info.options["heights"]
        self.place = {combo: i for i, combo in enumerate(info.options["order"])}

    def decide(self, ask: Ask) -> LegalAction:
        """Return the legal action that is liked best; of equals, one at random."""
        liked = [
            (self.liking(ask.observation, each.action), each) for each in ask.legal
        ]
        best = max(liking for liking, _ in liked)
        return ask.rng.choice([each for liking, each in liked if liking == best])

    def end(self, outcome: Outcome) -> None:
        """Nothing is kept from one match to the next."""

    def liking(
        self, seen: dict[str, Any], action: dict[str, Any]
    ) -> tuple[bool, int, float]:
        """Say how good an action looks: does it win, what is risked, what is gained."""
        columns: Columns = [list(column) for column in seen["columns"]]
        # Nobody may play the type that lies on his own marker.
        barred = self.place.get(seen["markers"][1 - self.me])
        if action["type"] == "pass":
            return False, -len(self.wins_next(columns, 1 - self.me, barred)), 0.0
        place = self.place[action["combo"]]
        columns[place].append(self.me)
        cards = CARDS[action["combo"]] - (action["joker"] > 0)
        left = seen["hand_sizes"][self.me] + seen["deck_sizes"][self.me] - cards
        wins = left == 0 or four_at(columns, place)
        if len(columns[place]) == self.heights[place]:
            # A column that fills up empties the other full one.
            for other, height in enumerate(self.heights):
                if other != place and len(columns[other]) == height:
                    columns[other] = []
        risk = len(self.wins_next(columns, 1 - self.me, barred))
        # Many cards, low ones first, for they beat least. The joker is worth almost a
        # card, and a cell that would complete four is worth two.
        gain = cards - 0.05 * action["rank"] - (0.8 if action["joker"] else 0.0)
        return wins, -risk, gain + 2 * len(self.wins_next(columns, self.me, place))

    def wins_next(self, columns: Columns, seat: int, barred: int | None) -> list[int]:
        """Return the columns in which a seat's next token would complete four."""
        found = []
        for place, column in enumerate(columns):
            if place != barred and len(column) < self.heights[place]:
                tried = [list(each) for each in columns]
                tried[place].append(seat)
                if four_at(tried, place):
                    found.append(place)
        return found


def four_at(columns: Columns, place: int) -> bool:
    """Say whether the top token of a column lies in a line of four."""
    row = len(columns[place]) - 1
    seat = columns[place][row]
    for right, up in ((0, 1), (1, 0), (1, 1), (1, -1)):
        count = 1
        for way in (1, -1):
            x, y = place + way * right, row + way * up
            while (
                0 <= x < len(columns)
                and 0 <= y < len(columns[x])
                and columns[x][y] == seat
            ):
                count += 1
                x, y = x + way * right, y + way * up
        if count >= 4:
            return True
    return False


if __name__ == "__main__":
    main(Greedy, name="greedy", version="1")
