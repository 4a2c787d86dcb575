"""Checks for games and fakes for tests, for everyone who writes a plugin.

A game's tests call `check_contract`; with hidden information also `check_leaks`,
`check_sampler`, `check_sampler_statistics` and, where the options make the game
small enough, `check_sampler_exact`. Each raises `LawError`, which names the law.
"""

from fritillary.testing.enumerating import (
    EnumeratingDealer,
    EnumerationError,
    Policy,
    distribution,
    enumerate_outcomes,
    exact_values,
)
from fritillary.testing.exact import ExactReport, check_sampler_exact
from fritillary.testing.fakes import ScriptedBot
from fritillary.testing.general import ContractReport, check_contract
from fritillary.testing.laws import LAWS, Law, LawError
from fritillary.testing.leaks import LeakReport, check_leaks
from fritillary.testing.sampler import (
    SamplerReport,
    check_sampler,
    check_sampler_statistics,
)
from fritillary.testing.scene import Scene, scenes

__all__ = [
    "LAWS",
    "ContractReport",
    "EnumeratingDealer",
    "EnumerationError",
    "ExactReport",
    "Law",
    "LawError",
    "LeakReport",
    "Policy",
    "SamplerReport",
    "Scene",
    "ScriptedBot",
    "check_contract",
    "check_leaks",
    "check_sampler",
    "check_sampler_exact",
    "check_sampler_statistics",
    "distribution",
    "enumerate_outcomes",
    "exact_values",
    "scenes",
]
