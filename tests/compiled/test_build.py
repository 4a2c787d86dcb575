"""The compiled build is compiled: without that, the tests on it prove nothing."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import subprocess
import sys
import tomllib
import types
from pathlib import Path

import attrs
import pytest
from benchmarks.compiled import RULES, RULES_MODULES
from examples.connect_four import connect_four
from examples.tic_tac_toe import tic_tac_toe

import fritillary
from fritillary import FastDealer, Game, Plugin, Registry
from fritillary.core.build import compiled_modules

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"][
    "build"
]["targets"]["wheel"]["hooks"]["custom"]
EXTENSIONS = (".so", ".pyd")
HOOKS = ("new_state", "decision_point", "legal_actions", "apply", "copy", "observe")


def games():
    found = Registry()
    found.load()
    for module in (connect_four, tic_tac_toe):
        found.add_game(Plugin(module.describe().id, module))
    return {name: found.game(name) for name, _ in found.games()}


GAMES = games()


@pytest.mark.parametrize("module", SETTINGS["modules"])
def test_every_module_that_is_named_is_an_extension(module):
    place = importlib.import_module(module).__file__
    assert place is not None
    assert place.endswith(EXTENSIONS)
    assert Path(place).is_relative_to(Path(fritillary.__file__).parents[1])


@pytest.mark.parametrize("module", RULES_MODULES)
def test_the_rules_that_are_in_no_wheel_are_extensions_too(module):
    name = module.rpartition(".")[2]
    places = list((RULES / module.replace(".", "/")).parent.glob(f"{name}.*"))
    assert any(place.suffix in EXTENSIONS for place in places)


@pytest.mark.parametrize("game", [connect_four, tic_tac_toe], ids=lambda m: m.__name__)
def test_the_examples_under_test_are_extensions(game):
    assert game.__file__.endswith(EXTENSIONS)


def test_the_wheel_says_what_is_compiled():
    assert set(compiled_modules()) == set(SETTINGS["modules"])
    said = subprocess.run(
        [sys.executable, "-m", "fritillary", "--version"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert said == f"fritillary {fritillary.__version__}, compiled\n"


@pytest.mark.parametrize("name", GAMES)
def test_game_calls_compiled_hooks_with_nothing_in_between(name):
    game = GAMES[name]
    for hook in HOOKS:
        bound = getattr(game, f"_{hook}" if hook == "new_state" else hook)
        if hook == "observe" and game.info.observation is game.info.state:
            continue  # the default, a copy
        assert type(bound) is types.BuiltinFunctionType, hook


@pytest.mark.parametrize("name", GAMES)
def test_the_state_is_a_native_class_with_the_fields_of_the_attrs_class(name):
    game: Game = GAMES[name]
    state = game.info.state
    assert not hasattr(game.new(FastDealer(1)), "__dict__")
    assert state.__module__ == game.info.options.__module__
    # The attributes of native classes are described by C, not by slots of Python.
    for field in attrs.fields(state):
        assert inspect.isgetsetdescriptor(vars(state)[field.name])
    assert attrs.fields_dict(state)["options"].type is game.info.options


@pytest.mark.parametrize("name", GAMES)
def test_states_compare_show_pickle_and_copy_like_attrs_values(name):
    game = GAMES[name]
    state = game.new(FastDealer(1))
    assert repr(state).startswith("State(options=Options(")
    for again in (
        game.copy(state),
        copy.copy(state),
        copy.deepcopy(state),
        pickle.loads(pickle.dumps(state)),  # noqa: S301 - our own
        attrs.evolve(state),
    ):
        assert again == state
        assert again is not state
        assert type(again) is type(state)
    other = game.copy(state)
    game.apply(other, game.legal_actions(other)[0])
    assert other != state
    with pytest.raises(TypeError):
        hash(state)


@pytest.mark.parametrize("name", GAMES)
def test_a_copy_shares_nothing_that_can_change(name):
    game = GAMES[name]
    state = game.new(FastDealer(1))
    copied = game.copy(state)
    for field in attrs.fields(type(state)):
        mine, other = getattr(state, field.name), getattr(copied, field.name)
        if isinstance(mine, (list, dict)):
            assert mine is not other, field.name


def test_a_value_of_a_wrong_type_is_refused():
    state = GAMES["lepidoptery"].new(FastDealer(1))
    with pytest.raises(TypeError):
        state.to_move = "first"
