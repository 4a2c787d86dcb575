"""Moments as they are read from the command line."""

import datetime as dt

import pytest

from fritillary.cli import moments
from fritillary.cli.moments import parse_expiry, parse_since
from fritillary.core.errors import UsageError

#: 2027-03-01 12:00:00 UTC.
NOON = 1_803_902_400_000
SECOND = 1_000
HOUR = 3_600 * SECOND
DAY = 24 * HOUR


def test_noon_is_noon() -> None:
    noon = dt.datetime(2027, 3, 1, 12, tzinfo=dt.UTC)
    assert noon.timestamp() * 1000 == NOON


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("12h", 12 * HOUR),
        ("1000h", 1000 * HOUR),
        ("30d", 30 * DAY),
        ("2w", 14 * DAY),
        ("0.5D", DAY // 2),
        (" 90min ", 90 * 60 * SECOND),
        ("1s", SECOND),
        ("1ms", 1),
        ("36500d", 36_500 * DAY),
        ("2027-03-01T13:00Z", HOUR),
        ("2027-03-01T15:00+02:00", HOUR),
        ("2027-03-01 11:00:30-01:30", HOUR // 2 + 30 * SECOND),
        ("20270302T120000Z", DAY),
    ],
)
def test_an_expiry_is_a_time_from_now_on_or_a_moment_with_its_zone(
    text: str, after: int
) -> None:
    assert parse_expiry(text, NOON) == NOON + after


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no expiry"),
        ("soon", "is no expiry; write 12h, 30d, 2w or 2026-11-30T15:00Z"),
        ("30", "is no expiry"),
        ("-5d", "is no expiry"),
        ("+5d", "is no expiry"),
        ("nand", "is no expiry"),
        ("infd", "is no expiry"),
        ("nan", "is no expiry"),
        ("1e3d", "is no expiry"),
        ("1_0d", "is no expiry"),
        ("\N{ARABIC-INDIC DIGIT THREE}d", "is no expiry"),
        ("3 d", "is no expiry"),
        ("5y", "is no expiry"),
        ("9" * 400 + "d", "is no expiry"),
        ("2027-13-01T12:00Z", "is no expiry"),
        ("2027-03-02", "has no time zone; write 2027-03-02T18:00Z or"),
        ("2027-03-02T12:00", "has no time zone; write 2027-03-02T12:00Z or"),
        ("0d", "is not in the future"),
        ("0s", "is not in the future"),
        ("2027-03-01T12:00Z", "is not in the future"),
        ("2027-03-01T13:00+02:00", "is not in the future"),
        ("0001-01-01T00:00+14:00", "is not in the future"),
        ("36501d", "is more than 100 years away; a token without --expires does not"),
        ("999999999w", "is more than 100 years away"),
        ("9999-12-31T23:59:59-14:00", "is more than 100 years away"),
    ],
)
def test_what_is_no_expiry_is_told_in_one_line(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_expiry(text, NOON)
    assert said in caught.value.message
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 150
    assert caught.value.code == "usage.expires"


@pytest.mark.parametrize(
    ("text", "ago"), [("2w", 14 * DAY), ("1.5d", 36 * HOUR), ("90min", 90 * 60_000)]
)
def test_since_is_so_long_ago(
    text: str, ago: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moments, "now_ms", lambda: NOON)
    assert parse_since(text) == NOON - ago


@pytest.mark.parametrize("text", ["2y", "-1d", "soon", "nand"])
def test_what_is_no_moment_is_told_in_one_line(text: str) -> None:
    with pytest.raises(UsageError, match="is no moment") as caught:
        parse_since(text)
    assert caught.value.code == "usage.since"
