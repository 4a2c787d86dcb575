"""The pytest plugin: ``pytest --fritillary-game GAME`` tests every law of a game.

A module beside the package, since pytest imports its plugins in every run: nothing
of the framework is imported until a game is named, and coverage sees all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("fritillary", "conformance of games for Fritillary")
    group.addoption(
        "--fritillary-game",
        action="append",
        default=[],
        metavar="GAME",
        help="Test every law of an installed game (id, with +variant for variants), "
        "or of python:MODULE. May be repeated.",
    )
    group.addoption(
        "--fritillary-profile",
        default="quick",
        metavar="PROFILE",
        help="quick (default) or thorough.",
    )
    group.addoption(
        "--fritillary-seed",
        type=int,
        default=0,
        metavar="N",
        help="Seed of everything that is drawn.",
    )
    group.addoption(
        "--fritillary-golden",
        default=None,
        metavar="FILE",
        help="The golden playthrough of the game.",
    )
    group.addoption(
        "--fritillary-update-golden",
        action="store_true",
        help="Write the golden playthrough instead of comparing with it.",
    )


def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add one item for each law; -k and the like come after this."""
    if config.getoption("fritillary_game"):
        from fritillary.testing.items import items_of

        items += items_of(session)


# What pytest.hookimpl(tryfirst=True) does, without importing pytest here.
pytest_collection_modifyitems.pytest_impl = {  # type: ignore[attr-defined]
    "wrapper": False,
    "hookwrapper": False,
    "optionalhook": False,
    "tryfirst": True,
    "trylast": False,
    "specname": None,
}
