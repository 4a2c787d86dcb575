from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.record.strategies import clocks

from fritillary.core.errors import UsageError
from fritillary.record.terms import (
    MAX_MS,
    RETRYABLE,
    UNTIMED_CEILING_MS,
    ClockSettings,
    Consequence,
    Fault,
    FaultRule,
    LinkBank,
    PlayerInfo,
    Policy,
    Terms,
    ceiling_ms,
    clip,
    parse_clock,
    parse_duration,
    parse_policy,
)

# ------------------------------------------------------------------------------- clocks


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("250ms", 250),
        ("1.5s", 1_500),
        ("5", 5_000),
        ("2min", 120_000),
        ("2m", 120_000),
        ("1h", 3_600_000),
        (" 5 S ", 5_000),
        ("0", 0),
    ],
)
def test_durations_are_read(text, ms):
    assert parse_duration(text) == ms


@pytest.mark.parametrize(
    "text", ["", "s", "-1s", "5x", "1d", "nan", "inf", "1e99s", "600h", "5s5", "\n"]
)
def test_what_is_no_duration_is_refused_with_an_example(text):
    with pytest.raises(UsageError, match="is no duration; write 250ms") as caught:
        parse_duration(text)
    assert caught.value.code == "usage.duration"
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("", ClockSettings()),
        ("none", ClockSettings()),
        ("60s", ClockSettings(base_ms=60_000)),
        ("5min+2s", ClockSettings(base_ms=300_000, increment_ms=2_000)),
        (
            "base=60s, increment=1s, move=5s, bank=10s, turn=8s, preparation=3s",
            ClockSettings(
                base_ms=60_000,
                increment_ms=1_000,
                move_ms=5_000,
                bank_ms=10_000,
                turn_ms=8_000,
                preparation_ms=3_000,
            ),
        ),
    ],
)
def test_clocks_are_read(text, clock):
    assert parse_clock(text) == clock


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("base=1s,speed=2s", "does not know 'speed'"),
        ("base=1s,base=2s", "repeats 'base'"),
        ("base=1s,move", "'' is no duration"),
        ("increment=1s,move=1s", "an increment needs a base"),
        ("bank=1s,base=1s", "a bank needs a limit per move or per turn"),
        ("5min+", "'' is no duration"),
        ("fast", "is no duration"),
    ],
)
def test_what_is_no_clock_is_refused_with_the_reason(text, words):
    with pytest.raises(UsageError, match=words):
        parse_clock(text)


def test_no_part_of_a_clock_is_negative_or_endless():
    for value in (-1, MAX_MS + 1):
        with pytest.raises(ValueError, match="base_ms"):
            ClockSettings(base_ms=value)


def test_a_seat_is_timed_if_a_part_limits_its_decisions():
    assert not ClockSettings(preparation_ms=5).timed
    assert ClockSettings(base_ms=5).timed
    assert ClockSettings(move_ms=5).timed
    assert ClockSettings(turn_ms=5).timed


@pytest.mark.parametrize(
    ("clock", "longest"),
    [
        ("", None),
        ("10s+1s", 20_000),
        ("move=2s,bank=5s", 25_000),
        ("move=2s,turn=1s", 10_000),
        ("base=10s,move=2s", 10_000),
        ("base=60s,move=2s", 20_000),
    ],
)
def test_the_longest_time_of_ten_decisions(clock, longest):
    assert parse_clock(clock).longest_ms(10) == longest


@given(st.lists(clocks(), max_size=4), st.integers(1, 1_000), st.integers(0, 1_000))
def test_the_ceiling_is_above_what_all_seats_can_take(seats, plies, margin):
    ceiling = ceiling_ms(seats, plies, margin)
    longest = [clock.longest_ms(plies) for clock in seats]
    if None in longest:
        assert ceiling == UNTIMED_CEILING_MS
    else:
        taken = sum(ms for ms in longest if ms is not None)
        assert ceiling == MAX_MS or ceiling >= taken + margin * plies
        assert ceiling <= MAX_MS


# ----------------------------------------------------------------------------- policies


def test_the_default_policy_forfeits_whatever_a_bot_does_wrong():
    policy = Policy()
    for fault in Fault:
        own = fault is Fault.REFEREE_ERROR
        expected = Consequence.VOID if own else Consequence.FORFEIT
        assert policy.rule(fault) == FaultRule(fault, expected)
    assert Terms().policy == policy == parse_policy([])


def test_policies_are_read():
    policy = parse_policy(
        [
            "illegal=retry:2,substitute",
            "malformed=retry:3",
            "late=void",
            "stand-in=greedy",
            "restarts=4",
        ]
    )
    assert policy.rule(Fault.ILLEGAL) == FaultRule(
        Fault.ILLEGAL, Consequence.SUBSTITUTE, 2
    )
    assert policy.rule(Fault.MALFORMED) == FaultRule(
        Fault.MALFORMED, Consequence.FORFEIT, 3
    )
    assert policy.rule(Fault.LATE).consequence is Consequence.VOID
    assert policy.rule(Fault.CRASHED).consequence is Consequence.FORFEIT
    assert policy.stand_in == "greedy"
    assert policy.link == LinkBank(restarts=4)
    assert [rule.fault for rule in policy.rules] == list(Fault)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("illegal", "write FAULT=CONSEQUENCE"),
        ("cheating=forfeit", "cheating"),
        ("illegal=laugh", "laugh"),
        ("illegal=retry", "name what follows the retries"),
        ("illegal=again:2,forfeit", "is not of the form retry:K"),
        ("illegal=retry:x,forfeit", "'x'"),
        ("illegal=retry:-1,forfeit", "retries"),
        ("late=retry:1,forfeit", "cannot be asked again after 'late'"),
        ("refused-to-start=substitute", "nothing can be substituted after"),
        ("referee-error=substitute", "nothing can be substituted after"),
        ("referee-error=forfeit", "in which the referee failed is void"),
        ("restarts=many", "'many'"),
        ("restarts=101", "restarts"),
        ("stand-in=", "name a bot"),
        ("illegal=void,forfeit", "'void' is not of the form retry:K"),
        ("illegal=retry:2,retry:3", "behind retry:2 stands one of forfeit"),
        ("illegal=retry:2,retry:3,void", "behind retry:2 stands one of forfeit"),
        ("illegal=retry:2,void,forfeit", "behind retry:2 stands one of forfeit"),
        ("illegal=retry:2,", "'' is not a valid"),
    ],
)
def test_what_is_no_policy_is_refused_with_an_example(text, words):
    with pytest.raises(UsageError, match=words) as caught:
        parse_policy([text])
    assert caught.value.code == "usage.policy"
    assert caught.value.message.endswith("an example is illegal=retry:2,substitute")


@pytest.mark.parametrize(
    ("texts", "what"),
    [
        (["illegal=void", "illegal=forfeit"], "illegal"),
        (["late=void", "illegal=void", "late=void"], "late"),
        (["stand-in=greedy", "stand-in=uniform"], "stand-in"),
        (["restarts=1", "restarts=0"], "restarts"),
    ],
)
def test_a_policy_that_says_two_things_of_one_is_refused(texts, what):
    with pytest.raises(UsageError, match=f"{what} is given twice") as caught:
        parse_policy(texts)
    assert caught.value.code == "usage.policy"
    with pytest.raises(ValueError, match="one rule for each fault, not two"):
        Policy.of(*[FaultRule(Fault.LATE, Consequence.VOID)] * 2)


def test_decisions_are_asked_again_after_refused_choices_only():
    assert RETRYABLE == (Fault.ILLEGAL, Fault.MALFORMED)


def test_a_policy_has_one_rule_for_each_fault_in_order():
    rules = Policy().rules
    for wrong in (rules[1:], rules[::-1], (*rules, rules[0])):
        with pytest.raises(ValueError, match="one rule for each fault"):
            Policy(wrong)


# ------------------------------------------------------------------------------ players


def test_what_players_say_of_themselves_is_short_and_printable():
    info = PlayerInfo("x" * 99, "1\n2", "\x1b[31m", "\ud800", 7)  # type: ignore[arg-type]
    assert info.name == "x" * 64
    assert info.version == "1\N{REPLACEMENT CHARACTER}2"
    assert info.build == "\N{REPLACEMENT CHARACTER}[31m"
    assert info.author == "\N{REPLACEMENT CHARACTER}"
    assert info.player == "7"


@given(st.text(st.characters(exclude_categories=())), st.integers(0, 9))
def test_clipped_text_stays_as_it_is_when_it_is_clipped_again(text, limit):
    once = clip(text, limit)
    assert len(once) <= limit
    assert clip(once, limit) == once
    assert once.encode().decode() == once
