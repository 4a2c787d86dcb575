"""A plugin-based framework for turn-based games, and an arena for bots.

These names are all that a game or a bot written in Python needs.
"""

from fritillary.core import interrupts

with interrupts.Loading():
    from fritillary.bots.protocol import (
        Ask,
        BaseBot,
        Bot,
        Clock,
        Decision,
        MatchStart,
        Resign,
        UniformBot,
    )
    from fritillary.core.dealer import Dealer, FastDealer, SealedDealer
    from fritillary.core.errors import (
        CodecError,
        FritillaryError,
        GameError,
        IllegalActionError,
        InvalidActionError,
        InvalidOptionsError,
        InvalidPositionError,
        PluginError,
    )
    from fritillary.core.info import GameInfo, Information, VariantInfo
    from fritillary.core.outcome import Outcome
    from fritillary.core.packed import CardSet, Packed
    from fritillary.core.points import ACTS, CHANCE, Act, Chance, DecisionPoint, Over
    from fritillary.plugins.binding import Plugin
    from fritillary.plugins.discovery import Registry
    from fritillary.plugins.game import Game
    from fritillary.plugins.markers import hookimpl
    from fritillary.plugins.playout import playout

__version__ = "0.1.0"

__all__ = [
    "ACTS",
    "CHANCE",
    "Act",
    "Ask",
    "BaseBot",
    "Bot",
    "CardSet",
    "Chance",
    "Clock",
    "CodecError",
    "Dealer",
    "Decision",
    "DecisionPoint",
    "FastDealer",
    "FritillaryError",
    "Game",
    "GameError",
    "GameInfo",
    "IllegalActionError",
    "Information",
    "InvalidActionError",
    "InvalidOptionsError",
    "InvalidPositionError",
    "MatchStart",
    "Outcome",
    "Over",
    "Packed",
    "Plugin",
    "PluginError",
    "Registry",
    "Resign",
    "SealedDealer",
    "UniformBot",
    "VariantInfo",
    "hookimpl",
    "playout",
]
