"""Servers that tell programs too much, or tell others what programs said."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import frozen
from tests.service.leakmutants import leaky, observing
from tests.service.leakprograms import SEAT

from fritillary.referee.lineup import PlayerSpec
from fritillary.referee.seen import Halted
from fritillary.service import children, hosted, showing
from fritillary.service.children import ChildSeat
from fritillary.service.spawn import Child


def _the_whole_environment(patch: Any) -> None:
    def environment(extra: Mapping[str, str]) -> dict[str, str]:
        return {**os.environ, **extra}

    patch.setattr(children, "minimal_environment", environment)


def _the_seed_as_an_argument(patch: Any) -> None:
    build = ChildSeat.__init__

    def built(self: ChildSeat, match: Any, *args: Any) -> None:
        build(self, match, *args)
        seeds[match.order.specs[SEAT].text] = match.order.seed.hex()

    def command_of(spec: PlayerSpec) -> tuple[str, ...]:
        # The last one is its exit code.
        return (*spec.command[:-2], seeds[spec.text], spec.command[-1])

    seeds: dict[str, str] = {}
    patch.setattr(ChildSeat, "__init__", built)
    patch.setattr(children, "command_of", command_of)


def _open_files(patch: Any) -> None:
    start = Child.start

    async def started(self: Child) -> None:
        descriptor = os.open(os.devnull, os.O_RDONLY)
        os.set_inheritable(descriptor, True)
        patch.setattr("asyncio.create_subprocess_exec", _leaving_open(descriptor))
        try:
            await start(self)
        finally:
            os.close(descriptor)

    patch.setattr(Child, "start", started)


def _leaving_open(descriptor: int) -> Any:
    import asyncio.subprocess as processes

    async def started(*argv: Any, **more: Any) -> Any:
        return await processes.create_subprocess_exec(
            *argv, **more, pass_fds=(descriptor,)
        )

    return started


def _last_words_in_the_ruling(patch: Any) -> None:
    how = Child.how_it_ended

    def told(self: Child, code: int, when: str = "") -> str:
        return f"{how(self, code, when)}: {self.last_words()}"

    patch.setattr(Child, "how_it_ended", told)


def _problems_for_all(patch: Any) -> None:
    show = showing.match_message

    def shown(match: Any, *, for_referee: bool) -> Any:
        message = show(match, for_referee=for_referee)
        if not for_referee:
            problems = show(match, for_referee=True).problems
            message.problems.extend(problems)
        return message

    patch.setattr(hosted, "match_message", shown)


def _troubles_for_all(patch: Any) -> None:
    trouble = ChildSeat._trouble

    def told(self: ChildSeat, what: str, child: Any = None) -> None:
        trouble(self, what, child)
        match = self._hosted.match
        if match is not None:
            match.teller.tell(match.ply, Halted(self._hosted.problems[-1][1]))

    patch.setattr(ChildSeat, "_trouble", told)


#: A game that tells how the deck lies.
DECK: Final = leaky(
    "deck",
    observe=observing(
        lambda state, _: {
            "deck": sum((place + 1) * card for place, card in enumerate(state.deck))
        }
    ),
)


@frozen
class Talkative:
    """A server that leaks.

    Args:
        change: breaks it; takes pytest's patch.
        viewer: who is told: the program, or the other seat.
        how: the program plays, see `leakprogram`.
        where: the gate finds it.
    """

    change: Callable[[Any], None]
    viewer: int
    how: str
    where: str


#: By name.
TALKATIVE: Final = {
    "the whole environment of the host": Talkative(
        _the_whole_environment, SEAT, "look", "given to a program: environ"
    ),
    "the seed as an argument": Talkative(
        _the_seed_as_an_argument, SEAT, "look", "given to a program: argv"
    ),
    "files of the host that are open": Talkative(
        _open_files, SEAT, "look", "given to a program: descriptors"
    ),
    "last words in the ruling": Talkative(
        _last_words_in_the_ruling, 1 - SEAT, "look", "in the record"
    ),
    "problems for others than referees": Talkative(
        _problems_for_all, 1 - SEAT, "look", "GetMatch"
    ),
    "troubles for all who listen": Talkative(
        _troubles_for_all, 1 - SEAT, "fail", "event.paused"
    ),
}
