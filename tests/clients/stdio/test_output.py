"""What a program writes is cut into lines and kept within bounds."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fritillary_client.stdio_lines import MAX_ANSWER_BYTES
from fritillary_client.stdio_output import (
    MAX_LOG_LINE_BYTES,
    Line,
    Lines,
    Log,
)


def cut(*chunks: bytes) -> list[Line]:
    lines = Lines()
    found = [line for chunk in chunks for line in lines.feed(chunk)]
    return [*found, *lines.finish()]


def test_a_line_ends_with_a_newline_of_any_system_or_with_the_stream() -> None:
    assert cut(b'{"a":1}\nlog\r\n\n{') == [
        Line(b'{"a":1}'),
        Line(b"log"),
        Line(b""),
        Line(b"{"),
    ]


def test_only_what_begins_with_a_brace_is_meant_as_an_answer() -> None:
    meant = [line.is_protocol for line in cut(b'{"a"\n [{\n"{"\n\n\xef\xbb\xbf{\n')]
    assert meant == [True, False, False, False, False]


@pytest.mark.parametrize("at", range(6))
def test_a_mark_of_encoding_before_the_first_line_is_no_part_of_it(at: int) -> None:
    stream = b"\xef\xbb\xbf{}\n"
    assert cut(stream[:at], stream[at:]) == [Line(b"{}")]


def test_a_long_line_is_cut_and_the_rest_dropped() -> None:
    log, answer = b"x" * 10_000, b"{" + b"x" * 2 * MAX_ANSWER_BYTES
    lines = Lines()
    found = []
    for chunk in (log, log, b"\n", answer, answer, b"tail\nnext\n"):
        found += list(lines.feed(chunk))
        assert lines.unfinished <= MAX_ANSWER_BYTES
    assert [(len(line.raw), line.cut) for line in found] == [
        (MAX_LOG_LINE_BYTES, True),
        (MAX_ANSWER_BYTES, True),
        (4, False),
    ]
    assert found[-1].raw == b"next"


def test_lines_as_long_as_allowed_are_whole() -> None:
    for most, head in ((MAX_LOG_LINE_BYTES, b"x"), (MAX_ANSWER_BYTES, b"{")):
        (line,) = cut(head * most + b"\n")
        assert (len(line.raw), line.cut) == (most, False)


def test_an_answer_without_the_end_of_its_line_is_seen_as_unfinished() -> None:
    lines = Lines()
    assert list(lines.feed(b'{"index":1}')) == []
    assert lines.unfinished == 11
    assert len(list(lines.feed(b"\nlog"))) == 1
    assert lines.unfinished == 0


@given(st.lists(st.binary(max_size=20) | st.sampled_from([b"\n", b"{", b"\r\n"])))
@example([b"\xef", b"\xbb", b"\xbf", b"{"])
def test_how_a_stream_is_cut_into_chunks_does_not_matter(chunks: list[bytes]) -> None:
    assert cut(*chunks) == cut(b"".join(chunks))


def test_a_log_line_can_be_shown_on_a_terminal() -> None:
    kept: list[str] = []
    log = Log(kept.append)
    log.add(Line(b"a\tb\x1b[2J\x00\xff caf\xc3\xa9"))
    log.add(Line(b"x" * 5000))
    log.add(Line(b"y", cut=True))
    gone = "\N{REPLACEMENT CHARACTER}"
    assert kept[0] == f"a\tb{gone}[2J{gone}{gone} café"
    assert kept[1] == "x" * MAX_LOG_LINE_BYTES + "..."
    assert kept[2] == "y..."


def test_a_full_log_says_so_once_and_keeps_the_last_words() -> None:
    kept: list[str] = []
    log = Log(kept.append, most=100)
    for number in range(1000):
        log.add(Line(f"line {number}".encode()))
    log.add(Line(b"  the end\x1b "))
    log.add(Line(b"  "))
    assert len(kept) < 20
    assert kept[-1] == "the log is full; what follows is dropped"
    assert kept[-2] != kept[-1]
    assert log.last == "the end\N{REPLACEMENT CHARACTER}"


def test_a_log_that_cannot_be_written_is_given_up() -> None:
    tried: list[str] = []

    def full(text: str) -> None:
        tried.append(text)
        raise OSError

    log = Log(full)
    for _ in range(3):
        log.add(Line(b"x"))
    assert tried == ["x"]


@given(st.lists(st.binary(max_size=9) | st.sampled_from([b"\n", b"{", b"x\n", b"\n{"])))
@example([b"a\nb\n{\nc\nd\n", b"e\nf"])
def test_skimming_loses_no_answer_and_not_the_last_words(chunks: list[bytes]) -> None:
    lines = Lines()
    found = [line for chunk in chunks for line in lines.feed(chunk, skim=True)]
    found += lines.finish()
    whole = cut(*chunks)
    assert [line for line in found if line.is_protocol] == [
        line for line in whole if line.is_protocol
    ]
    assert found[-1:] == whole[-1:]
