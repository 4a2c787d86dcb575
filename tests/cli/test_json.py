"""docs/json.md documents each key of each output, and no other."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.cli.conftest import Run
from tests.cli.houses import GAME, House, open_house, play
from tests.cli.test_helps import ALL
from tests.docs.keys import tables

from fritillary.cli.commands import command
from fritillary.cli.figures import Figures
from fritillary.cli.watch_lines import JsonOutput, update_data
from fritillary.cli.watched import Watched
from fritillary_client import Clock, Event, LinkError, Match, MatchStatus, MatchView

DOCS = Path(__file__).parents[2] / "docs"

#: By name of a table: the keys with their meanings, of all pages on outputs.
TABLES = tables(DOCS / "json.md") | tables(DOCS / "check-bot.md")

#: Words of a match that the first seat loses on time.
LATE = ("-s", "stdio:sleep 600", "-s", "uniform", "--clock", "300ms")

#: Commands whose output is JSON with this option.
WITH_JSON = [
    words
    for words in ALL
    if words
    and any(
        "--json" in option.opts
        for option in (
            command(words[0]).commands[words[1]] if words[1:] else command(words[0])
        ).params
    )
]


#: One that nobody has made.
MATCH = Match(
    match_id="seen",
    game=GAME,
    full_id=GAME,
    rules_version=1,
    options={},
    seats=(),
    phase="running",
)


def check(**outputs: Iterable[dict[str, Any]]) -> None:
    """Compare outputs with the tables of their names, both ways."""
    for name, given in outputs.items():
        objects = list(given)
        table = TABLES[name.replace("_", "-")]
        assert set().union(*objects) == set(table), name
        always = {key for key, meaning in table.items() if "left out" not in meaning}
        for one in objects:
            assert always <= set(one), (name, one)


def told(answer: tuple[int, str, str], code: int = 0) -> Any:
    """Return what a command has printed as data."""
    assert answer[0] == code, answer[2]
    return json.loads(answer[1])


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    house = open_house(tmp_path_factory.mktemp("server") / "data")
    yield house
    house.server.signal()
    house.server.end()


# --------------------------------------------------------------------- what is there


def test_every_table_is_compared_with_an_output() -> None:
    source = Path(__file__).read_text("utf-8")
    for name in TABLES:
        assert f"{name.replace('-', '_')}=" in source, name


def test_every_command_with_data_has_a_heading() -> None:
    headings = [
        line.removeprefix("## fritillary ").removesuffix(" --times")
        for line in (DOCS / "json.md").read_text("utf-8").splitlines()
        if line.startswith("## ")
    ]
    assert ["match"] in [list(words) for words in WITH_JSON]
    for words in WITH_JSON:
        assert " ".join(words) in headings or words[0] in headings, words


# ---------------------------------------------------------------------------- errors

#: Of each command with data, words that make no sense.
WRONG = {
    "games": ("here",),
    "game": ("nosuch",),
    "match": ("nosuch",),
    "matches": ("m-1", "--server", "nowhere"),
    "watch": ("m-1", "--server", "nowhere"),
    "show": ("nosuch.frec", "--times"),
    "verify": ("nosuch.frec",),
    "analyse": ("nosuch.frec",),
    "certify": ("nosuch",),
    "check-bot": ("nosuch",),
    "perft": ("nosuch", "--depth", "1"),
    "token": ("--data", "nosuch"),
    "bench": ("--game", "nosuch"),
}


@pytest.mark.parametrize("words", WITH_JSON, ids=" ".join)
def test_an_error_is_a_line_on_stderr_with_its_code_and_no_json(
    run: Run, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FRITILLARY_TOKEN", "frt_referee_none")
    wrong = WRONG[words[0]]
    if words == ("matches", "list"):
        wrong = wrong[1:]
    code, said, errors = run(*words, *wrong, "--json")
    assert code in {1, 2}
    if words != ("bench", "link"):
        assert said == ""
    *_, line = errors.splitlines()
    assert line.startswith("error: ")
    assert line.endswith("]")
    # It is the same as without.
    assert run(*words, *wrong)[2].splitlines()[-1] == line


# ------------------------------------------------------------------------ the outputs


def test_games(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken-1.0.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_text("Name: broken\nVersion: 1.0\n")
    (broken / "entry_points.txt").write_text("[fritillary.games]\nbad = no.module\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    data = told(run("games", "--json"))
    check(
        games=[data],
        games_game=data["games"],
        games_variant=data["variants"],
        games_skipped=data["skipped"],
    )


def test_game(run: Run) -> None:
    check(
        game=[told(run("game", GAME, "--json"))],
        game_action=told(run("game", GAME, "--actions", "--json")),
    )


def test_match_and_verify(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "match.frec"
    match = told(run("match", GAME, "--record", path, "--json"))
    holds = told(run("verify", path, "--json"))
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)
    check(match=[match], verify=[*holds, *told(run("verify", path, "--json"), 3)])


@pytest.mark.system
def test_show(run: Run, frec: Path, tmp_path: Path) -> None:
    figures = Figures.of([1, 2])
    assert figures is not None
    data = told(run("show", frec, "--times", "--json"))
    late = tmp_path / "late.frec"
    assert run("match", GAME, *LATE, "--record", late)[0] == 0
    other = told(run("show", late, "--times", "--json"))
    check(
        times_other=other["other_charges"],
        times=[data],
        times_seat=data["seats"],
        times_decision=data["decisions"],
        figures=[figures.data_ms()],
    )


def test_export(run: Run, frec: Path) -> None:
    events = told(run("export", frec))
    ours = TABLES["export"]
    check(export=[{k: v for k, v in event.items() if k in ours} for event in events])
    assert "options" in events[0]
    assert events[0]["type"] == "header"


def test_certify_and_perft(run: Run, tmp_path: Path) -> None:
    words = ("--law", "playthrough.current", "--law", "chance.weights", "--json")
    data = told(run("certify", GAME, *words, "--golden", tmp_path / "no"), 3)
    check(
        certificate=[data],
        certificate_law=data["laws"],
        certificate_failure=[
            law["failure"] for law in data["laws"] if "failure" in law
        ],
        perft=[told(run("perft", GAME, "--depth", 1, "--json"))],
    )


def test_check_bot(run: Run) -> None:
    words = ("exec:false", "--only", "hello", "--game", GAME, "--json")
    data = told(run("check-bot", *words), 3)
    check(
        check_bot=[data],
        check_bot_item=data["items"],
        check_bot_message=data["items"][0]["messages"],
        check_bot_list=told(run("check-bot", "--list", "--json")),
    )


def test_analyse(run: Run, frec: Path) -> None:
    few = ("--iterations", 4, "--json")
    match = told(run("analyse", frec, *few))
    one = told(run("analyse", frec, "--ply", 2, *few))
    path = frec.with_name("position.json")
    path.write_text(json.dumps(one["observation"]), "utf-8")
    other = told(run("analyse", path, "--game", GAME, *few))
    check(
        analyse_position=[one, other],
        analyse_match=[match],
        analyse_decision=match["decisions"],
        candidate=[
            *one["candidates"],
            *(decision["best"] for decision in match["decisions"]),
        ],
    )


def test_token_list(run: Run) -> None:
    run("token", "create", "my-bot")
    check(token=told(run("token", "list", "--json")))


@pytest.mark.system
def test_bench_link(run: Run) -> None:
    data = told(run("bench", "link", "--count", 5, "--json"))
    shared = set(TABLES["figures"])
    rows = [
        {k: v for k, v in row.items() if k not in shared} for row in data["figures"]
    ]
    assert shared - {"sum_ms"} <= set(data["figures"][0])
    check(bench_link=[data], bench_link_figure=rows, bench_link_margin=data["margins"])


@pytest.mark.system
def test_what_is_watched(
    run: Run, house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    play(run, house, "seen", "-s", "greedy", "-s", "uniform", "--clock", "1min+1s")
    play(run, house, "late", *LATE)
    played = [
        json.loads(line)
        for match in ("seen", "late")
        for line in run("watch", match, "--json", *house.there())[1].splitlines()
    ]
    output = JsonOutput(Watched(MATCH))
    capsys.readouterr()
    output.lost(LinkError("gone"), 1.0)
    lost = json.loads(capsys.readouterr().out)

    def of(kind: str, *more: dict[str, Any]) -> list[dict[str, Any]]:
        return [*(one for one in played if one["type"] == kind), *more]

    # What seldom happens, with all that it can have.
    event = Event(
        **dict.fromkeys((each.name for each in attrs.fields(Event)), 1),  # type: ignore[arg-type]
    )
    clock = Clock(**{each.name: 1 for each in attrs.fields(Clock)})
    status = MatchStatus(
        phase="paused", waiting_left_ms=1, message="lunch", clocks=(clock,)
    )
    statuses = of("status", update_data(status))
    view = MatchView(observation={}, picture="x")
    check(
        watch_match=of("match"),
        seat=played[0]["seats"],
        view=of("view", update_data(view)),
        event=of("event", update_data(event)),
        status=statuses,
        clock=[clock for status in statuses for clock in status["clocks"]],
        lost=[lost],
        result=of("result"),
        reveal=[one["reveal"] for one in of("result") if "reveal" in one],
    )


@pytest.mark.system
def test_matches(run: Run, house: House, tmp_path: Path) -> None:
    play(run, house, "listed")
    there = house.there("referee")
    path = tmp_path / "fetched.frec"
    fetched = told(
        run("matches", "fetch", "listed", "--output", path, "--json", *there)
    )
    assert fetched.pop("verified") is True
    run("match", GAME, "-s", "exec:false", "-s", "uniform", *there)
    listed = told(run("matches", "list", "--json", *there))
    check(
        matches=[
            *listed,
            told(run("matches", "show", "listed", "--json", *there)),
        ],
        problem=[problem for one in listed for problem in one["problems"]],
        match=[fetched],
    )
