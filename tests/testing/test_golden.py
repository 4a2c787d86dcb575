"""The golden playthroughs of our games and examples, and how they are kept."""

import os
from importlib import metadata

import pytest
from examples.pig import pig
from tests.examples.projects import EXAMPLES
from tests.testing.mutants import sound

from fritillary.testing import Verdict, certify, playthrough
from fritillary.testing.fresh import find_game

FOLDER = EXAMPLES.parent / "tests" / "golden" / "playthroughs"

OURS = [
    point.name
    for point in metadata.entry_points(group="fritillary.games")
    if point.dist is not None and point.dist.name == "fritillary"
]
SOURCES = {
    **{name: name for name in OURS},
    "connect-four": "python:examples.connect_four.connect_four",
    "kuhn-poker": "python:examples.kuhn_poker.kuhn_poker",
    "nim": "python:examples.nim.nim_game",
    "pig": "python:examples.pig.pig",
    "tic-tac-toe": "python:examples.tic_tac_toe.tic_tac_toe",
}


def judge(game, path, *, update=False):
    certificate = certify(
        game, laws=["playthrough.current"], golden=path, update_golden=update
    )
    return certificate.judgements[0]


@pytest.mark.parametrize("name", SOURCES)
def test_the_playthrough_is_current(name):
    game = find_game(SOURCES[name])
    update = bool(os.environ.get("FRITILLARY_REWRITE_GOLDEN"))
    judgement = judge(game, FOLDER / f"{name}.txt", update=update)
    assert judgement.verdict is Verdict.HOLDS, str(judgement)


def test_every_playthrough_belongs_to_a_game():
    assert {path.stem for path in FOLDER.iterdir()} == SOURCES.keys()


def test_a_missing_or_outdated_playthrough_is_caught(tmp_path):
    game, path = sound(pig), tmp_path / "sub" / "pig.txt"
    missing = judge(game, path)
    assert missing.verdict is Verdict.BROKEN
    assert "--update-golden" in missing.failure.what
    assert judge(game, path, update=True).verdict is Verdict.HOLDS
    assert judge(game, path).verdict is Verdict.HOLDS
    path.write_text(path.read_text("utf-8").replace("roll", "throw"), "utf-8")
    outdated = judge(game, path)
    assert outdated.verdict is Verdict.BROKEN
    assert "'legal: throw' is not 'legal: roll'" in outdated.failure.what


def test_a_file_that_is_no_text_is_named(tmp_path):
    path = tmp_path / "pig.txt"
    path.write_bytes(b"\xff\xfe\x00")
    judgement = judge(sound(pig), path)
    assert judgement.verdict is Verdict.BROKEN
    what = "pig.txt is no text in UTF-8; write it with --update-golden"
    assert judgement.failure.what == what


def test_a_playthrough_that_cannot_be_written_whole_leaves_the_one_before(
    tmp_path, monkeypatch
):
    path = tmp_path / "pig.txt"
    path.write_text("before", "utf-8")

    def full(self, raw):
        with self.open("wb") as file:
            file.write(raw[: len(raw) // 2])
        raise KeyboardInterrupt

    monkeypatch.setattr(type(path), "write_bytes", full)
    with pytest.raises(KeyboardInterrupt):
        judge(sound(pig), path, update=True)
    assert path.read_text("utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "pig.txt"
    judgement = judge(sound(pig), path, update=True)
    assert judgement.verdict is Verdict.BROKEN
    assert judgement.failure.what.startswith(f"{path} cannot be written: ")


def test_without_a_file_the_law_says_nothing():
    assert judge(sound(pig), None).verdict is Verdict.SKIPPED


def test_a_playthrough_shows_the_whole_match():
    text = playthrough(sound(pig), options=pig.Options(target=20, rounds=3))
    lines = text.splitlines()
    assert lines[0] == "playthrough of pig, rules 1, 2 seats"
    assert lines[1] == 'options: {"target":20,"rounds":3}'
    assert lines[3].startswith("perft: 1 1 6 11")
    assert "> seat 0: roll" in lines
    assert "chance: 1 x1, 2 x1, 3 x1, 4 x1, 5 x1, 6 x1" in lines
    assert lines[-1].startswith("over: ")


def test_long_matches_are_shown_in_part():
    text = playthrough(sound(pig), options=pig.Options(target=200))
    assert len(text.splitlines()) < 1000
    assert "\nplayed: " in text
