"""Connects bots written in Python, and referees, to an arena.

The shortest bot there is::

    from fritillary_client import run


    def decide(ask):
        return ask.rng.choice(ask.legal)


    run(decide)

`Referee` makes and watches matches.
"""

from fritillary.core import interrupts

with interrupts.Loading():
    from fritillary_client.ask import Ask
    from fritillary_client.bot import AnyBot, Bot
    from fritillary_client.client import Client
    from fritillary_client.errors import (
        ArenaError,
        BotError,
        ConfigurationError,
        DecisionError,
        Declined,
        LinkError,
        ProtocolError,
        RefusedError,
    )
    from fritillary_client.matches import (
        FaultRule,
        Match,
        MatchResult,
        MatchStatus,
        MatchView,
        Reveal,
        SeatProblem,
        Terms,
        Update,
    )
    from fritillary_client.referee import Referee
    from fritillary_client.running import main, run, run_async
    from fritillary_client.settings import Settings
    from fritillary_client.values import (
        RESIGN,
        Answer,
        Choice,
        Clock,
        ClockSettings,
        Deal,
        Decision,
        Event,
        GameSupport,
        LegalAction,
        LegalActions,
        MatchInfo,
        Outcome,
        Player,
        Problem,
        Resign,
        Result,
        Session,
    )

__all__ = [
    "RESIGN",
    "Answer",
    "AnyBot",
    "ArenaError",
    "Ask",
    "Bot",
    "BotError",
    "Choice",
    "Client",
    "Clock",
    "ClockSettings",
    "ConfigurationError",
    "Deal",
    "Decision",
    "DecisionError",
    "Declined",
    "Event",
    "FaultRule",
    "GameSupport",
    "LegalAction",
    "LegalActions",
    "LinkError",
    "Match",
    "MatchInfo",
    "MatchResult",
    "MatchStatus",
    "MatchView",
    "Outcome",
    "Player",
    "Problem",
    "ProtocolError",
    "Referee",
    "RefusedError",
    "Resign",
    "Result",
    "Reveal",
    "SeatProblem",
    "Session",
    "Settings",
    "Terms",
    "Update",
    "main",
    "run",
    "run_async",
]
