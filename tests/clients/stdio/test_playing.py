"""Programs play on a server: rulings, faults, lost links and restarts."""

from __future__ import annotations

import asyncio
import functools
import json

import pytest
from tests.clients.stdio.house import NOTES, SHORT, noted
from tests.clients.stdio.scene import WITHIN, until, written
from tests.ids import steady

from fritillary.record.events import ActionTaken
from fritillary.record.reader import read_record
from fritillary.record.terms import (
    ClockSettings,
    EndKind,
    LinkBank,
    Policy,
    Terms,
    parse_policy,
)
from fritillary.service.hosted import HostedMatch
from fritillary_client import BotError

pytestmark = [pytest.mark.system, pytest.mark.timeout(600)]


# ------------------------------------------------------------------------- rulings


async def test_what_is_no_action_is_asked_again_with_the_reason(
    house, tmp_path
) -> None:
    body = f"""
    with open({str(tmp_path / "problems")!r}, "w") as file:
        while True:
            line = asked()
            if line["attempt"] > 1:
                json.dump(line["problem"], file)
                file.flush()
                say({{"text": line["legal"][0]["text"]}})
            else:
                say({{"text": "no such action"}})
    """
    house.connect("a", body)
    policy = parse_policy(["malformed=retry:1"])
    result = await house.arena.play(
        "lepidoptery", ["remote:a", "uniform"], terms=Terms(policy=policy)
    )
    assert result.finish.kind is EndKind.PLAYED
    problem, _ = json.JSONDecoder().raw_decode((tmp_path / "problems").read_text())
    assert problem["code"].startswith("action.")
    assert problem["message"]


async def test_one_that_is_too_slow_is_replaced_and_asked_on(house) -> None:
    # It never catches up: each answer is to the ask before the last.
    body = """
    late = asked()
    while True:
        line = asked()
        say({"index": late["legal"][0]["index"]})
        late = line
    """
    house.connect("a", body)
    result = await house.arena.play(
        "lepidoptery",
        ["remote:a", "uniform"],
        clocks=ClockSettings(move_ms=100),
        terms=Terms(policy=parse_policy(["late=substitute"])),
    )
    assert result.finish.kind is EndKind.PLAYED


async def test_a_program_may_give_up(house) -> None:
    house.connect("a", "asked(); say({'resign': True}); told()")
    result = await house.arena.play("lepidoptery", ["remote:a", "uniform"])
    assert result.finish.code == "seat.resigned"


async def test_notes_and_probabilities_stand_in_the_record(house) -> None:
    body = """
    while True:
        legal = asked()["legal"]
        say({"index": legal[0]["index"], "note": "so",
             "probabilities": [1] + [0] * (len(legal) - 1)})
    """
    house.connect("a", body)
    one = house.arena.create("lepidoptery", ["remote:a", "uniform"])
    await one.ended
    taken = [
        event
        for event in read_record(one.record()).events
        if isinstance(event, ActionTaken) and event.seat == 0
    ]
    assert taken
    assert {(event.note, event.probabilities[0]) for event in taken} == {
        ("so", 1_000_000)
    }


async def test_numbers_that_are_no_probabilities_cost_no_match_and_are_told_once(
    house, caplog
) -> None:
    body = """
    while True:
        legal = asked()["legal"]
        say({"index": legal[0]["index"], "note": "so",
             "probabilities": [-1] * len(legal)})
    """
    house.connect("a", body)
    one = house.arena.create("lepidoptery", ["remote:a", "uniform"])
    result = await one.ended
    assert result.finish.kind is EndKind.PLAYED
    taken = [
        event
        for event in read_record(one.record()).events
        if isinstance(event, ActionTaken) and event.seat == 0
    ]
    assert {(event.note, event.probabilities) for event in taken} == {("so", ())}
    assert caplog.text.count("one is below 0 or above 1") == 1


# -------------------------------------------------------------------------- faults

#: A program that has ended has lost.
ONCE = Terms(policy=Policy(link=LinkBank(restarts=0)))


async def test_a_program_that_answers_nonsense_stops_the_bot(house) -> None:
    house.connect("a", "asked(); say('{nonsense'); told()")
    result = await house.arena.play("lepidoptery", ["remote:a", "uniform"], terms=SHORT)
    assert result.finish.kind is EndKind.FORFEITED
    with pytest.raises(BotError, match="is not JSON at character 2") as caught:
        await house.tasks[0]
    # One line is all there is to say: no traceback.
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (
            "say({'action': {'stones': 10**30}})",
            "an action that cannot be sent: it holds a number of more than 64 bits: {",
        ),
        (
            "say({'action': {chr(0xD800): 1}})",
            'an action that cannot be sent: it holds text that is not Unicode: {"a',
        ),
        ("say({'text': chr(0xD800)})", "text that is not Unicode: "),
        ("say({'text': 'x' * 300_000})", 'an action of more than 262144 bytes: {"t'),
        ("say({'index': 0, 'probabilities': [1]})", "1 probabilities for "),
    ],
    ids=steady,
)
async def test_an_answer_that_cannot_be_sent_is_told_in_the_words_of_its_line(
    house, caplog, body, why
) -> None:
    house.connect("a", f"asked(); {body}; told()")
    await house.arena.play("lepidoptery", ["remote:a", "uniform"], terms=SHORT)
    with pytest.raises(BotError) as caught:
        await house.tasks[0]
    assert caught.value.message.startswith(f"the answer has {why}")
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 300
    assert caught.value.code == "bot.answer"
    assert "Traceback" not in caplog.text


async def test_or_resigns_the_one_match_and_plays_the_next(house, caplog) -> None:
    body = """
    while True:
        line = asked()
        say({"index": line["legal"][0]["index"]} if line["match_id"] == "good" else "{")
    """
    house.connect("a", body, on_error="resign")
    players = ["remote:a", "uniform"]
    bad = await house.arena.play("lepidoptery", players, match_id="bad")
    assert bad.finish.code == "seat.resigned"
    good = await house.arena.play("lepidoptery", players, match_id="good")
    assert good.finish.kind is EndKind.PLAYED
    assert "match bad is resigned: the answer is not JSON" in caplog.text
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("asked(); sys.exit('out of luck')", "exit code 1; its last words: out of l"),
        ("asked(); say('{nonsense'); told()", "the answer is not JSON at character 2"),
        ("asked(); say({'index': 1.5}); told()", "is a number with a fraction"),
        ("asked(); os.close(1); time.sleep(600)", "the program closed its output"),
        ("asked(); print('thinking'); os.kill(os.getpid(), 9)", "ended by SIGKILL"),
    ],
)
async def test_a_referee_is_told_why_a_program_failed(
    house, tmp_path, body, why
) -> None:
    player = written(tmp_path, f"{body}\n")
    one = house.arena.create("lepidoptery", [player, "uniform"], terms=ONCE)
    result = await one.ended
    assert result.finish.kind is EndKind.FORFEITED
    (problem,) = [what for _, what in one.problems]
    assert why in problem
    # It is not for the record, where everybody reads it.
    assert why.encode() not in one.record()


async def test_a_program_that_ended_is_started_again_and_told_so(
    house, tmp_path
) -> None:
    lines = tmp_path / "lines"
    body = f"if not os.path.exists({str(lines)!r}):\n"
    body += f"    open({str(lines)!r}, 'w').close(); asked(); sys.exit(5)\n"
    player = written(tmp_path, body + NOTES % str(lines))
    result = await house.arena.play("lepidoptery", [player, "uniform"])
    assert result.finish.kind is EndKind.PLAYED
    first, *rest = noted(lines)
    assert first[:2] == ["start", "True"]
    assert {kind for kind, *_ in rest} >= {"ask"}


def _far(one: HostedMatch, plies: int) -> bool:
    return one.over or one.ply >= plies


async def test_a_lost_link_leaves_the_program_as_it_is(house, tmp_path) -> None:
    lines = tmp_path / "lines"
    client = house.connect("a", NOTES % str(lines), matches=1)
    one = house.arena.create(
        "lepidoptery", ["remote:a", "uniform"], wait_for_remote=True
    )
    for plies in (4, 8):
        await until(functools.partial(_far, one, plies))
        link = client._link
        if link is not None:
            await link._channel.close()
    assert (await one.ended).finish.kind is EndKind.PLAYED
    await asyncio.wait_for(house.tasks[0], WITHIN)
    kinds = [kind for kind, *_ in noted(lines)]
    assert kinds[0] == "start"
    assert kinds[-1] == "end"
    assert set(kinds[1:-1]) == {"ask"}
    assert len({pid for *_, pid in noted(lines)}) == 1
