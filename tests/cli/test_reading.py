"""Commands that read: games, game, show, verify, export."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from tests.cli.conftest import Run, one_line, play_match

COMMANDS = (
    *("games", "game", "play", "match", "serve"),
    *("bot", "show", "verify", "export", "token"),
)


def test_help_names_every_command(run: Run) -> None:
    code, said, _ = run("--help")
    assert code == 0
    for command in COMMANDS:
        assert command in said


def test_version(run: Run) -> None:
    assert run("--version")[1].startswith("fritillary 0.")


def test_games_lists_games_and_variants(run: Run) -> None:
    code, said, errors = run("games")
    assert (code, errors) == (0, "")
    assert "lepidoptery" in said
    assert "no-pass" in said


def test_games_as_json(run: Run) -> None:
    data = json.loads(run("games", "--json")[1])
    assert "lepidoptery" in [game["id"] for game in data["games"]]
    assert data["skipped"] == []


def test_game_tells_options_bots_and_reasons(run: Run) -> None:
    code, said, _ = run("game", "lepidoptery")
    assert code == 0
    for word in ("heights", "same_type_may_beat", "greedy", "bga", "four-in-line"):
        assert word in said


def test_game_with_options_shows_them(run: Run) -> None:
    words = ("game", "lepidoptery", "-o", "heights=5,5,5,5,5", "--json")
    data = json.loads(run(*words)[1])
    assert data["options"]["heights"] == [5, 5, 5, 5, 5]


def test_game_actions_and_schemas(run: Run) -> None:
    actions = json.loads(run("game", "lepidoptery", "--actions", "--json")[1])
    assert len(actions) == 110
    assert actions[-1]["text"] == "pass"
    assert "pass" in run("game", "lepidoptery", "--actions")[1]
    schemas = json.loads(run("game", "lepidoptery", "--schemas")[1])
    assert set(schemas) == {"options", "action", "observation"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("game", "lepidopter"), "lepidoptery"),
        (("game", "lepidoptery+nopass"), "no-pass"),
        (("game", "lepidoptery", "-o", "heights=0,6,6,6,6"), "heights"),
        (("game", "lepidoptery", "-o", "heights"), "name=value"),
        (("game", "lepidoptery", "-o", "colour=red"), "colour"),
        (("game", "lepidoptery", "-o", "starter=1", "-o", "starter=0"), "twice"),
        (("game", "lepidoptery", "--preset", "x"), "classic"),
        (("game", "lepidoptery", "-o", "starter=\x1b[31m"), "starter"),
    ],
)
def test_wrong_games_and_options_are_one_clear_line(
    run: Run, words: tuple[str, ...], said: str
) -> None:
    code, out, error = run(*words)
    assert code == 2
    assert out == ""
    assert said in one_line(error)
    assert "\x1b[31m" not in error


def test_verify_says_verified(run: Run, frec: Path) -> None:
    code, said, errors = run("verify", frec)
    assert (code, errors) == (0, "")
    assert said.startswith(f"verified {frec}")
    data = json.loads(run("verify", frec, "--json")[1])
    assert data[0]["holds"] is True
    assert data[0]["key"] in run("verify", frec, "--key", data[0]["key"])[1]


def test_verify_names_the_first_bad_event_with_exit_code_3(
    run: Run, frec: Path, tmp_path: Path
) -> None:
    raw = bytearray(frec.read_bytes())
    raw[len(raw) // 2] ^= 1
    other = tmp_path / "other.frec"
    other.write_bytes(raw)
    code, said, error = run("verify", frec, other)
    assert code == 3
    assert "verified" in said
    assert "event " in one_line(error)


def test_verify_with_another_key_fails(run: Run, frec: Path) -> None:
    code, _, error = run("verify", frec, "--key", "00" * 32)
    assert code == 3
    assert "signed by" in one_line(error)


@pytest.mark.parametrize("command", ["verify", "show", "export"])
def test_what_is_no_record_is_one_clear_line(
    run: Run, command: str, tmp_path: Path
) -> None:
    missing = tmp_path / "missing.frec"
    code, _, error = run(command, missing)
    assert code == 1
    assert "missing.frec" in one_line(error)
    garbage = tmp_path / "garbage.frec"
    for raw in (b"", b"\x00" * 100, b"fritillary", bytes(range(256))):
        garbage.write_bytes(raw)
        code, _, error = run(command, garbage)
        assert code == 3
        assert "record" in one_line(error)
    if command != "verify":
        code, _, error = run(command, tmp_path)
        assert code == 1
        assert "regular file" in one_line(error)


def test_verify_takes_all_records_of_a_folder(
    run: Run, frec: Path, tmp_path: Path
) -> None:
    other = tmp_path / "another.frec"
    other.write_bytes(frec.read_bytes())
    (tmp_path / "notes.txt").write_text("no record")
    data = json.loads(run("verify", tmp_path, "--json")[1])
    assert [one["file"] for one in data] == [str(other), str(frec)]
    assert all(one["holds"] for one in data)
    empty = tmp_path / "empty"
    empty.mkdir()
    code, _, error = run("verify", frec, empty)
    assert code == 2
    assert "empty: the folder holds no match records" in one_line(error)


def test_what_does_not_hold_is_a_result_and_what_cannot_be_read_an_error(
    run: Run, frec: Path, tmp_path: Path
) -> None:
    garbage = tmp_path / "garbage.frec"
    garbage.write_bytes(b"garbage")
    missing = tmp_path / "missing.frec"
    code, said, error = run("verify", garbage, missing, frec, "--json")
    assert code == 3
    data = json.loads(said)
    assert [one["holds"] for one in data] == [False, True]
    assert data[0]["code"] == "record.magic"
    assert one_line(error) == f"error: {missing}: No such file or directory"
    code, said, error = run("verify", missing, frec)
    assert (code, said.count("verified")) == (1, 1)
    assert "missing.frec" in one_line(error)


def test_show_lists_the_match_and_the_last_position(run: Run, frec: Path) -> None:
    code, said, _ = run("show", frec)
    assert code == 0
    assert "match m-1" in said
    assert "seat 0" in said
    assert "played (" in said


def test_show_a_ply_a_seat_and_the_picture(
    run: Run, frec: Path, tmp_path: Path
) -> None:
    picture = tmp_path / "board.svg"
    code, said, _ = run("show", frec, "--ply", 3, "--seat", 1, "--svg", picture)
    assert code == 0
    assert "played (" not in said
    assert ET.parse(picture).getroot().tag.endswith("svg")
    assert run("show", frec, "--ply", 0)[0] == 0


def test_show_times(run: Run, frec: Path) -> None:
    assert "  charged  server  think" in run("show", frec, "--times")[1]


def test_show_steps_without_a_terminal_shows_every_position(
    run: Run, frec: Path
) -> None:
    code, said, _ = run("show", frec, "--steps")
    assert code == 0
    plies = json.loads(run("verify", frec, "--json")[1])[0]["plies"]
    boards = said.count("run of 3") or said.count("run3")
    assert boards >= plies


@pytest.mark.parametrize(
    "words",
    [("--ply", 9999), ("--ply", -1), ("--seat", 2), ("--seat", -1)],
)
def test_show_refuses_plies_and_seats_that_are_not_there(
    run: Run, frec: Path, words: tuple[object, ...]
) -> None:
    code, said, error = run("show", frec, *words)
    assert (code, said) == (2, "")
    one_line(error)


def test_show_says_where_a_picture_cannot_be_written(run: Run, frec: Path) -> None:
    code, said, error = run("show", frec, "--svg", frec / "x.svg")
    # Before anything is shown.
    assert (code, said) == (2, "")
    assert one_line(error).endswith("x.svg: the folder does not exist")


def test_export_holds_every_event_with_notation(
    run: Run, frec: Path, tmp_path: Path
) -> None:
    events = json.loads(run("export", frec)[1])
    assert events[0]["type"] == "header"
    assert events[0]["options"]["heights"] == [6] * 5
    assert events[-1]["type"] == "closed"
    acted = [event for event in events if event["type"] == "action-taken"]
    assert all(event["text"] for event in acted)
    lines = run("export", frec, "--lines")[1].splitlines()
    assert [json.loads(line) for line in lines] == events
    target = tmp_path / "match.json"
    assert run("export", frec, "--output", target)[0] == 0
    assert json.loads(target.read_text("utf-8")) == events


def test_a_variant_is_found_again_from_its_record(run: Run, tmp_path: Path) -> None:
    path = play_match(tmp_path / "variant.frec", "lepidoptery+no-pass")
    assert "lepidoptery+no-pass" in run("verify", path)[1]


def test_debug_shows_a_traceback(run: Run) -> None:
    _, _, error = run("game", "nothing", "--debug")
    assert "Traceback" in error
