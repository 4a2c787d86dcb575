"""Records of long ago still verify.

The files in ``tests/golden/records`` were written by this version of the format. A
change that makes one of them fail makes every record out there fail: raise the format
or the rules version then. ``FRITILLARY_REWRITE_GOLDEN=1`` writes them anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from examples.pig import pig
from tests.record.support import (
    SIGNER,
    Scripted,
    after,
    game,
    illegal,
    in_turn,
    pause,
    play,
    registry,
)

from fritillary import SealedDealer
from fritillary.record.events import Paused, Ruling
from fritillary.record.reader import read_record
from fritillary.record.terms import Consequence, Fault
from fritillary.referee.player import Answer
from fritillary.referee.verify import verify

FOLDER = Path(__file__).parents[1] / "golden" / "records"


def choose(player, request):
    """Choose at random, but the same in every version of Python."""
    dealer = SealedDealer(bytes(32)).stream(player.info.name, player.asked)
    return Answer(action=dealer.choice(request.legal))


def seats(*chooses):
    return [
        Scripted(one, name=f"seat {seat}", nonce=bytes([seat] * 4), takes_ms=12)
        for seat, one in enumerate(chooses)
    ]


def remark(player, request):
    answer = choose(player, request)
    return Answer(
        action=answer.action,
        note="Schmetterling 🦋",
        probabilities=[1 / len(request.legal)] * len(request.legal),
        think_ms=5,
        round_trip_ms=2,
    )


GOLDEN: dict[str, Callable[[], bytes]] = {
    # A choice that is refused, asked for again, refused again and substituted.
    "lepidoptery-classic": lambda: play(
        "lepidoptery",
        players=seats(
            in_turn(choose, remark, then=choose),
            in_turn(choose, illegal, illegal, then=choose),
        ),
        options=game("lepidoptery").info.presets["classic"],
        clock="1min+1s",
        policy=["illegal=retry:1,substitute"],
        created_at_ms=1_790_000_000_000,
        setup={"labels": {"event": "golden"}},
    ),
    # Chance, nonces, a pause, and a seat that is late and has a stand-in.
    "pig": lambda: play(
        "pig",
        players=seats(
            in_turn(choose, pause, then=choose),
            in_turn(choose, choose, after(9_000, choose), then=choose),
            choose,
        ),
        options=pig.Options(target=20, rounds=10),
        clock="move=1s,bank=2s",
        setup={"nonces_wanted": True, "match_id": "golden.pig-3"},
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_a_golden_record_still_verifies(name):
    path = FOLDER / f"{name}.frec"
    if os.environ.get("FRITILLARY_REWRITE_GOLDEN"):
        FOLDER.mkdir(exist_ok=True)
        path.write_bytes(GOLDEN[name]())
    verify(path.read_bytes(), registry(), key=SIGNER.public.hex())


@pytest.mark.parametrize("name", GOLDEN)
def test_the_same_match_happens_as_it_did(name):
    # Sentences for people may differ; they are not in the content hash.
    old = verify((FOLDER / f"{name}.frec").read_bytes(), registry())
    new = verify(GOLDEN[name](), registry())
    assert new.content_hash == old.content_hash
    assert len(new.record.events) == len(old.record.events)


def test_the_golden_records_hold_what_is_worth_keeping():
    record = read_record((FOLDER / "lepidoptery-classic.frec").read_bytes())
    rulings = [event for event in record.events if isinstance(event, Ruling)]
    assert [ruling.consequence for ruling in rulings] == [
        Consequence.RETRY,
        Consequence.SUBSTITUTE,
    ]
    record = read_record((FOLDER / "pig.frec").read_bytes())
    (ruling,) = [event for event in record.events if isinstance(event, Ruling)]
    assert ruling.fault is Fault.LATE
    assert record.find(Paused) is not None
    assert {path.stem for path in FOLDER.iterdir()} == set(GOLDEN)
