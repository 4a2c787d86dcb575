"""Search bots that dial in at a server: each command a process."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import frozen
from tests.cli.conftest import Program, Run, one_line
from tests.cli.test_serve import Start, served

from fritillary.record.reader import content_hash, read_file, read_record

GAME = "lepidoptery"
SEED = "5e" * 32

pytestmark = pytest.mark.system


@frozen
class House:
    """A server that runs, and two tokens of it."""

    address: str
    referee: str
    bot: str


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    data = ("--data", tmp_path / "server")
    make = ("token", "create")
    referee = Program(*make, "ref", "--role", "referee", *data).end()[1].strip()
    bot = Program(*make, "searcher", *data).end()[1].strip()
    server = Program("serve", "--address", "127.0.0.1:0", *data)
    yield House(served(server), referee, bot)
    server.signal()
    assert server.end()[0] == 0


@pytest.mark.parametrize("search", ["ismcts:iterations=20", "flat-mc:iterations=40"])
def test_a_search_bot_plays_the_same_match_in_process_and_over_the_wire(
    start: Start, run: Run, house: House, tmp_path: Path, search: str
) -> None:
    words = ("--address", house.address, "--token", house.bot, "--matches", 1)
    bot = start("bot", search, *words)
    assert "connected to" in bot.error_line()
    hashes = []
    for number, (player, *there) in enumerate(
        (
            (search,),
            ("remote:searcher", "--server", house.address, "--token", house.referee),
        )
    ):
        record = tmp_path / f"{number}.frec"
        seats = ("--seat", player, "--seat", "uniform", "--seed", SEED)
        code, said, error = run(
            "match", GAME, *seats, "--record", record, "--json", *there
        )
        assert (code, json.loads(said)["kind"]) == (0, "played"), error
        hashes.append(content_hash(read_record(read_file(record))))
    assert hashes[0] == hashes[1]
    code, out, errors = bot.end()
    assert (code, out) == (0, ""), errors


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("mcts",), "something is hidden in it; ismcts can"),
        (("mcts", "--game", GAME), "mcts cannot play lepidoptery"),
        (("ismcts:iterations=0",), "iterations must be an integer from 1, not 0"),
        (("ismcts:depth=3", "--game", GAME), "lepidoptery has no evaluate"),
        (("wizard",), "no installed game has a bot 'wizard'"),
    ],
)
def test_a_search_bot_that_has_nothing_to_play_does_not_dial_in(
    run: Run, words: tuple[str, ...], says: str
) -> None:
    code, out, error = run("bot", *words, "--address", "127.0.0.1:1", "--token", "a/b")
    assert (code, out) == (2, "")
    assert says in one_line(error)
