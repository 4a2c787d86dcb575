"""Registries with Pig in them as other distributions, and other versions, have it."""

from __future__ import annotations

import types

import attrs
from tests.service import pig

from fritillary import Plugin, Registry, VariantInfo, hookimpl


def pig_of(version):
    """Return the module of Pig with other rules."""
    module = types.ModuleType(f"pig_{version}")
    vars(module).update({k: v for k, v in vars(pig).items() if k[:2] != "__"})

    @hookimpl
    def describe():
        return attrs.evolve(pig.describe(), rules_version=version)

    module.describe = describe  # type: ignore[attr-defined]
    return module


def variant_of(version=1):
    """Return the module of a variant that changes nothing."""
    module = types.ModuleType("same")

    @hookimpl
    def describe_variant():
        return VariantInfo(
            id="same",
            title="Same",
            summary="As it is.",
            version=version,
            games=("pig",),
        )

    module.describe_variant = describe_variant  # type: ignore[attr-defined]
    return module


def shelf(*distributions, version=1, variant=1):
    """Return a registry that holds Pig of each distribution, and the variant ``same``.

    Args:
        distributions: that have Pig.
        version: of its rules.
        variant: version of the variant; 0: there is none.
    """
    games = Registry()
    for distribution in distributions:
        games.add_game(Plugin("pig", pig_of(version), distribution))
    if variant:
        games.add_variant(Plugin("same", variant_of(variant), "variants"))
    return games
