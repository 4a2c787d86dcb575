"""MatchService: made, listed, watched, stopped, fetched."""

from __future__ import annotations

import asyncio
import hashlib
import stat

import msgpack
import pytest
from tests.service.calls import Caller, outcome_of
from tests.service.rawbot import last_legal, until
from tests.service.stopwatch import Stopwatch

from fritillary.api.v1 import common_pb2, match_pb2
from fritillary.record.terms import ClockSettings, EndKind, Terms
from fritillary.referee.verify import verify
from fritillary.service.tokens import Role


def json_payload(data):
    return common_pb2.Payload(encoding=common_pb2.ENCODING_JSON, data=data)


def seats(*players):
    return [match_pb2.SeatRequest(player=player) for player in players]


# -------------------------------------------------------------------------- making


async def test_a_match_is_made_with_all_that_was_asked_for(stage):
    async with Caller(stage, Role.REFEREE) as referee:
        created = await referee.CreateMatch(
            game="pig",
            rules_version=1,
            options=common_pb2.OptionsChoice(
                options=common_pb2.Payload(
                    encoding=common_pb2.ENCODING_JSON, data=b'{"target": 9}'
                )
            ),
            seats=[
                match_pb2.SeatRequest(
                    player="uniform", clock=common_pb2.Clock(move_ms=77)
                ),
                match_pb2.SeatRequest(player="uniform"),
            ],
            clock=common_pb2.Clock(base_ms=60_000, increment_ms=10),
            terms=common_pb2.MatchTerms(
                margin_ms=12,
                policy=common_pb2.Policy(
                    rules=[
                        common_pb2.FaultRule(
                            fault=common_pb2.FAULT_ILLEGAL,
                            retries=2,
                            consequence=common_pb2.CONSEQUENCE_SUBSTITUTE,
                        )
                    ]
                ),
            ),
            seed=b"s" * 32,
            salt=b"t" * 32,
            match_id="my-match",
            labels={"round": "1"},
        )
        await stage.arena.wait("my-match")
        got = (await referee.GetMatch(match_id="my-match")).match
    first = created.match
    assert first.phase == common_pb2.MATCH_PHASE_OFFERED
    assert first.match_id == "my-match"
    assert first.game.rules_version == 1
    assert msgpack.unpackb(first.options.data) == {"target": 9}
    assert first.options.encoding == common_pb2.ENCODING_MSGPACK
    assert first.seats[0].clock.move_ms == 77
    assert first.seats[1].clock.base_ms == 60_000
    assert first.players == ["uniform", "uniform"]
    assert first.terms.margin_ms == 12
    assert first.terms.ceiling_ms > 60_000
    assert len(first.terms.policy.rules) == 9
    assert first.terms.policy.rules[0].retries == 2
    assert first.seed_given
    assert first.labels == {"round": "1"}
    assert first.created_at_ms > 1.6e12
    assert not first.HasField("started_at_ms")
    assert got.phase == common_pb2.MATCH_PHASE_ENDED
    assert got.created_at_ms <= got.started_at_ms <= got.ended_at_ms
    assert got.ply > 0
    assert got.result.kind == common_pb2.MATCH_END_KIND_PLAYED
    assert got.result.reveal.seed == b"s" * 32
    assert got.result.outcome.placing
    assert len(got.commitment.hash) == 32


async def test_the_same_seed_gives_the_same_match(stage):
    results = [
        await stage.arena.play("pig", ["uniform", "uniform"], seed=b"x" * 32)
        for _ in range(2)
    ]
    assert results[0].content_hash == results[1].content_hash


def rule(fault, **more):
    return common_pb2.FaultRule(fault=fault, **more)


PIG = {"game": "pig", "seats": seats("uniform", "uniform")}


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ({"game": "chess"}, "game.unknown"),
        ({"seats": seats("uniform")}, "options.invalid"),
        ({"seats": []}, "options.invalid"),
        ({"seats": seats("uniform", "magnus")}, "usage.player"),
        ({"seats": seats("uniform", "human")}, "usage.player"),
        ({"seats": seats("uniform", "exec:")}, "usage.player"),
        ({"seats": seats("uniform", "remote:nobody")}, "player.absent"),
        ({"rules_version": 9}, "game.other-version"),
        ({"clock": common_pb2.Clock(increment_ms=5)}, "usage.clock"),
        ({"clock": common_pb2.Clock(base_ms=2**32 - 1)}, "usage.clock"),
        ({"match_id": "a b"}, "match.id"),
        ({"match_id": "taken"}, "match.exists"),
        ({"seed": b"short"}, "usage.seed"),
        ({"salt": b"short"}, "usage.salt"),
        ({"labels": {str(i): "" for i in range(17)}}, "usage.labels"),
        ({"labels": {"x": "y" * 65}}, "usage.labels"),
        ({"options": common_pb2.OptionsChoice(preset="no")}, "options.invalid"),
        (
            {"terms": common_pb2.MatchTerms(policy=common_pb2.Policy(stand_in="x"))},
            "usage.player",
        ),
        ({"terms": common_pb2.MatchTerms(ceiling_ms=0)}, "usage.terms"),
        ({"terms": common_pb2.MatchTerms(margin_ms=2**32 - 1)}, "usage.terms"),
        *(
            (
                {"terms": common_pb2.MatchTerms(policy=common_pb2.Policy(rules=rules))},
                "usage.terms",
            )
            for rules in (
                [rule(0)],
                [rule(77)],
                [rule(3, retries=1, consequence=1)],
                [rule(1, consequence=2)],
                [rule(1)] * 2,
            )
        ),
    ],
)
async def test_what_makes_no_sense_is_refused_with_a_code(stage, request_, code):
    stage.arena.create("pig", ["uniform", "uniform"], match_id="taken")
    async with Caller(stage, Role.REFEREE) as referee:
        assert await outcome_of(referee.CreateMatch(**{**PIG, **request_})) == code
    assert len(stage.arena.matches()) == 1


# ------------------------------------------------------------------------- looking


async def test_matches_are_listed_newest_first_in_pages(stage):
    for number in range(5):
        stage.arena.create(
            "pig",
            ["uniform", "uniform"],
            match_id=f"m{number}",
            labels={"odd": str(number % 2)},
        )
    await asyncio.gather(*(stage.arena.wait(f"m{n}") for n in range(5)))
    async with Caller(stage, Role.SPECTATOR) as spectator:
        page = await spectator.ListMatches(page_size=2)
        stage.arena.create("pig", ["uniform", "uniform"], match_id="later")
        rest = await spectator.ListMatches(page_token=page.next_page_token)
        odd = await spectator.ListMatches(labels={"odd": "1"})
        none = await spectator.ListMatches(game="chess")
        ended = await spectator.ListMatches(phases=[common_pb2.MATCH_PHASE_ENDED])
        bad = await outcome_of(spectator.ListMatches(page_token="5.zz"))
    assert [one.match_id for one in page.matches] == ["m4", "m3"]
    assert [one.match_id for one in rest.matches] == ["m2", "m1", "m0"]
    assert [one.match_id for one in odd.matches] == ["m3", "m1"]
    assert not none.matches
    assert "m0" in [one.match_id for one in ended.matches]
    assert bad == "page.token"
    # How players were named is for referees.
    assert not page.matches[0].players


async def test_a_bot_sees_the_matches_it_sat_in_and_no_others(stage):
    async with stage.bot(play=last_legal):
        await stage.arena.play("pig", ["remote:bob", "uniform"], match_id="mine")
    await stage.arena.play("pig", ["uniform", "uniform"], match_id="theirs")
    async with Caller(stage, Role.BOT, "bob") as bot:
        mine = await bot.GetMatch(match_id="mine")
        raw = b"".join([part.data async for part in bot.FetchRecord(match_id="mine")])
        assert await outcome_of(bot.GetMatch(match_id="theirs")) == "match.unknown"
        assert await outcome_of(bot.FetchRecord(match_id="theirs")) == "match.unknown"
    assert mine.match.match_id == "mine"
    assert raw == stage.arena.match("mine").record()


async def test_only_so_many_ended_matches_are_kept(open_stage):
    stage = await open_stage(keep_ended=3)
    for number in range(5):
        await stage.arena.play("pig", ["uniform", "uniform"], match_id=f"m{number}")
    await until(lambda: len(stage.arena.matches()) <= 3)
    assert [one.id for one in stage.arena.matches()] == ["m4", "m3", "m2"]


# ------------------------------------------------------------------------ stopping


async def test_pausing_stops_the_clock_and_resuming_goes_on(stage):
    async with stage.bot(play=None) as bot, Caller(stage, Role.REFEREE) as referee:
        clock = Stopwatch()
        hosted = stage.arena.create(
            "pig",
            ["remote:bob", "uniform"],
            clocks=ClockSettings(base_ms=600_000),
            terms=Terms(margin_ms=0),
        )
        await bot.until("decision_request")
        paused = await referee.PauseMatch(match_id=hosted.id, message="tea\x07")
        closed = await bot.until("decision_closed")
        before_ms = clock.ms()
        status = bot.all("match_status")[-1]
        await asyncio.sleep(0.7)
        clock = Stopwatch()
        resumed = await referee.ResumeMatch(match_id=hosted.id)
        request = await bot.until("decision_request", count=2)
        after_ms = clock.ms()
        bot.play = last_legal
        await bot.send_all(last_legal(request))
        result = await hosted.ended
        await bot.until("match_ended")
    assert paused.match.phase == common_pb2.MATCH_PHASE_PAUSED
    assert resumed.match.phase == common_pb2.MATCH_PHASE_RUNNING
    assert closed.closure == 3
    assert not closed.HasField("event_number")
    assert status.phase == common_pb2.MATCH_PHASE_PAUSED
    assert "tea" in status.message
    assert "\x07" not in status.message
    assert 600_000 - request.clock.base_left_ms <= before_ms + after_ms
    bodies = [one.WhichOneof("body") for one in bot.all("event")]
    assert bodies[:2] == ["paused", "resumed"]
    assert result.finish.kind is EndKind.PLAYED


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (common_pb2.MATCH_END_KIND_UNSPECIFIED, EndKind.WITHDRAWN),
        (common_pb2.MATCH_END_KIND_VOID, EndKind.VOID),
    ],
)
async def test_aborting_ends_a_match_that_does_not_count(stage, kind, expected):
    async with stage.bot(play=None) as bot, Caller(stage, Role.REFEREE) as referee:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        await bot.until("decision_request")
        aborted = await referee.AbortMatch(
            match_id=hosted.id, kind=kind, message="rain"
        )
        result = await hosted.ended
        ended = await bot.until("match_ended")
        for method in ("AbortMatch", "PauseMatch", "ResumeMatch"):
            call = getattr(referee, method)(match_id=hosted.id)
            assert await outcome_of(call) == "match.phase"
    assert aborted.match.phase in {
        common_pb2.MATCH_PHASE_CLOSING,
        common_pb2.MATCH_PHASE_ENDED,
    }
    assert result.finish.kind is expected
    assert ended.result.code == "match.aborted"
    assert ended.result.message == "rain"
    assert not ended.result.HasField("outcome")


async def test_aborting_while_players_are_waited_for(stage):
    async with Caller(stage, Role.REFEREE) as referee:
        hosted = stage.arena.create("pig", ["remote:nobody", "uniform"])
        assert await outcome_of(referee.PauseMatch(match_id=hosted.id)) == "match.phase"
        await referee.AbortMatch(match_id=hosted.id)
        result = await asyncio.wait_for(hosted.ended, 60)
    assert result.finish.kind is EndKind.WITHDRAWN


# ------------------------------------------------------------------------ fetching


async def test_a_fetched_record_is_the_file(open_stage, tmp_path):
    stage = await open_stage(records=tmp_path)
    async with stage.bot(play=None) as bot, Caller(stage, Role.SPECTATOR) as spectator:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"], match_id="m")
        request = await bot.until("decision_request")
        path = tmp_path / "m.frec"
        unfinished = stat.S_IMODE(path.stat().st_mode)
        for view, code in (
            (match_pb2.RECORD_VIEW_UNSPECIFIED, "record.private"),
            (match_pb2.RECORD_VIEW_SPECTATOR, "record.private"),
            (match_pb2.RECORD_VIEW_FULL, "record.open"),
        ):
            call = spectator.FetchRecord(match_id="m", view=view)
            assert await outcome_of(call) == code
        bot.play = last_legal
        await bot.send_all(last_legal(request))
        await hosted.ended
        parts = [part async for part in spectator.FetchRecord(match_id="m")]
        tail = [part async for part in spectator.FetchRecord(match_id="m", offset=100)]
        view = spectator.FetchRecord(match_id="m", view=match_pb2.RECORD_VIEW_SPECTATOR)
        assert await outcome_of(view) == "record.view"
    raw = path.read_bytes()
    assert unfinished == 0o600
    assert b"".join(part.data for part in parts) == raw
    assert parts[-1].size == len(raw)
    assert parts[-1].sha256 == hashlib.sha256(raw).digest()
    assert {part.view for part in parts} == {match_pb2.RECORD_VIEW_FULL}
    assert b"".join(part.data for part in tail) == raw[100:]
    assert tail[0].offset == 100


async def test_a_long_record_comes_in_chunks(stage):
    await stage.arena.play(
        "pig", ["uniform", "uniform"], options={"target": 10**6}, match_id="m"
    )
    async with Caller(stage, Role.REFEREE) as referee:
        parts = [part async for part in referee.FetchRecord(match_id="m")]
    assert len(parts) > 1
    assert all(len(part.data) == 65_536 for part in parts[:-1])
    assert not any(part.HasField("size") for part in parts[:-1])
    assert b"".join(part.data for part in parts) == stage.arena.match("m").record()


async def test_a_sealed_match_shows_nothing(stage):
    async with stage.bot(play=last_legal) as bot:
        result = await stage.arena.play(
            "pig", ["remote:bob", "uniform"], match_id="m", sealed=True
        )
        ended = await bot.until("match_ended")
    async with Caller(stage, Role.SPECTATOR) as spectator:
        assert await outcome_of(spectator.WatchMatch(match_id="m")) == "match.sealed"
        assert await outcome_of(spectator.FetchRecord(match_id="m")) == "match.sealed"
    assert result.reveal is None
    assert not ended.result.HasField("reveal")
    assert not ended.result.final_hash


async def test_a_record_folder_that_holds_the_id_refuses_it(open_stage, tmp_path):
    (tmp_path / "old.frec").write_bytes(b"kept")
    stage = await open_stage(records=tmp_path)
    async with Caller(stage, Role.REFEREE) as referee:
        call = referee.CreateMatch(**PIG, match_id="old")
        assert await outcome_of(call) == "match.exists"
    assert (tmp_path / "old.frec").read_bytes() == b"kept"


async def test_a_fetched_record_verifies(stage):
    async with stage.bot(play=last_legal):
        await stage.arena.play("pig", ["remote:bob", "uniform"], match_id="m")
    verified = verify(stage.arena.match("m").record(), stage.arena.registry)
    assert verified.plies == stage.arena.match("m").ply
