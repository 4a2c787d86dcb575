"""Who reads the record of a match, and what is in it that no seat was sent."""

from __future__ import annotations

from pathlib import Path

import grpc
import pytest
from tests.service.calls import bearer, code_of
from tests.service.rawbot import decide, first_legal

from fritillary.api.v1 import match_pb2, match_pb2_grpc
from fritillary.service.tokens import Role

NOTE = "I never hold below twelve"

DOCS = Path(__file__).parents[2] / "docs"


async def fetched(stage, token, match_id="m"):
    """Return the record as somebody may have it, or the code of the refusal."""
    async with grpc.aio.insecure_channel(stage.address) as channel:
        stub = match_pb2_grpc.MatchServiceStub(channel)
        request = match_pb2.FetchRecordRequest(match_id=match_id)
        try:
            call = stub.FetchRecord(request, metadata=bearer(token))
            return b"".join([one.data async for one in call])
        except grpc.aio.AioRpcError as error:
            return code_of(error)


async def test_opponents_read_notes_after_the_match_and_not_before(stage):
    a, b = stage.token("a"), stage.token("b")

    def remark(request):
        return decide(request, index=request.legal[-1], note=NOTE)

    async with (
        stage.bot("a", a, play=remark) as one,
        stage.bot("b", b) as two,
    ):
        hosted = stage.arena.create("pig", ["remote:a", "remote:b"], match_id="m")
        await one.until("decision_closed")
        assert await fetched(stage, b) == "record.private"
        await two.until("decision_request")
        two.play = first_legal
        for request in two.all("decision_request"):
            await two.send_all(first_legal(request))
        await hosted.ended
        await two.until("match_ended")
        assert not any(NOTE.encode() in str(body).encode() for _, body in two.log)
    assert NOTE.encode() in await fetched(stage, b)
    assert await fetched(stage, stage.token("eve")) == "match.unknown"


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        ("protocol.md", "once the match has ended, all who may fetch it read them"),
        ("python-client.md", "everybody who may fetch the record does afterwards"),
        ("stdio.md", "no other seat sees it before the match has ended"),
    ],
)
def test_the_pages_say_so(page, sentence):
    text = " ".join((DOCS / page).read_text("utf-8").split())
    assert sentence in text


async def test_only_bots_that_dialled_in_look_at_their_matches(stage):
    text = stage.token("bob")
    async with stage.bot("bob", text, play=first_legal):
        for match_id, player in (("m", "remote:bob"), ("n", "uniform")):
            await stage.arena.play("pig", [player, "uniform"], match_id=match_id)
    assert await fetched(stage, text, "n") == "match.unknown"
    assert await fetched(stage, text, "m") != "match.unknown"
    # As the program of a match has it, while that goes on.
    passing = stage.arena.tokens.create("program-0", Role.BOT, passing=True)
    assert await fetched(stage, passing, "m") == "match.unknown"
    operate = (DOCS / "operate.md").read_text("utf-8")
    assert "those that it sat in as `remote:NAME`" in operate
    assert "they see no match and" in operate
