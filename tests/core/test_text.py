"""Foreign text becomes one short line, whatever the value does."""

from __future__ import annotations

from typing import Any

import pytest

from fritillary.core.errors import PluginError
from fritillary.core.text import clip, line, sentence, show, told


class Panic(BaseException):
    """As an extension module raises it."""


class MuteError(Exception):
    """Has no text."""

    def __str__(self) -> str:
        raise Panic

    __repr__ = __str__

    @property
    def args(self) -> Any:  # type: ignore[override]
        raise Panic


class Odd(str):
    """A text that is none."""

    __slots__ = ()

    def __getitem__(self, _: Any) -> str:
        raise Panic

    def __len__(self) -> int:
        raise Panic


@pytest.mark.parametrize("text", ["a\x1b[31mb", "a\nb", "a\tb", "a\ud800b", "\u202e"])
def test_what_cannot_be_seen_is_made_visible(text: str) -> None:
    for made in (clip(text, 99), line(text), sentence(ValueError(text))):
        assert made.isprintable()
        assert len(made) == len(text)
        assert "\ufffd" in made


def test_long_text_is_cut() -> None:
    assert clip("x" * 10**6, 5) == "xxxxx"
    assert line("x" * 10**6, 5) == "xx..."
    assert line("xxxxx", 5) == "xxxxx"
    assert show("x" * 10**6, 9) == "'xxxxx..."
    assert told(ValueError("x" * 10**6), 15) == "ValueError: ..."


def test_nothing_raises() -> None:
    mute = MuteError()
    assert clip(mute, 9) == line(mute) == ""
    assert show(mute) == "a MuteError"
    assert told(mute) == "MuteError: "
    assert sentence(mute) == "MuteError"
    assert clip(Odd("abc"), 2) == "ab"
    assert line(Odd("abc")) == "abc"


def test_an_interrupt_by_the_user_gets_through() -> None:
    class Slow:
        def __str__(self) -> str:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        line(Slow())


def test_errors_speak_in_their_first_words() -> None:
    assert sentence(ValueError("must be odd", 1, 2)) == "must be odd"
    assert sentence(ValueError()) == "ValueError"
    assert sentence(KeyError(3)) == "KeyError"
    assert told(KeyError(3)) == "KeyError: 3"


def test_an_error_of_a_plugin_is_one_line() -> None:
    error = PluginError("nim: \x1b[2J\n" + "x" * 10**6, code="plugin.table")
    assert len(error.message) == 1_000
    assert error.message.isprintable()
    assert error.code == "plugin.table"
