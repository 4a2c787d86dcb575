"""A bot that plays any game: it picks each legal action with equal probability.

Start it by hand, or let a server start it as the player `exec:python uniform.py`, which
sets the two variables that stand in for the arguments:

    python examples/bots/uniform.py --address HOST:PORT --token TOKEN
    FRITILLARY_ADDRESS=HOST:PORT FRITILLARY_TOKEN=TOKEN python examples/bots/uniform.py

Copy it and write a better `decide`. What an ask holds besides: `ask.observation` (all
that the seat may know), `ask.clock` (time left), `ask.events` (what has happened since
the last ask) and `ask.info` (game, options, seats, players). A legal action has an
`index`, a `text` for people, and the `action` as a dict.
"""

from fritillary_client import Ask, LegalAction, main


def decide(ask: Ask) -> LegalAction:
    """Return one of the legal actions.

    The generator is seeded by the referee: the same match gives the same play again.
    """
    return ask.rng.choice(ask.legal)


if __name__ == "__main__":
    main(decide, name="uniform", version="1")
