"""Search bots: one baseline for every game, from its hooks alone.

``mcts`` searches games of perfect information, ``ismcts`` those with hidden
information, on worlds that are drawn from the observation; ``flat-mc`` is the plain
baseline. None of them is ever given a state: they start from what their seat may know.
"""

from fritillary.bots.search.bots import FlatMcBot, IsmctsBot, MctsBot, SearchBot

__all__ = ["FlatMcBot", "IsmctsBot", "MctsBot", "SearchBot"]
