import pytest
from examples.nim import nim_game
from examples.pig import pig
from tests.testing.broken_state import copy_shares_a_list
from tests.testing.mutants import mutant, sound, without

from fritillary import FastDealer, GameError
from fritillary.testing import perft
from fritillary.testing.counting import counts, perft_slowly

DEAL = FastDealer(1)


def test_sequences_that_end_the_match_are_counted_once():
    game = sound(nim_game)
    options = game.options({"heaps": [2]})
    # One, one; or two at once.
    assert list(perft(game, game.new(DEAL, options), 4)) == [1, 2, 1, 0, 0]


def test_chance_outcomes_are_branches_whatever_their_weight():
    game = sound(pig)
    # Roll; six faces; after a one the other seat rolls, else roll or hold.
    assert list(perft(game, game.new(DEAL), 3)) == [1, 1, 6, 1 + 5 * 2]


def test_equal_states_are_gone_on_with_once_but_counted_each():
    game = sound(nim_game)
    state = game.new(DEAL)
    numbers = list(perft(game, state, 5))
    setup = (game.info.options(), 2)
    assert numbers == [perft_slowly(game, DEAL, setup, d) for d in range(6)]


def test_the_state_is_left_alone():
    game = sound(nim_game)
    state = game.new(DEAL)
    list(perft(game, state, 3))
    assert state == game.new(DEAL)


def test_chance_that_is_only_sampled_cannot_be_counted():
    def sample_chance(state, dealer):
        return pig.DIE[dealer.below(6)][0]

    game = mutant(without(pig, "chance_outcomes"), sample_chance=sample_chance)
    with pytest.raises(GameError, match="too many chance outcomes"):
        list(perft(game, game.new(DEAL), 3))
    assert counts(game, game.new(DEAL), most=100) == [1, 1]


def test_counts_stop_before_they_are_too_many():
    game = sound(nim_game)
    assert counts(game, game.new(DEAL), most=200) == [1, 12, 113]


def test_a_shared_list_shows_in_the_counts():
    game = copy_shares_a_list()
    state = game.new(DEAL.stream("deal"))
    quick = list(perft(game, state, 3))
    slow = [perft_slowly(game, DEAL, (game.info.options(), 2), d) for d in range(4)]
    assert quick != slow == [1, 2, 4, 2]
