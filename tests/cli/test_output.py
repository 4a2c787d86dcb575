"""Text of strangers is shown, and never acted on."""

import io
import json
import re

import pytest
from rich.console import Console
from rich.text import Text

from fritillary.cli.output import (
    console,
    json_text,
    many_lines,
    one_line,
    print_error,
    print_note,
    print_text,
    say,
    show,
    styled,
)

#: Markup, an emoji code, a link, a command to the terminal, and text turned round.
HOSTILE = "[red]x[/] [/12] :b: [link=http://e]y[/link] \x1b[2J\x9b1m\x07\u202ez\ud800"
SHOWN = (
    "[red]x[/] [/12] :b: [link=http://e]y[/link] \\x1b[2J\\x9b1m\\x07\\u202ez\\ud800"
)


def test_what_a_terminal_acts_on_is_shown_as_an_escape() -> None:
    assert one_line(HOSTILE) == SHOWN
    assert one_line("a\nb\tc\rd") == "a\\nb\\tc\\rd"
    assert one_line("\u2028\u200b\ufeff") == "\\u2028\\u200b\\ufeff"


def test_what_is_merely_foreign_stays() -> None:
    for text in ("Zürich \u2660\u2500 \u3000\u00a0", "\N{BUTTERFLY}", "e\u0301", ""):
        assert one_line(text) == text


def test_pictures_keep_their_lines_and_columns() -> None:
    assert many_lines("a\tb\n\x1b[2J\r\n") == "a       b\n\\x1b[2J\\r\n"


def test_every_way_to_print_shows_text_as_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    say(HOSTILE)
    say((HOSTILE, "bold"), HOSTILE, style="dim")
    show(HOSTILE)
    print_text(HOSTILE)
    print_note(HOSTILE)
    print_error(HOSTILE)
    said = capsys.readouterr()
    assert said.out.splitlines() == [SHOWN, SHOWN + SHOWN, SHOWN, SHOWN]
    assert said.err.splitlines() == [SHOWN, f"error: {SHOWN}"]


def test_sentences_are_broken_between_words_where_their_stream_is_a_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("TERM", "xterm")
    sentence = "a sentence that is longer"
    for screen, lines in (
        (Screen(), ["a sentence that is", "longer"]),
        (io.StringIO(), [sentence]),
    ):
        monkeypatch.setattr("sys.stderr", screen)
        print_note(sentence, wrap=True)
        told = re.sub(r"\x1b\[[0-9;]*m", "", screen.getvalue())
        assert [line.rstrip() for line in told.splitlines()] == lines


def test_a_console_takes_nothing_for_markup_even_in_plain_strings() -> None:
    out = console()
    out.file = io.StringIO()
    out.print("[red]x[/] :b:")
    assert out.file.getvalue() == "[red]x[/] :b:\n"


def test_styles_of_ours_hold_for_our_parts_only() -> None:
    line = styled("a", ("b", "bold"), "c")
    assert isinstance(line, Text)
    assert [(span.start, span.end, span.style) for span in line.spans] == [
        (1, 2, "bold")
    ]


def test_json_can_be_shown_and_says_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = {"text": f"{HOSTILE}\N{BUTTERFLY}ü\x7f\U000e0001\u3000"}
    text = json_text(data)
    assert all(line.isprintable() or "\u3000" in line for line in text.split("\n"))
    assert "\N{BUTTERFLY}ü" in text
    assert json.loads(text) == data
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), "ascii"))
    assert json_text(data).isascii()
    assert json.loads(json_text(data)) == data


def test_a_reader_that_leaves_is_no_reason_to_exit_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Gone(io.StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr("sys.stdout", Gone())
    with pytest.raises(BrokenPipeError):
        say("x")
    monkeypatch.setattr("sys.stderr", Gone())
    print_note("nobody hears this")
    print_error("nor this")


def test_a_console_is_never_too_narrow_for_a_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "0")
    assert Console().width == 0
    assert console().width == 20
