"""Words that do not go together, or would destroy something, are one clear line."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Run, one_line
from tests.cli.houses import GAME

from fritillary.cli.files import write_text
from fritillary.core.errors import StorageError

MANY = "9" * 400

#: A server that nobody gets to ask.
SERVER = ("--server", "127.0.0.1:1", "--token", "x")


@pytest.mark.parametrize(
    "words", [("export", "--output"), ("export", "--lines", "-O"), ("show", "--svg")]
)
@pytest.mark.parametrize("linked", [False, True])
def test_a_record_is_not_written_over(
    run: Run, frec: Path, tmp_path: Path, words: tuple[str, ...], linked: bool
) -> None:
    raw, target = frec.read_bytes(), frec
    if linked:
        target = tmp_path / "link"
        target.symlink_to(frec)
    command, *options = words
    code, said, error = run(command, frec, *options, target)
    assert (code, said) == (2, "")
    assert f"{target}: that is the record itself" in one_line(error)
    assert frec.read_bytes() == raw


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--steps", "--ply", 3), "--steps shows all positions"),
        (("--steps", "--times"), "--steps shows all positions"),
        (("--steps", "--svg", "x.svg"), "--steps shows all positions"),
        (("--times", "--json", "--svg", "x.svg"), "leave out --svg"),
        (("--json",), "--json goes with --times"),
    ],
)
def test_what_show_cannot_show_at_once_is_refused(
    run: Run,
    frec: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[object, ...],
    why: str,
) -> None:
    monkeypatch.chdir(frec.parent)
    code, said, error = run("show", frec, *options)
    assert (code, said) == (2, "")
    assert why in one_line(error)
    assert not Path("x.svg").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("bot", "uniform", "--address", "127.0.0.1:1", "--token", "t", "--capacity"),
        ("bench", "link", "--count", 1, "--streams"),
    ],
)
def test_numbers_that_are_too_big_are_refused(
    run: Run, words: tuple[object, ...]
) -> None:
    code, said, error = run(*words, MANY)
    assert (code, said) == (2, "")
    assert f"Invalid value for '{words[-1]}'" in one_line(error)


# ------------------------------------------------- what means nothing beside the rest

#: A token of the form of a bot's, for servers that are not asked.
BOT = "frt_bot_x"


@pytest.mark.parametrize(
    ("words", "why", "left_out"),
    [
        (
            ("game", "lepidoptery", "--schemas", "--actions"),
            "--schemas prints the schemas of all options",
            "--actions",
        ),
        (
            ("game", "lepidoptery", "--schemas", "-o", "starter=1", "--preset", "bga"),
            "--schemas prints the schemas of all options",
            "--option and --preset",
        ),
        (("match", GAME, "--pace", "1s"), "without --watch there is no pace", "--pace"),
        (
            ("match", GAME, "--json", "--watch"),
            "--json prints the result alone",
            "--watch",
        ),
        (
            ("match", GAME, "-s", "human", "-s", "uniform", "--watch"),
            "whoever plays at this terminal sees the match anyway",
            "--watch",
        ),
        (
            ("match", GAME, "--wait", "1s"),
            "no seat is for a bot of remote:NAME, which could be waited for",
            "--wait",
        ),
        (
            ("match", GAME, *SERVER, "--record", "x.frec", "--data", "."),
            "with --server the record goes to --record and nowhere else",
            "--data",
        ),
        (
            ("watch", *SERVER, "--give-up", "1s"),
            "a list waits for no server",
            "--give-up",
        ),
        (
            (
                "certify",
                GAME,
                "--law",
                "copy.equal",
                "--golden",
                "x",
                "--update-golden",
            ),
            "only the law playthrough.current reads that file",
            "--golden and --update-golden",
        ),
        (
            ("check-bot", "greedy", "--list", "--timeout", "1", "--verbose"),
            "--list checks nothing",
            "PLAYER, --timeout and --verbose",
        ),
        (
            ("check-bot", "--list", "--game", GAME, "--only", "x"),
            "--list checks nothing",
            "--game and --only",
        ),
        (
            (
                "bench",
                "link",
                "--server",
                "127.0.0.1:1",
                "--token",
                BOT,
                "--game",
                GAME,
            ),
            "without a referee's token nothing is played",
            "--game",
        ),
    ],
)
def test_options_that_would_be_ignored_are_refused(
    run: Run, words: tuple[str, ...], why: str, left_out: str
) -> None:
    code, said, error = run(*words)
    assert (code, said) == (2, "")
    assert one_line(error) == f"error: {why}; leave out {left_out}"


@pytest.mark.parametrize(
    ("words", "left_out"),
    [
        (("show", "--times", "--json", "--ply", 0), "--ply"),
        (("show", "--times", "--json", "--seat", 0), "--seat"),
        (("analyse", "--top", 3), "--top"),
        (("analyse", "--ply", 1, "--worst", 0), "--worst"),
    ],
)
def test_options_that_a_record_leaves_nothing_to_are_refused(
    run: Run, frec: Path, words: tuple[object, ...], left_out: str
) -> None:
    command, *options = words
    code, said, error = run(command, frec, *options)
    assert (code, said) == (2, "")
    assert one_line(error).endswith(f"; leave out {left_out}")


def test_a_position_has_no_worst_decisions(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "position.json"
    path.write_text("{}")
    code, _, error = run("analyse", path, "--game", GAME, "--worst", 3)
    assert code == 2
    assert one_line(error).endswith("; leave out --worst")


@pytest.mark.parametrize(
    "words",
    [
        ("match", GAME),
        pytest.param(("bench", "link", "--count", "1"), marks=pytest.mark.system),
    ],
)
def test_a_token_of_the_environment_is_no_mistake_where_no_server_is_named(
    run: Run, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("FRITILLARY_TOKEN", "frt_bot_a frt_bot_b")
    assert run(*words)[0] == 0
    code, said, error = run(*words, "--token", "frt_bot_c")
    assert (code, said) == (2, "")
    assert "--token is for a server; name it with --server" in one_line(error)


# ----------------------------------------------------------- words that are no words


@pytest.mark.parametrize(
    ("words", "before"),
    [
        (("match", GAME, "--server", ""), "--server"),
        (("match", GAME, "--server="), "--server"),
        (("match", GAME, "--match-id", "", "--json"), "--match-id"),
        (("watch", ""), "watch"),
        (("show", ""), "show"),
        (("token", "list", "--data", ""), "--data"),
        (("new-game", ""), "new-game"),
        (("new-bot", "go", "--", ""), "--"),
        (("bench", "link", "--server", ""), "--server"),
        (("",), "fritillary"),
    ],
)
def test_an_empty_word_is_refused(
    run: Run, words: tuple[str, ...], before: str
) -> None:
    code, said, error = run(*words)
    assert (code, said) == (2, "")
    assert f"after '{before}' stands an empty word" in one_line(error)


def test_a_value_of_an_option_of_a_game_may_be_empty(run: Run) -> None:
    code, _, error = run("game", GAME, "-o", "heights=")
    assert code == 2
    assert "heights" in one_line(error)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("match", GAME, "--label"), "label"),
        (("match", GAME, "--option"), "option"),
        (("matches", "list", *SERVER, "--label"), "label"),
        (("matches", "show", *SERVER), "match id"),
        (("watch", *SERVER), "match id"),
        (("bench", "link", "--game"), "game"),
    ],
)
def test_words_that_are_no_text_are_refused(
    run: Run, words: tuple[str, ...], what: str
) -> None:
    code, said, error = run(*words, "a=\udcff")
    assert (code, said) == (2, "")
    assert one_line(error) == f"error: {what} 'a=\\udcff' is no text in UTF-8"


def test_a_file_may_have_a_name_that_is_no_text(run: Run, frec: Path) -> None:
    odd = frec.with_name("\udcff.frec")
    frec.rename(odd)
    code, said, _ = run("show", odd)
    assert code == 0
    assert said.startswith("lepidoptery  match m-1\n")


@pytest.mark.parametrize(
    "words",
    [
        ("verify", "x.frec", "--key"),
        ("matches", "fetch", "x", *SERVER, "--signed-by"),
    ],
)
@pytest.mark.parametrize("key", ["zz", "ab" * 31, "0" * 5000])
def test_a_key_that_is_none_is_refused_before_anything_is_read(
    run: Run, words: tuple[str, ...], key: str
) -> None:
    code, said, error = run(*words, key)
    assert (code, said) == (2, "")
    assert one_line(error) == "error: a key is 64 hex digits"


def test_an_unknown_option_of_a_game_is_told_with_those_it_has(run: Run) -> None:
    code, said, error = run("match", GAME, "-o", "columns=7")
    assert (code, said) == (2, "")
    assert one_line(error).startswith(
        "error: lepidoptery has no option 'columns'; known: heights, order, "
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("show", "x", "--ply", "x"),
            "for '--ply': it must be a valid integer; --help",
        ),
        (
            ("perft", GAME, "--depth", -1),
            "it must be greater than or equal to 0; --help",
        ),
        (("matches", "abort", "x", "--kind", "y"), ": 'y' is not one of 'withdrawn', "),
        (("gam",), "No such command 'gam'. Did you mean 'game', 'games'? --help tells"),
        (("game",), "Missing argument 'GAME'; --help tells what there is"),
    ],
)
def test_words_that_cannot_be_read_are_told_plainly(
    run: Run, words: tuple[object, ...], said: str
) -> None:
    code, out, error = run(*words)
    assert (code, out) == (2, "")
    assert said in one_line(error)


def test_an_address_that_is_none_is_wrong_usage_of_bot_too(run: Run) -> None:
    code, said, error = run("bot", "uniform", "--token", "x", "--address", "nowhere")
    assert (code, said) == (2, "")
    assert "HOST:PORT" in one_line(error)


@pytest.mark.parametrize(
    "words", [("export", "--output"), ("show", "--svg"), ("export", "--lines", "-O")]
)
def test_what_cannot_be_written_is_told_before_a_record_is_read(
    run: Run, tmp_path: Path, words: tuple[str, ...]
) -> None:
    command, *options = words
    code, said, error = run(command, tmp_path / "no.frec", *options, tmp_path)
    assert (code, said) == (2, "")
    assert one_line(error) == f"error: {tmp_path}: there is a folder of that name"


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="Is a directory") as caught:
        write_text(tmp_path, "x")
    assert caught.value.message.startswith(f"{tmp_path}: ")
