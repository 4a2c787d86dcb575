"""Where a bot has its legal actions from: the table, the request, or indices alone."""

from __future__ import annotations

import msgpack
import pytest
from tests.clients.python.bots import Recorder, first

from fritillary.api.v1 import bot_pb2 as wire
from fritillary.api.v1 import common_pb2 as common
from fritillary_client import ArenaError, Ask, Bot


async def test_the_action_table_is_fetched_once_for_all_matches(arena, play):
    play(first, capacity=3)
    stream = await arena.stream()
    await stream.welcome()
    for match in ("m1", "m2", "m3"):
        await stream.offer(match)
    for _ in range(3):
        await stream.find("ready")
    assert [request.page_token for request in arena.listed] == ["", "4", "8"]
    assert arena.listed[0].game == "nim"
    assert msgpack.unpackb(arena.listed[0].options.options.data) == {"heap": 21}


async def test_legal_actions_written_out_need_no_table(arena, play):
    bot = Recorder()
    play(bot, legal="expanded", encoding="json")
    stream = await arena.stream()
    hello = await stream.welcome()
    assert hello.encoding == common.ENCODING_JSON
    assert hello.legal_form == wire.LEGAL_FORM_EXPANDED
    await stream.seated(options=b'{"heap":21}')
    await stream.ask(
        observation=b'{"heap":5}',
        legal=[4],
        legal_actions=[wire.LegalAction(index=4, text="four", action=b'{"take":4}')],
    )
    decision = await stream.find("decision")
    assert decision.index == 4
    assert bot.asks[0].observation == {"heap": 5}
    assert bot.asks[0].legal[0].action == {"take": 4}
    assert not arena.listed


async def test_a_game_without_table_sends_its_legal_actions_with_each_request(
    arena, play
):
    bot = Recorder()
    play(bot)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated(table=None)
    await stream.ask(
        legal=[0],
        legal_actions=[
            wire.LegalAction(index=0, text="go", action=msgpack.packb({"go": 1}))
        ],
    )
    assert (await stream.find("decision")).index == 0
    assert bot.asks[0].legal[0].action == {"go": 1}
    assert bot.infos[0].table_size is None
    assert not arena.listed


async def test_a_bot_that_needs_no_table_has_the_indices(arena, play):
    class Frugal(Bot):
        needs_table = False

        def decide(self, ask: Ask) -> int:
            if ask.ply == 4:
                return ask.legal[0].index
            return ask.legal.indices[-1]

    running = play(Frugal)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    await stream.ask()
    assert (await stream.find("decision")).index == 3
    assert not arena.listed
    await stream.ask(decision_id=2, ply=4)
    with pytest.raises(ArenaError, match="no action table in which to look up"):
        await running.done()
