"""Every broken game is caught by the law meant for it; sound games keep all laws."""

import pytest
from tests.testing.broken import BROKEN, MAKERS, source_of

from fritillary.testing import LAWS, Plan, Verdict, certify
from fritillary.testing.fresh import find_game

#: What is slow and looked at only where it is expected to be broken.
SLOW = {"seed.other-process", "playthrough.current", "sampler.distribution"}

PLAN = Plan(
    matches=4,
    positions=12,
    least=40,
    sampler_matches=20,
    spots=2,
    draws=500,
    seconds=1,
    shrinking=0,
)

SOUND = {
    "kuhn poker": "python:examples.kuhn_poker.kuhn_poker",
    "pig": "python:examples.pig.pig",
    "nim": "python:examples.nim.nim_game",
    "tic-tac-toe": "python:examples.tic_tac_toe.tic_tac_toe",
    "connect four": "python:examples.connect_four.connect_four",
    "high card": "python:tests.testing.high_card",
}


def judged(name, laws):
    return certify(MAKERS[name](), plan=PLAN, laws=laws, source=source_of(name))


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_game_is_caught_by_the_law_meant_for_it(name):
    law, expected = BROKEN[name]
    laws = [each for each in LAWS if each not in SLOW or each in expected]
    if law == "seats.exchangeable":
        laws = [law]
    found = set(judged(name, laws).laws(Verdict.BROKEN))
    assert law in found
    assert found <= expected


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_game_keeps_every_law(name):
    source = SOUND[name]
    certificate = certify(find_game(source), plan=PLAN, source=source)
    assert certificate.holds, [str(each) for each in certificate.judgements]
    # A certificate that looked at nothing would be worth nothing.
    assert len(certificate.laws(Verdict.HOLDS)) > 25


def test_nearly_every_law_has_a_broken_game_of_its_own():
    meant = {law for law, _ in BROKEN.values()}
    assert len(BROKEN) >= 20
    assert set(LAWS) - meant == {
        # Broken together with others, or in tests of their own.
        *("codec.schema", "copy.earlier", "copy.equal", "perft.counts"),
        *("picture.bytes-only", "play.refusal-harmless", "playthrough.current"),
        *("leak.decision-point", "sampler.observation", "sampler.decision-point"),
        *("sampler.legal-actions", "sampler.pure", "sampler.playable"),
        *("sampler.vacuous", "sampler.distribution", "sampler.worlds"),
        *("witness.worlds", "witness.weights"),
    }
