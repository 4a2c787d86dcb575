"""Checks for games and fakes for tests, for everyone who writes a plugin.

`certify` checks every law of a game and says a verdict on each; the command
``fritillary certify`` and the pytest plugin do the same from outside. In a game's
own tests, `check_contract` plays random matches and checks the laws of every game in
one go; with hidden information also `check_leaks`, `check_sampler`,
`check_sampler_statistics` and, where the options make the game small enough,
`check_sampler_exact`. Each raises `LawError`, which names the law and shows the
smallest case found. `machine_for` makes a Hypothesis state machine of a game.
"""

from fritillary.testing.certificate import (
    Certificate,
    Judgement,
    Verdict,
    certify,
    plan_for,
)
from fritillary.testing.checks import PROFILES, Plan
from fritillary.testing.comparing import check_sampler_statistics
from fritillary.testing.counting import perft
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
from fritillary.testing.golden import playthrough
from fritillary.testing.laws import LAWS, Failure, Law, LawError
from fritillary.testing.leaks import LeakReport, check_leaks
from fritillary.testing.machine import machine_for
from fritillary.testing.sampler import SamplerReport, check_sampler
from fritillary.testing.scene import Scene, scenes

__all__ = [
    "LAWS",
    "PROFILES",
    "Certificate",
    "ContractReport",
    "EnumeratingDealer",
    "EnumerationError",
    "ExactReport",
    "Failure",
    "Judgement",
    "Law",
    "LawError",
    "LeakReport",
    "Plan",
    "Policy",
    "SamplerReport",
    "Scene",
    "ScriptedBot",
    "Verdict",
    "certify",
    "check_contract",
    "check_leaks",
    "check_sampler",
    "check_sampler_exact",
    "check_sampler_statistics",
    "distribution",
    "enumerate_outcomes",
    "exact_values",
    "machine_for",
    "perft",
    "plan_for",
    "playthrough",
    "scenes",
]
