"""What of a bot's answers and failures reaches the server."""

from __future__ import annotations

from typing import Any

import msgpack
import pytest

from fritillary_client import (
    RESIGN,
    Ask,
    Bot,
    BotError,
    Decision,
    DecisionError,
    Declined,
    MatchInfo,
    Outcome,
)
from fritillary_client.values import Resign


@pytest.mark.parametrize(
    ("answer", "field", "value"),
    [
        (2, "index", 2),
        (9, "index", 9),
        ("take 3", "text", "take 3"),
        ({"take": 3}, "action", msgpack.packb({"take": 3})),
        (Decision(3), "index", 3),
        (Decision({"take": 1}), "action", msgpack.packb({"take": 1})),
    ],
)
async def test_every_form_of_decision_is_sent_as_it_was_given(
    arena, play, answer, field, value
):
    play(lambda _: answer)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    await stream.ask()
    decision = await stream.find("decision")
    assert decision.WhichOneof("choice") == field
    assert getattr(decision, field) == value


async def test_note_and_probabilities_travel_with_the_decision(arena, play):
    note = "é" * 80
    play(lambda ask: Decision(ask.legal[1], note=note, probabilities=(0.25, 0.5, 0.25)))
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    await stream.ask()
    decision = await stream.find("decision")
    assert decision.index == 2
    assert list(decision.probabilities) == [0.25, 0.5, 0.25]
    assert decision.note == "é" * 50  # the fake allows 100 bytes


@pytest.mark.parametrize("answer", [RESIGN, Resign])
async def test_a_bot_can_resign(arena, play, answer):
    play(lambda _: answer)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    await stream.ask(decision_id=5)
    resign = await stream.find("resign")
    assert (resign.match_id, resign.seat, resign.decision_id) == ("m1", 0, 5)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "decide() returned None; return one of ask.legal"),
        (True, "decide() returned True (bool); return one of"),
        (2.0, "decide() returned 2.0 (float); return one of"),
        ([1], "decide() returned [1] (list); return one of"),
        (-1, "decide() returned the index -1; legal are 3 indices"),
        ({"take": object()}, "decide() returned an action that cannot be sent"),
        (Decision(1, probabilities=(1.0,)), "returned 1 probabilities for 3 legal"),
        (Decision(1, note=3), "Decision.note must be a string"),  # type: ignore[arg-type]
        ("\ud800", "decide() returned text that is not Unicode"),
        ({"take": "x" * 70_000}, "an action of more than 65536 bytes"),
    ],
)
async def test_an_answer_that_is_none_is_named_and_stops_the_bot(
    arena, play, answer, words
):
    running = play(lambda _: answer)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    await stream.ask()
    goodbye = await stream.find("goodbye")
    assert goodbye.code == "bot.failed"
    assert goodbye.message == "the bot failed: what it answered is no decision"
    with pytest.raises(DecisionError) as caught:
        await running.done()
    assert words in caught.value.message
    assert caught.value.code == "bot.answer"
    assert running.client.abandoned == 1


async def test_probabilities_give_way_where_the_message_would_be_too_large(arena, play):
    play(lambda ask: Decision(ask.legal[0], probabilities=[0.0] * len(ask.legal)))
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    await stream.ask(legal=range(10_000))
    decision = await stream.find("decision")
    assert (decision.index, len(decision.probabilities)) == (0, 0)


@pytest.mark.parametrize("light", [False, True])
async def test_a_bot_that_raises_tells_the_server_and_stops(arena, play, caplog, light):
    class Broken(Bot):
        def decide(self, ask: Ask) -> int:
            msg = "boom"
            raise ValueError(msg)

    Broken.light = light
    running = play(Broken)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    await stream.ask()
    assert (await stream.find("goodbye")).code == "bot.failed"
    assert await stream.next() == ("", None)
    with pytest.raises(BotError, match=r"decide\(\) raised ValueError: boom") as caught:
        await running.done()
    assert isinstance(caught.value.__cause__, ValueError)
    assert "Traceback" in caplog.text
    assert "raise ValueError(msg)" in caplog.text


@pytest.mark.parametrize("how", ["thread", "light", "async"])
async def test_an_error_of_the_client_that_a_bot_raises_is_told_in_one_line(
    arena, play, caplog, how
):
    def give_up() -> Any:
        msg = "I give up"
        raise BotError(msg, code="bot.answer")

    class Plain(Bot):
        light = how == "light"

        def decide(self, ask: Ask) -> Any:
            return give_up()

    class Async(Bot):
        async def decide(self, ask: Ask) -> Any:
            return give_up()

    running = play(Async if how == "async" else Plain)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    await stream.ask()
    assert (await stream.find("goodbye")).code == "bot.failed"
    with pytest.raises(BotError) as caught:
        await running.done()
    assert str(caught.value) == "I give up [bot.answer]"
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize("answer", ["raise", None])
@pytest.mark.parametrize("light", [False, True])
async def test_a_bot_that_fails_can_resign_instead_and_play_on(
    arena, play, answer, light
):
    class Frail(Bot):
        def decide(self, ask: Ask) -> Any:
            if ask.info.match_id == "m2":
                return ask.legal[0]
            if answer == "raise":
                raise ValueError
            return answer

    Frail.light = light
    play(Frail, on_error="resign", capacity=2)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated("m1")
    await stream.seated("m2")
    await stream.ask("m1")
    assert (await stream.find("resign")).match_id == "m1"
    await stream.ask("m2")
    assert (await stream.find("decision")).match_id == "m2"


async def test_a_bot_that_raises_in_start_or_when_made_stops(arena, play):
    class Broken(Bot):
        def start(self, info: MatchInfo) -> None:
            raise SystemExit(3)

    running = play(Broken)
    stream = await arena.stream()
    await stream.welcome()
    await stream.offer()
    await stream.expect("accept", "goodbye")
    with pytest.raises(BotError, match=r"start\(\) raised SystemExit"):
        await running.done()

    def make() -> Bot:
        msg = "no model"
        raise OSError(msg)

    running = play(make)
    stream = await arena.stream()
    await stream.welcome()
    await stream.offer()
    assert (await stream.find("goodbye")).code == "bot.failed"
    with pytest.raises(BotError, match="making the bot raised OSError: no model"):
        await running.done()


async def test_a_bot_that_raises_in_end_is_reported_and_plays_on(arena, play, caplog):
    class Sulking(Bot):
        def decide(self, ask: Ask) -> int:
            return 1

        def end(self, outcome: Outcome) -> None:
            msg = "lost again"
            raise RuntimeError(msg)

    play(Sulking)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated("m1")
    await stream.ended("m1")
    await stream.find("ack")
    await stream.seated("m2")
    await stream.ask("m2")
    await stream.find("decision")
    assert "lost again" in caplog.text


async def test_a_bot_may_refuse_an_offer(arena, play):
    class Picky(Bot):
        def offered(self, info: MatchInfo) -> None:
            if info.options["heap"] > 20:
                msg = "the heap is too large"
                raise Declined(msg, code="nim.heap")

        def decide(self, ask: Ask) -> int:
            return 1

    play(Picky)
    stream = await arena.stream()
    await stream.welcome()
    await stream.offer("m1")
    decline = await stream.find("decline")
    assert (decline.match_id, decline.seat) == ("m1", 0)
    assert (decline.code, decline.message) == ("nim.heap", "the heap is too large")
    await stream.seated("m2", options=msgpack.packb({"heap": 3}))
