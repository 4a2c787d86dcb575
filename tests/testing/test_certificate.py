import json

import pytest
from examples.kuhn_poker import kuhn_poker
from examples.nim import nim_game
from examples.pig import pig
from tests.testing import broken_play
from tests.testing.mutants import mutant, sound

import fritillary
from fritillary import Registry
from fritillary.core.errors import UsageError
from fritillary.testing import LAWS, PROFILES, Plan, Verdict, certify, plan_for
from fritillary.testing.checks import CHECKS, walk
from fritillary.testing.fresh import find_game

FEW = ["copy.equal", "legal.table-order"]


def only(certificate):
    (judgement,) = certificate.judgements
    return judgement


def test_every_law_has_a_check_and_says_what_it_is():
    assert CHECKS.keys() == LAWS.keys()
    for law in LAWS.values():
        assert law.sentence.endswith(".")
        assert law.mend.endswith(".")


def test_a_certificate_says_what_was_looked_at_and_by_whom():
    registry = Registry()
    registry.load()
    game = registry.game("lepidoptery+no-pass")
    data = certify(game, laws=FEW, date="today").to_data()
    assert json.loads(json.dumps(data)) == data
    assert (data["format"], data["holds"], data["date"]) == (1, True, "today")
    assert (data["game"], data["rules_version"]) == ("lepidoptery+no-pass", 1)
    assert data["variants"] == {"no-pass": 1}
    assert data["distribution"] == "fritillary"
    assert data["distribution_version"] == fritillary.__version__
    assert data["framework_version"] == fritillary.__version__
    assert (data["profile"], data["seed"]) == ("quick", 0)
    assert data["passed"] == FEW
    assert data["laws"][0]["looked"] > 50


def test_a_broken_law_is_shown_with_its_mend():
    certificate = certify(broken_play.sums_are_broken(), laws=["outcome.constant-sum"])
    judgement = only(certificate)
    assert not certificate.holds
    assert judgement.verdict is Verdict.BROKEN
    assert "mend: Correct the scores" in str(judgement)
    data = certificate.to_data()
    assert data["laws"][0]["failure"]["seats"] == 2
    assert data["passed"] == []


def test_a_law_that_has_nothing_to_say_is_skipped_with_its_reason():
    certificate = certify(sound(pig), laws=["leak.text"])
    judgement = only(certificate)
    assert (judgement.verdict, judgement.reason) == (
        Verdict.SKIPPED,
        "nothing is hidden",
    )
    assert certificate.holds
    assert str(judgement) == "law leak.text skipped: nothing is hidden"


def test_a_law_that_another_one_keeps_from_being_judged_is_unclear():
    certificate = certify(broken_play.nothing_is_legal(), laws=["copy.earlier"])
    judgement = only(certificate)
    assert judgement.verdict is Verdict.UNCLEAR
    assert "legal.some is broken" in judgement.reason
    assert not certificate.holds


def test_a_game_that_raises_is_unclear_and_no_crash():
    def conserved(state):
        raise KeyError("no cards")

    game = mutant(kuhn_poker, conserved=conserved)
    assert "no cards" in only(certify(game, laws=["state.conserved"])).reason


def test_callers_hear_of_each_law():
    begun: list = []
    done: list = []
    certify(sound(nim_game), laws=FEW, progress=begun.append, judged=done.append)
    assert begun == [judgement.law for judgement in done] == FEW


def test_unknown_laws_and_profiles_are_errors():
    with pytest.raises(UsageError, match=r"no law 'copy\.same'"):
        certify(sound(nim_game), laws=["copy.same"])
    with pytest.raises(UsageError, match="no profile 'lazy'; known: quick, thorough"):
        plan_for("lazy")


def test_thorough_looks_at_more_in_every_way():
    quick, thorough = PROFILES["quick"], PROFILES["thorough"]
    for name in ("matches", "positions", "draws", "worlds", "processes", "seconds"):
        assert getattr(thorough, name) > 2 * getattr(quick, name)


def test_long_matches_are_looked_at_from_beginning_to_end():
    plan = Plan(matches=3, positions=10, least=0, options=pig.Options(target=60))
    plies: dict[int, list[int]] = {}
    for scene in walk(sound(pig), plan):
        plies.setdefault(scene.match, []).append(scene.ply)
    assert len(plies) == 3
    for seen in plies.values():
        assert seen[:2] == [0, 1]
        assert 8 <= len(seen) <= 13
    assert plies[0][2:-2] != plies[1][2:-2]


def test_of_short_matches_more_are_played():
    scenes = [scene.match for scene in walk(sound(kuhn_poker), Plan(least=90))]
    assert 90 <= len(scenes) < 100
    assert len(set(scenes)) > 20


# ------------------------------------------------------------------ other processes


@pytest.mark.system
def test_installed_games_play_alike_in_other_processes():
    registry = Registry()
    registry.load()
    game = registry.game("lepidoptery")
    law = "seed.other-process"
    judgement = only(certify(game, laws=[law], source="lepidoptery"))
    assert judgement.verdict is Verdict.HOLDS
    assert only(certify(game, laws=[law])).reason.startswith("nobody said how")


@pytest.mark.system
def test_a_difference_between_processes_is_shown():
    source = "python:tests.testing.broken_state:set_order_gets_into_the_bytes"
    game = find_game(source)
    judgement = only(certify(game, laws=["seed.other-process"], source=source))
    assert judgement.verdict is Verdict.BROKEN
    assert "$.names[" in judgement.failure.what
    assert "actions so far" in judgement.failure.what


@pytest.mark.system
def test_a_game_that_prints_is_played_in_other_processes_all_the_same():
    source = "python:tests.testing.broken_state:what_is_done_is_printed"
    judgement = only(
        certify(find_game(source), laws=["seed.other-process"], source=source)
    )
    assert judgement.verdict is Verdict.HOLDS


@pytest.mark.system
def test_a_game_that_other_processes_do_not_find_is_unclear():
    game = sound(pig)
    judgement = only(certify(game, laws=["seed.other-process"], source="pig-without"))
    assert judgement.verdict is Verdict.UNCLEAR
    assert "no game 'pig-without'" in judgement.reason


def test_games_are_found_by_id_module_and_function():
    assert find_game("lepidoptery").id == "lepidoptery"
    assert find_game("python:examples.pig.pig").id == "pig"
    name = "python:tests.testing.broken_play:sums_are_broken"
    assert find_game(name).id == "kuhn-poker"
    for source in ("python:nowhere", "python:examples.pig.pig:nothing"):
        with pytest.raises(UsageError, match="there is no 'python:"):
            find_game(source)
