"""Options that do not go with every number of seats."""

import pytest
from examples.nim import nim_game
from tests.testing.mutants import sound

from fritillary import Registry
from fritillary.cli.main import main
from fritillary.core.errors import InvalidOptionsError
from fritillary.testing import certify, plan_for
from fritillary.testing.scene import setups


@pytest.fixture
def garden():
    registry = Registry()
    registry.load()
    return registry.game("butterfly-garden")


def test_only_numbers_of_seats_that_the_options_allow_are_played(garden):
    options = garden.options({"starter": 3})
    assert setups(garden, options, None) == [(options, 4)]
    laws = ["hooks.sound", "perft.counts", "copy.equal"]
    assert certify(garden, plan=plan_for(options=options), laws=laws).holds


def test_options_that_go_with_no_number_of_seats_are_an_error(garden):
    options = garden.options({"starter": 3})
    with pytest.raises(InvalidOptionsError, match="there are 2 seats"):
        setups(garden, options, 2)


def test_the_defaults_are_played_with_every_number_of_seats():
    game = sound(nim_game)
    assert setups(game, None, None) == [(game.info.options(), 2)]


@pytest.mark.parametrize("words", [["starter=3", "--seats", "2"], ["starter=9"]])
def test_the_command_refuses_options_in_one_line_and_blames_no_game(words, capsys):
    with pytest.raises(SystemExit) as left:
        main(["certify", "butterfly-garden", "--option", *words])
    said = capsys.readouterr()
    assert (left.value.code, said.out) == (2, "")
    assert said.err.startswith("error: butterfly-garden: starter: ")
    assert said.err.count("\n") == 1
