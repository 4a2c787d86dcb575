from __future__ import annotations

import pickle

import pytest

from fritillary.core import errors
from fritillary.core.errors import CodecError, FritillaryError, ServiceError

CLASSES = sorted(
    (
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, FritillaryError)
    ),
    key=lambda cls: cls.__name__,
)

#: Codes cross the wire and stand in records: a change here breaks programs.
CODES = {
    "AmbiguousActionError": "action.ambiguous",
    "AmbiguousGameError": "game.ambiguous",
    "CodecError": "codec.invalid",
    "FritillaryError": "internal",
    "GameError": "game",
    "IllegalActionError": "action.illegal",
    "InvalidActionError": "action.invalid",
    "InvalidOptionsError": "options.invalid",
    "InvalidPositionError": "position.invalid",
    "MatchOverError": "match.over",
    "NotYourTurnError": "action.not-your-turn",
    "PluginError": "plugin.invalid",
    "RecordError": "record.invalid",
    "ServiceError": "service",
    "StorageError": "storage",
    "UnknownGameError": "game.unknown",
    "UsageError": "usage",
}


def test_the_codes_are_those_that_programs_rely_on() -> None:
    assert {cls.__name__: cls.code for cls in CLASSES} == CODES


def test_no_two_classes_share_a_code() -> None:
    codes = [cls.code for cls in CLASSES]
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("cls", CLASSES)
def test_every_error_carries_its_sentence_and_code(cls: type[FritillaryError]) -> None:
    error = cls("that went wrong")
    assert error.message == str(error) == "that went wrong"
    assert error.code == cls.code
    assert cls("x", code="special.case").code == "special.case"
    assert cls.code != "special.case"


@pytest.mark.parametrize("cls", CLASSES)
def test_errors_travel_between_processes_whole(cls: type[FritillaryError]) -> None:
    error = cls("that went wrong", code="special.case")
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    assert type(copy) is cls
    assert (copy.message, copy.code) == (error.message, error.code)


def test_codec_errors_name_the_path_unless_it_is_the_whole() -> None:
    error = CodecError("expected text", path="$.a[2]")
    assert error.message == "$.a[2]: expected text"
    assert (error.path, error.reason) == ("$.a[2]", "expected text")
    assert CodecError("expected text").message == "expected text"
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    assert (copy.path, copy.reason) == (error.path, error.reason)


def test_service_errors_say_when_to_try_again() -> None:
    assert ServiceError("busy", retry_after_ms=50).retry_after_ms == 50
    assert ServiceError("no").retry_after_ms is None


def test_an_error_that_is_kept_holds_nothing_of_where_it_was_raised():
    try:
        try:
            raise ValueError
        except ValueError as cause:
            msg = "cannot be read"
            raise ServiceError(msg, code="frame.malformed") from cause
    except ServiceError as error:
        kept = error.bare()
    assert (kept.code, kept.message) == ("frame.malformed", "cannot be read")
    assert (kept.__traceback__, kept.__context__, kept.__cause__) == (None, None, None)
