"""What ``fritillary analyse`` prints: candidates, a match ply by ply, data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

from rich.table import Table
from rich.text import Text

from fritillary.bots.search.analysis import Judgement, Position, Taken, worst
from fritillary.bots.search.found import Candidate, Found
from fritillary.cli.analyse_input import Searching
from fritillary.cli.asked import notation, picture
from fritillary.cli.output import (
    console,
    one_line,
    print_json,
    print_text,
    say,
    show,
    styled,
)
from fritillary.plugins.game import Game
from fritillary.record.events import Header
from fritillary.record.terms import Source

#: Candidates of one decision that are listed if no number is asked for.
USUAL_TOP: Final = 8

_BARS: Final = " ▏▎▍▌▋▊▉█"
_STEPS: Final = "▁▂▃▄▅▆▇█"

#: Columns of a bar, and of the course of a match at most.
_BAR: Final = 12
_COURSE: Final = 40

#: Columns of the table of actions that are always taken: rank, value, range and bar,
#: with what lies between; and the least that is worth a principal line.
_FIXED: Final = 4 + 7 + 6 + _BAR + 6 * 2
_LEAST: Final = 12

#: Digits of values in JSON.
_DIGITS: Final = 4


def meaning(searching: Searching, seats: int) -> str:
    """Return what a value from 0 to 1 says, in words."""
    wins = "how often the seat to act wins from there on, a tie counting one half"
    if seats > 2:
        wins = (
            "the share of the other seats that the seat to act beats in the end, a tie "
            "counting one half"
        )
    if searching.objective == "score":
        return (
            "the lead in points of the seat to act at the end: 50 % is level, 100 % "
            "the largest lead that the search has met"
        )
    if searching.objective == "both":
        return f"nine parts {wins}, and one part its lead in points"
    return wins


def unit(searching: Searching, seats: int) -> str:
    """Return the heading of values."""
    return "wins" if searching.objective == "place" and seats == 2 else "value"


def _about(searching: Searching, seats: int, made: str) -> None:
    print_text(f"{searching.text}, seed {searching.seed}: {made}.")
    print_text(
        f"{unit(searching, seats)}: {meaning(searching, seats)}. The range beside it "
        "is what chance leaves open (95 %), not how wrong the search may be."
    )


# -------------------------------------------------------------------- one decision


def print_position(
    searching: Searching,
    position: Position,
    found: Found,
    *,
    top: int,
    judgement: Judgement | None = None,
    headline: str = "",
) -> None:
    """Print a position, and what was found of its actions.

    Args:
        searching: how it was found.
        position: which was analysed.
        found: of it.
        top: list so many actions at most; and the one that was played.
        judgement: of what was played, if anything was.
        headline: what the position is; else its game and seat.
    """
    game = position.game
    say((headline or f"{game.id}: seat {position.seat} is to act", "bold"))
    print()
    show(picture(game, position.observation).rstrip("\n"))
    print()
    _about(searching, position.seats, f"{found.iterations:,} iterations")
    print()
    played = None if judgement is None else judgement.played.action
    ranked = list(enumerate(found.ranked, 1))
    listed = [
        (rank, each) for rank, each in ranked if rank <= top or each.action == played
    ]
    texts = [notation(game, each.action) for _, each in listed]
    visits = [f"{each.visits:,}" for _, each in listed]
    taken = max(map(len, texts)) + max(6, *map(len, visits)) + _FIXED
    room = console().width - taken
    # In a narrow terminal the bar goes first, then actions are broken; numbers never.
    barred = room >= 0
    table = _table()
    for heading in (" " * 4, "action", unit(searching, position.seats), "range"):
        named = heading == "action"
        side: Literal["left", "right"] = "left" if named else "right"
        table.add_column(heading, justify=side, no_wrap=not named, overflow="fold")
    table.add_column("", no_wrap=True)
    table.add_column("visits", justify="right", no_wrap=True)
    table.add_column("then" if room > _LEAST else "", no_wrap=True)
    for (rank, each), text, looked in zip(listed, texts, visits, strict=True):
        mark = "▸" if each.action == played else ""
        table.add_row(
            styled(f"{mark}{rank:>3}"),
            styled(text),
            styled(_percent(each, ".1f")),
            styled((_interval(each), "dim")),
            styled((_bar(each) if barred else "", "green" if rank == 1 else "cyan")),
            styled(looked),
            styled((_cut(_line(game, each), room) if room > _LEAST else "", "dim")),
            style="bold" if rank == 1 else "",
        )
    _print(table)
    left = len(ranked) - len(listed)
    if left:
        say((f"      and {left} more", "dim"))
    if judgement is not None:
        print()
        _print_played(game, judgement)


def _print_played(game: Game[Any, Any, Any], judgement: Judgement) -> None:
    """Print how the action that was played compares with the best one."""
    text = notation(game, judgement.played.action)
    start = f"▸ {text} was played{_by_whom(judgement.taken)}: "
    if len(judgement.taken.position.legal) == 1:
        say(start, "nothing else was legal.")
    elif judgement.played.action == judgement.best.action:
        say(start, ("nothing better was found.", "bold green"))
    else:
        lost = f"{100 * judgement.loss:.1f} points were given away"
        apart = ", each searched alone:" if judgement.apart else ":"
        say(start, (lost, _colour(judgement)), apart)
        _print_two(game, judgement)


# ----------------------------------------------------------------------- a whole match


def print_match(
    searching: Searching,
    header: Header,
    judgements: Sequence[Judgement],
    game: Game[Any, Any, Any],
    *,
    count: int,
) -> None:
    """Print what was found of the decisions of a match.

    Args:
        searching: how.
        header: of the record.
        judgements: of its decisions, in order.
        game: the rules.
        count: how many of those that lost most are told apart.
    """
    seats = len(header.seats)
    name = unit(searching, seats)
    say((header.game.full_id, "bold"), f"  match {header.match_id}")
    print()
    _about(searching, seats, "each decision from what its seat knew")
    print()
    table = _table()
    table.add_column("ply", justify="right")
    table.add_column("seat", justify="right")
    table.add_column("played", overflow="fold")
    table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("best", overflow="fold")
    table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("lost", justify="right", no_wrap=True)
    for each in judgements:
        table.add_row(*_row(game, each))
    _print(table)
    if any(map(_certain, judgements)):
        say(("! the two ranges do not overlap", "dim"))
    print()
    _print_seats(header, judgements, name)
    losing = worst(judgements, count)
    if losing:
        print()
        _print_worst(header, game, losing)


def _row(game: Game[Any, Any, Any], judgement: Judgement) -> list[Text]:
    taken, played, best = judgement.taken, judgement.played, judgement.best
    text = notation(game, played.action) + _by_whom(taken)
    start = [str(taken.ply), str(taken.position.seat), text]
    if judgement.found is None:
        return [styled(each, style="dim") for each in (*start, "", "", "forced")]
    own = [styled(each) for each in (*start, _percent(played, ".0f"))]
    own.append(styled((_interval(played), "dim")))
    if best.action == played.action:
        return [*own, styled(("=", "green"))]
    return [
        *own,
        styled(notation(game, best.action)),
        styled(_percent(best, ".0f")),
        styled((_interval(best), "dim")),
        styled((_lost(judgement), _colour(judgement))),
    ]


def _by_whom(taken: Taken) -> str:
    return "" if taken.source is Source.PLAYER else f" ({taken.source.value})"


def _lost(judgement: Judgement) -> str:
    if not judgement.loss:
        return ""
    return f"{'!' if _certain(judgement) else ''}{100 * judgement.loss:.1f}"


def _certain(judgement: Judgement) -> bool:
    """Say whether what was lost is more than what the search cannot tell."""
    return judgement.played.interval[1] < judgement.best.interval[0]


def _colour(judgement: Judgement) -> str:
    if not judgement.loss:
        return "green"
    return "bold red" if _certain(judgement) else "yellow"


def _print_seats(header: Header, judgements: Sequence[Judgement], name: str) -> None:
    table = _table()
    table.add_column("seat", justify="right")
    table.add_column("player", overflow="fold")
    table.add_column("choices", justify="right")
    table.add_column("best", justify="right")
    table.add_column("!", justify="right")
    table.add_column("lost per choice", justify="right")
    table.add_column(f"course of {name}", no_wrap=True)
    for seat, about in enumerate(header.seats):
        own = [each for each in judgements if each.taken.position.seat == seat]
        free = [each for each in own if each.found is not None]
        best = sum(each.played.action == each.best.action for each in free)
        lost = sum(each.loss for each in free) / max(len(free), 1)
        if own:
            table.add_row(
                styled(str(seat)),
                styled(about.player.name),
                styled(f"{len(free):,}"),
                styled(f"{best:,}"),
                styled(f"{sum(map(_certain, free)):,}"),
                styled(f"{100 * lost:.1f}"),
                styled((_course(free), "cyan")),
            )
    _print(table)


def _print_worst(
    header: Header, game: Game[Any, Any, Any], losing: Sequence[Judgement]
) -> None:
    say(("Lost most", "bold"))
    for rank, each in enumerate(losing, 1):
        seat = each.taken.position.seat
        who = f"seat {seat} ({header.seats[seat].player.name})"
        say(
            f"{rank:>3}  ply {each.taken.ply}, {who}: ",
            (f"{100 * each.loss:.1f} points", _colour(each)),
        )
        _print_two(game, each)


def _print_two(game: Game[Any, Any, Any], judgement: Judgement) -> None:
    """Print what was played and the best, one below the other."""
    two = judgement.played, judgement.best
    width = max(len(notation(game, one.action)) for one in two)
    for word, one in zip(("played", "best"), two, strict=True):
        text = notation(game, one.action)
        numbers = f"{_percent(one, '.0f'):>7}  {_interval(one):>6}"
        line = f"     {word:6}  {text:{width}}{numbers}"
        then = _line(game, one)
        room = console().width - len(line) - 8
        more = f"  then {_cut(then, room)}" if then and room > 1 else ""
        say(line, (more, "dim"))


# ------------------------------------------------------------------------ small parts


def _table() -> Table:
    return Table(box=None, pad_edge=False, header_style="bold")


def _print(table: Table) -> None:
    console().print(table, soft_wrap=False)


def _percent(one: Candidate, form: str) -> str:
    return f"{100 * one.value:{form}} %" if one.visits else "?"


def _interval(one: Candidate) -> str:
    low, high = one.interval
    return f"{100 * low:.0f}–{100 * high:.0f}"


def _bar(one: Candidate) -> str:
    eighths = round(one.value * _BAR * 8) if one.visits else 0
    full, rest = divmod(eighths, 8)
    return (_BARS[8] * full + _BARS[rest].strip()).ljust(_BAR)


def _line(game: Game[Any, Any, Any], one: Candidate) -> str:
    """Return what the principal line has after an action, in notation."""
    return ", ".join(notation(game, action) for action in one.line[1:])


def _cut(text: str, room: int) -> str:
    line = one_line(text)
    return line if len(line) <= room else f"{line[: room - 1]}…"


def _course(judgements: Sequence[Judgement]) -> str:
    """Return the values of what was played as one row of bars, means if too many."""
    values = [each.played.value for each in judgements]
    columns = min(len(values), _COURSE)
    return "".join(
        _STEPS[min(int(8 * sum(part) / len(part)), 7)]
        for part in (
            values[at * len(values) // columns : (at + 1) * len(values) // columns]
            for at in range(columns)
        )
    )


# ------------------------------------------------------------------------------- data


def position_data(
    searching: Searching,
    position: Position,
    found: Found,
    *,
    top: int | None,
    judgement: Judgement | None = None,
) -> dict[str, Any]:
    """Return what was found of one decision as data; values are from 0 to 1."""
    game = position.game
    data: dict[str, Any] = {
        **_search_data(searching, game, position.seats),
        "options": game.codec.options_to_data(position.options),
        "seat": position.seat,
        "observation": game.codec.observation_to_data(position.observation),
        "iterations": found.iterations,
        "candidates": [_candidate_data(game, each) for each in found.ranked[:top]],
    }
    if judgement is not None:
        data |= _judgement_data(game, judgement)
    return data


def match_data(
    searching: Searching,
    header: Header,
    judgements: Sequence[Judgement],
    game: Game[Any, Any, Any],
    *,
    count: int,
) -> dict[str, Any]:
    """Return what was found of a match as data; values are from 0 to 1."""
    return {
        "match_id": header.match_id,
        **_search_data(searching, game, len(header.seats)),
        "decisions": [_judgement_data(game, each) for each in judgements],
        "worst": [each.taken.ply for each in worst(judgements, count)],
    }


def print_data(data: dict[str, Any], *, partial: bool) -> None:
    """Print data, and whether they are all that was asked for."""
    print_json({**data, "whole": not partial})


def _search_data(
    searching: Searching, game: Game[Any, Any, Any], seats: int
) -> dict[str, Any]:
    return {
        "game": game.id,
        "seats": seats,
        "search": searching.text,
        "seed": searching.seed,
        "value": meaning(searching, seats),
    }


def _judgement_data(game: Game[Any, Any, Any], judgement: Judgement) -> dict[str, Any]:
    taken = judgement.taken
    write = _action_data if judgement.found is None else _candidate_data
    return {
        "ply": taken.ply,
        "seat": taken.position.seat,
        "source": taken.source.value,
        "forced": len(taken.position.legal) == 1,
        "played": write(game, judgement.played),
        "best": write(game, judgement.best),
        "loss": round(judgement.loss, _DIGITS),
    }


def _action_data(game: Game[Any, Any, Any], one: Candidate) -> dict[str, Any]:
    return {
        "action": game.codec.action_to_data(one.action),
        "text": notation(game, one.action),
    }


def _candidate_data(game: Game[Any, Any, Any], one: Candidate) -> dict[str, Any]:
    return {
        **_action_data(game, one),
        "visits": one.visits,
        "value": round(one.value, _DIGITS),
        "interval": [round(each, _DIGITS) for each in one.interval],
        "line": [notation(game, action) for action in one.line],
    }
