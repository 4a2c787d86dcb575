"""The laws of a game as items of pytest; see the plugin of this distribution."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fritillary.core.errors import FritillaryError
from fritillary.plugins.game import Game
from fritillary.testing.certificate import (
    Judgement,
    Verdict,
    check_of,
    judge,
    plan_for,
)
from fritillary.testing.checks import Subject
from fritillary.testing.fresh import find_game
from fritillary.testing.laws import LAWS

if TYPE_CHECKING:
    from _pytest._code.code import TerminalRepr


class LawBroken(Exception):  # noqa: N818 - it is shown as it is, without a traceback
    """A law that is broken, or on which nothing can be said."""

    def __init__(self, judgement: Judgement) -> None:
        super().__init__(str(judgement))


class LawItem(pytest.Item):
    """One law of one game."""

    def __init__(self, *, subject: Subject, law: str, **more: Any) -> None:  # noqa: ANN401
        super().__init__(**more)
        self.subject = subject
        self.law = law

    def runtest(self) -> None:
        """Check the law."""
        judgement = judge(self.subject, self.law)
        if judgement.verdict is Verdict.SKIPPED:
            # That there is nothing to look at was found out while looking.
            pytest.skip(judgement.reason)
        if not judgement.good:
            raise LawBroken(judgement)

    def repr_failure(
        self,
        excinfo: pytest.ExceptionInfo[BaseException],
        style: Any = None,  # noqa: ANN401 - as pytest has it
    ) -> str | TerminalRepr:
        """Show where the law is broken, without a traceback."""
        if isinstance(excinfo.value, LawBroken):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Name the item."""
        return self.path, None, f"{self.subject.game.id}: {self.law}"


class GameCollector(pytest.Collector):
    """The laws of one game."""

    def __init__(self, *, subject: Subject, **more: Any) -> None:  # noqa: ANN401
        super().__init__(**more)
        self.subject = subject

    def collect(self) -> Iterator[pytest.Item]:
        """Yield an item for every law that applies to the game."""
        for law in LAWS:
            game: Game[Any, Any, Any] = self.subject.game
            if law == "playthrough.current" and self.subject.golden is None:
                continue
            if not check_of(law).needs(game):
                yield LawItem.from_parent(self, name=law, subject=self.subject, law=law)


def items_of(session: pytest.Session) -> list[pytest.Item]:
    """Return an item for every law of the games that the options name.

    Raises:
        pytest.UsageError: if there is no such game or profile.
    """
    config = session.config
    items: list[pytest.Item] = []
    for source in config.getoption("fritillary_game"):
        try:
            game = find_game(source)
            profile = config.getoption("fritillary_profile")
            plan = plan_for(profile, seed=config.getoption("fritillary_seed"))
        except FritillaryError as error:
            raise pytest.UsageError(error.message) from error
        golden = config.getoption("fritillary_golden")
        subject = Subject(
            game,
            plan,
            source,
            None if golden is None else config.invocation_params.dir / golden,
            config.getoption("fritillary_update_golden"),
        )
        collector = GameCollector.from_parent(
            session, name=f"fritillary:{source}", subject=subject
        )
        items.extend(collector.collect())
    return items
