"""Tables read well at every width, and what is copied from them is whole."""

import pytest
from rich.cells import cell_len
from tests.cli.conftest import Run
from tests.cli.terminals import Terminal
from tests.cli.test_output import HOSTILE, SHOWN

from fritillary.cli.tables import print_filled, print_table, table_lines

MATCHES = ("MATCH", "GAME", "PHASE", "PLY", "MADE (UTC)", "PLAYERS", "LABELS")
SHORT = (
    *("m-8b3d3d1d9467a8e7", "lepidoptery", "running", "112"),
    *("2026-11-30 15:00", "greedy : uniform", "cup=spring round=1"),
)
LONG = (
    *("spring-cup-round-17-board-12-game-2", "butterfly-garden+indigo", "stranded"),
    *("0", "2026-11-30 20:26", f"{'b' * 64} : uniform : greedy : ismcts", ""),
)


def told(width: int | None, *rows: tuple[str, ...], **named: tuple[str, ...]) -> str:
    lines = table_lines(MATCHES, rows, width, **named)
    return "\n".join(line.plain for line in lines)


def test_at_80_columns_what_has_no_room_is_beneath_its_row() -> None:
    assert told(80, SHORT, LONG) == (
        "MATCH               GAME                     PHASE     PLY  MADE (UTC)\n"
        "m-8b3d3d1d9467a8e7  lepidoptery              running   112  2026-11-30 15:00\n"
        "  PLAYERS greedy : uniform   LABELS cup=spring round=1\n"
        "spring-cup-round-17-board-12-game-2\n"
        "                    butterfly-garden+indigo  stranded  0    2026-11-30 20:26\n"
        f"  PLAYERS {'b' * 64} :\n"
        "  uniform : greedy : ismcts"
    )


def test_at_60_columns_the_moment_is_beneath_as_well_and_whole() -> None:
    assert told(60, SHORT) == (
        "MATCH               GAME         PHASE    PLY\n"
        "m-8b3d3d1d9467a8e7  lepidoptery  running  112\n"
        "  MADE (UTC) 2026-11-30 15:00   PLAYERS greedy : uniform\n"
        "  LABELS cup=spring round=1"
    )


@pytest.mark.parametrize("width", [20, 30, 40, 60, 80, 100, 120, 200])
def test_no_word_is_broken_or_lost_at_any_width(width: int) -> None:
    said = told(width, SHORT, LONG)
    words = said.split()
    for word in " ".join(SHORT + LONG).split():
        assert word in words
    for line in said.splitlines():
        # One word alone is left to the terminal.
        assert cell_len(line) <= width or len(line.split()) == 1
        assert line == line.rstrip()


def test_every_row_is_one_line_where_there_is_room_or_nobody_looks_on() -> None:
    for width in (250, None):
        assert len(told(width, SHORT, LONG).splitlines()) == 3


def test_columns_go_beneath_in_the_order_that_is_asked_for() -> None:
    head = told(80, SHORT, beneath=("GAME", "MADE (UTC)")).splitlines()[0]
    assert head.split() == ["MATCH", "PHASE", "PLY", "PLAYERS", "LABELS"]


def test_prose_is_broken_between_words_beside_the_name_of_its_row() -> None:
    rows = [("lepidoptery", "2-4", "Catch the rarest butterflies in four areas.")]
    lines = table_lines(("GAME", "SEATS", "WHAT IT IS"), rows, 50)
    assert [line.plain for line in lines] == [
        "GAME         SEATS  WHAT IT IS",
        "lepidoptery  2-4    Catch the rarest butterflies",
        "                    in four areas.",
    ]


def test_blanks_before_numbers_go_before_columns_do() -> None:
    columns = ("TIMES", *(f"{name:>7}" for name in ("COUNT", "MAX")))
    rows = [("decide", f"{12:>7}", f"{3:>7}")]
    wide, narrow = (
        [line.plain for line in table_lines(columns, rows, width)] for width in (40, 20)
    )
    assert wide == ["TIMES     COUNT      MAX", "decide       12        3"]
    assert narrow == ["TIMES   COUNT  MAX", "decide     12    3"]


def test_a_table_without_headings_has_none_beneath_its_rows_either() -> None:
    options = f"heaps={'1,' * 30}"
    rows = [("options", options), ("seats", "2")]
    lines = table_lines(("", ""), rows, 40)
    assert [line.plain for line in lines] == ["options", f"  {options}", "seats    2"]


def test_columns_that_hold_nothing_can_be_left_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_filled(("A", "B", "C"), [("1", "", "3"), ("4", "", "")])
    assert capsys.readouterr().out == "A  C\n1  3\n4\n"


def test_tables_show_text_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("A", "B"), [(HOSTILE, ":b:")])
    assert capsys.readouterr().out.splitlines()[1] == f"{SHOWN}  :b:"


def test_the_width_counts_on_a_terminal_and_nowhere_else(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    code, piped, errors = run("check-bot", "--list")
    assert (code, errors) == (0, "")
    assert max(map(len, piped.splitlines())) > 60
    terminal = Terminal("check-bot", "--list", width=60)
    assert terminal.end() == 0
    shown = terminal.text.splitlines()
    assert max(map(len, shown)) <= 60
    assert len(shown) > len(piped.splitlines())
    assert terminal.text.split() == piped.split()
