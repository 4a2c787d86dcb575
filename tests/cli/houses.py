"""A server in a process of its own, and matches that are played there."""

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from attrs import frozen
from tests.cli.conftest import Program, Run

GAME = "lepidoptery"
TWO = ("-s", "greedy", "-s", "uniform")

#: Deals alike, so that the same players play the same match.
SEED = ("--seed", "07" * 32, "--salt", "08" * 32)

#: A program that never dials in: its match is offered as long as an offer may last,
#: which is 10 s. Where more has to be done meanwhile, take the next one.
STUCK = f"exec:{sys.executable} -c 'import time; time.sleep(60)'"

#: Takes its seat, is asked and never answers: its match is running without an end.
LASTS = "stdio:sleep 600"

Start = Callable[..., Program]


@frozen
class House:
    """A server that runs, with its own data folder."""

    server: Program
    address: str
    data: Path
    tokens: dict[str, str]

    def there(self, role: str = "spectator") -> tuple[str, ...]:
        return ("--server", self.address, "--token", self.tokens[role])


def serve(data: Path, address: str = "127.0.0.1:0") -> tuple[Program, str]:
    server = Program("serve", "--address", address, "--data", data)
    word, _, listening = server.line().partition(" on ")
    assert word == "listening", server.end()
    return server, listening


def open_house(data: Path, port: int = 0) -> House:
    """Make tokens and start a server.

    Args:
        data: its folder.
        port: where it listens; 0 takes any. One that is to be started again needs a
            port that is kept meanwhile.
    """
    tokens = {}
    for role in ("referee", "spectator", "bot"):
        words = ("token", "create", role, "--role", role, "--data", data)
        tokens[role] = Program(*words).end()[1].strip()
    server, address = serve(data, f"127.0.0.1:{port}")
    return House(server, address, data, tokens)


@contextlib.contextmanager
def opened(data: Path, port: int = 0) -> Iterator[House]:
    """A house that is closed at the end."""
    house = open_house(data, port)
    try:
        yield house
    finally:
        house.server.signal()
        house.server.end()


def play(run: Run, house: House, match_id: str, *words: Any) -> None:
    words = (*(words or TWO), "--match-id", match_id, *house.there("referee"))
    assert run("match", GAME, *words, *SEED)[0] == 0


def begin(start: Start, house: House, match_id: str, player: str = STUCK) -> Program:
    """Begin a match that does not end by itself, at least not soon."""
    words = ("-s", player, "-s", "uniform", "--match-id", match_id)
    program = start("match", GAME, *words, *SEED, *house.there("referee"))
    assert program.error_line().startswith(f"match {match_id} ")
    return program


def until(run: Run, house: House, phase: str, match_id: str = "m") -> None:
    """Wait until a match is in a phase."""
    there = house.there("referee")
    while True:
        shown = json.loads(run("matches", "show", match_id, "--json", *there)[1])
        if shown["phase"] == phase:
            return


def last(start: Start, run: Run, house: House, match_id: str) -> Program:
    """Begin a match that does not end by itself; seat 0 is asked already."""
    program = begin(start, house, match_id, LASTS)
    until(run, house, "running", match_id)
    return program
