"""``fritillary analyse``."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Self

import typer
from attrs import frozen
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from fritillary.app.application import Application
from fritillary.bots.search.analysis import (
    Analyst,
    GoOn,
    Judgement,
    Position,
    Taken,
    chosen,
    taken_in,
)
from fritillary.cli.analyse_input import (
    MANY,
    ONE,
    Searching,
    bytes_of,
    check_kind,
    position_in,
    searching,
)
from fritillary.cli.analyse_output import (
    USUAL_TOP,
    match_data,
    position_data,
    print_data,
    print_match,
    print_position,
)
from fritillary.cli.budget import MEMORY, TIME, Budget, MaxMemory, MaxTime
from fritillary.cli.files import naming
from fritillary.cli.interrupted import leave
from fritillary.cli.output import console
from fritillary.cli.together import leave_out
from fritillary.cli.values import Json, Options, Preset, check_seat, game_and_options
from fritillary.core.errors import UsageError
from fritillary.plugins.game import Game
from fritillary.record.chain import MAGIC
from fritillary.record.reader import read_record
from fritillary.record.replay import Replay, replayed

#: Of a record so many decisions are told.
_USUAL_WORST: Final = 5

#: The bar moves when so much more of a search is done.
_STEP: Final = 0.01

_PARTIAL: Final = "this is partial"


def analyse(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A match record, or with --game a position: an observation as JSON or "
            "msgpack, or the game's own notation. '-' reads standard input.",
        ),
    ],
    game_id: Annotated[
        str,
        typer.Option("--game", metavar="GAME", help="Of a position: its game."),
    ] = "",
    option: Options = None,
    preset: Preset = "",
    ply: Annotated[
        int | None,
        typer.Option(
            "--ply",
            metavar="N",
            help="Of a record: this decision only, numbered as 'fritillary show' does.",
        ),
    ] = None,
    seat: Annotated[
        int | None,
        typer.Option("--seat", metavar="K", help="Decisions of seat K only."),
    ] = None,
    bot: Annotated[
        str,
        typer.Option(
            "--bot",
            metavar="PLAYER",
            help="The search: mcts (the default where all is seen), ismcts (where "
            "something is hidden) or flat-mc; such as ismcts:exploration=1.",
        ),
    ] = "",
    iterations: Annotated[
        int | None,
        typer.Option(
            "--iterations",
            metavar="N",
            min=1,
            help=f"Of each decision; default: {ONE:,} for one, {MANY:,} for many.",
        ),
    ] = None,
    time: Annotated[
        str,
        typer.Option(
            "--time", metavar="TIME", help="Of each decision, such as 2s or 500ms."
        ),
    ] = "",
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", metavar="N", help="Same seed, same answer, unless --time counts."
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            "--top",
            metavar="K",
            min=1,
            help="Of a position, or with --ply: list K actions; default: "
            f"{USUAL_TOP}, with --json all.",
        ),
    ] = None,
    worst: Annotated[
        int | None,
        typer.Option(
            "--worst",
            metavar="K",
            min=0,
            help=f"Of a record: the K that lost most; default: {_USUAL_WORST}.",
        ),
    ] = None,
    max_time: MaxTime = TIME,
    max_memory: MaxMemory = MEMORY,
    as_json: Json = False,
) -> None:
    """Search for the best actions, in a position or throughout a match.

    What is searched is what the seat that decides knows, even where the input holds
    more. Each decision of a record is compared with the best that was found, and
    those that lost most are told. Ctrl-C gives the answer so far. --max-time bounds
    what is read, not the search; --max-memory bounds both.

    Example: fritillary analyse match.frec --ply 12 --iterations 20000
    """
    raw, name = bytes_of(file)
    check_kind(raw, name, game=bool(game_id))
    app = Application()
    budget = Budget.parse(max_time, max_memory)
    if ply is None and raw.startswith(MAGIC):
        why = "--ply N chooses a decision; without it no actions are listed"
        leave_out(why, {"--top": top}, code="top")
    else:
        why = "one decision is analysed, and none is worse than others"
        leave_out(why, {"--worst": worst}, code="worst")
    count = _USUAL_WORST if worst is None else worst
    wish = _Wish(name, budget, bot, iterations, time, seed, top, count, as_json)
    if not raw.startswith(MAGIC):
        if ply is not None:
            raise UsageError("--ply is for match records", code="usage.ply")
        game, options = game_and_options(app, game_id, option, preset)
        with naming(Path(name)), budget.spent_by(doing="reading it"):
            position = position_in(raw, name, game, options, seat)
        _analyse_one(wish, position)
        return
    if option or preset:
        msg = f"{name}: a match record has its options; leave out --option, --preset"
        raise UsageError(msg, code="usage.option")
    registry = app.registry
    with naming(Path(name)), budget.spent_by():
        replay = replayed(read_record(raw), registry)
        check_seat(seat, replay.seats)
        taken = chosen(taken_in(replay), replay.ply, ply=ply, seat=seat)
    if ply is None:
        _analyse_match(wish, replay, taken)
    else:
        _analyse_one(wish, taken[0].position, taken[0], _headline(replay, taken[0]))


@frozen
class _Wish:
    """What is asked for besides the decisions; see `analyse`.

    The name is that of the file, the budget what reading and searching may take.
    """

    name: str
    budget: Budget
    bot: str
    iterations: int | None
    time: str
    seed: int | None
    top: int | None
    worst: int
    as_json: bool

    def search(self, game: Game[Any, Any, Any], usual: int) -> Searching:
        """Return the search, with its usual iterations if none are asked for."""
        return searching(
            game,
            self.bot,
            iterations=self.iterations,
            time=self.time,
            seed=self.seed,
            usual=usual,
        )

    @contextlib.contextmanager
    def bounded(self) -> Iterator[None]:
        """Bound the memory of what is done in a ``with`` block: a search.

        Raises:
            RecordError: naming the file, if it takes more.
        """
        with naming(Path(self.name)), self.budget.of_memory.spent_by(doing="searching"):
            yield


def _analyst(search: Searching, go_on: GoOn) -> Analyst:
    apart = search.objective == "place"
    return Analyst(search.bot, search.budget, search.seed, go_on, apart=apart)


def _analyse_one(
    wish: _Wish, position: Position, taken: Taken | None = None, headline: str = ""
) -> None:
    """Analyse one decision, and what was chosen if anything was."""
    search = wish.search(position.game, ONE)
    with wish.bounded(), _Watched(1) as watched:
        analyst = _analyst(search, watched.go_on)
        found = analyst.search(position)
        judgement = None if taken is None else analyst.judge(taken, found)
    if wish.as_json:
        data = position_data(search, position, found, top=wish.top, judgement=judgement)
        print_data(data, partial=analyst.stopped)
    elif found.iterations:
        print_position(
            search,
            position,
            found,
            top=wish.top or USUAL_TOP,
            judgement=judgement,
            headline=headline,
        )
    if analyst.stopped:
        leave(f"{_PARTIAL}: the search was not finished")


def _analyse_match(wish: _Wish, replay: Replay, taken: Sequence[Taken]) -> None:
    """Analyse decisions of a match."""
    game, header = replay.game, replay.record.header
    search = wish.search(game, MANY)
    judgements: list[Judgement] = []
    with wish.bounded(), _Watched(len(taken)) as watched:
        analyst = _analyst(search, watched.go_on)
        for each in taken:
            watched.begin(f"ply {each.ply} of {replay.ply}")
            judgement = analyst.judge(each)
            if analyst.stopped:
                break
            judgements.append(judgement)
    if wish.as_json:
        data = match_data(search, header, judgements, game, count=wish.worst)
        print_data(data, partial=analyst.stopped)
    elif judgements:
        print_match(search, header, judgements, game, count=wish.worst)
    if analyst.stopped:
        leave(f"{_PARTIAL}: {len(judgements)} of {len(taken)} decisions were analysed")


def _headline(replay: Replay, taken: Taken) -> str:
    header, seat = replay.record.header, taken.position.seat
    return (
        f"{header.game.full_id}, match {header.match_id}, ply {taken.ply} of "
        f"{replay.ply}: seat {seat} ({header.seats[seat].player.name}) is to act"
    )


class _Watched(contextlib.AbstractContextManager["_Watched"]):
    """Shows how far searches are, and ends them at Ctrl-C; a second one ends all.

    Args:
        searches: how many there will be.
    """

    def __init__(self, searches: int) -> None:
        self._left = contextlib.ExitStack()
        self._progress = Progress(
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.description}"),
            TimeRemainingColumn(),
            console=console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self._task = self._progress.add_task("", total=searches)
        self._begun = -1
        self._shown = 0.0
        self._stopped = False

    def __enter__(self) -> Self:
        # Other threads have no signals.
        with contextlib.suppress(ValueError):
            before = signal.signal(signal.SIGINT, self._stop)
            self._left.callback(signal.signal, signal.SIGINT, before)
        self._left.enter_context(self._progress)
        return self

    def __exit__(self, *error: object) -> None:
        self._left.close()

    def _stop(self, number: int, frame: object) -> None:
        if self._stopped:
            raise KeyboardInterrupt
        self._stopped = True

    def begin(self, what: str) -> None:
        """Say what is searched next."""
        self._begun += 1
        self._show(0.0)
        self._progress.update(self._task, description=what)

    def go_on(self, share: float) -> bool:
        """Show which share of a search is done; say whether it goes on."""
        if not 0 <= share - self._shown < _STEP:
            self._show(share)
        return not self._stopped

    def _show(self, share: float) -> None:
        self._shown = share
        done = max(self._begun, 0) + share
        self._progress.update(self._task, completed=done)
