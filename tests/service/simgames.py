"""Games for the simulator: those installed, Pig with and without a table, Trap."""

from __future__ import annotations

import types

import attrs
from tests.service import pig, trap

from fritillary import Plugin, Registry, hookimpl


@hookimpl(specname="describe")
def _describe_without_table():
    return attrs.evolve(pig.describe(), id="pig-without-table")


_WITHOUT_TABLE = types.SimpleNamespace(
    **{name: value for name, value in vars(pig).items() if name != "all_actions"}
)
_WITHOUT_TABLE.describe = _describe_without_table


def registry():
    """Return a registry that holds them all."""
    games = Registry()
    games.load()
    games.add_game(Plugin("pig-without-table", _WITHOUT_TABLE))
    games.add_game(Plugin("pig", pig))
    games.add_game(Plugin("trap", trap))
    return games


#: The same as the processes of a simulator are told it.
REGISTRY = "tests.service.simgames:registry"
