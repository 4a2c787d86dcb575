"""The parts of the report that need no server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from examples.connect_four import connect_four

from benchmarks import games, in_process, profiles, searching, start_up, workers
from benchmarks.pairs import Workload, rate, ratio_of
from benchmarks.playing import (
    bare_playouts,
    calibrator,
    checked_playouts,
    copies,
    game_of,
    installed,
    offered_playouts,
    plain_playouts,
    playouts,
    registry,
    whole_playouts,
)
from benchmarks.rows import Bench, OnCompiled
from benchmarks.searching import EXPLORATION
from fritillary.core.info import Information
from fritillary_games import lepidoptery
from fritillary_games.butterfly_garden.board import EMPTY

_BARE: Final = "bare Connect Four"
_SIMULATIONS: Final = "simulations/s"


def _cards_to_act(state: Any) -> int:
    """Count the cards of the seat to act in Lepidoptery: three bits a rank."""
    hand = state.hands[state.to_move]
    return sum(hand >> shift & 7 for shift in range(0, 30, 3))


def _tiles(state: Any) -> int:
    return sum(tile != EMPTY for tile in state.board)


def _discs(state: Any) -> int:
    return int(state.board.bit_count())


def _drawn(state: Any) -> int:
    return 44 - len(state.deck)


#: Game, what grows, little of it and much, its name, and how much more time is fair:
#: with four times the cards four times; a fuller board is to cost little.
_GROWTH: Final = (
    ("lepidoptery", _cards_to_act, (2, 4), (11, 13), "cards", 4.0),
    ("butterfly-garden", _tiles, (0, 4), (40, 48), "tiles", 1.3),
    ("lost-cities", _drawn, (0, 4), (34, 42), "cards drawn", 1.3),
    ("connect-four", _discs, (0, 4), (24, 32), "discs", 1.3),
)

#: Where the game is long: this share of the simulations of a decision.
_LONG: Final = {"lost-cities": 0.25, "butterfly-garden": 0.5}


#: What is also played by the loop that the framework has: game, id, what it is called,
#: the peer, against what, and its work.
_OFFERED: Final = (
    (
        *("connect-four", "connect-four", "Connect Four", "open-spiel"),
        *("OpenSpiel from Python", ("open_spiel.playouts", "connect_four")),
    ),
    (
        *("fast-tic-tac-toe", "tic-tac-toe", "tic-tac-toe with tables", "open-spiel"),
        *("OpenSpiel from Python", ("open_spiel.playouts", "tic_tac_toe")),
    ),
    (
        *("lost-cities", "lost-cities", "Lost Cities", "rlcard"),
        *("RLCard's fastest (Leduc)", ("rlcard.playouts", "leduc-holdem")),
    ),
)


def _profiled(workload: Workload) -> Callable[[], None]:
    return lambda: profiles.show_workload(workload)


def start_up_part(bench: Bench) -> None:
    for id, what, arguments, most in (
        ("import", "import fritillary", ("-c", "import fritillary"), 0.1),
        ("help", "fritillary --help", ("-m", "fritillary", "--help"), 0.3),
    ):
        samples, bare = start_up.measured(arguments, max(bench.rounds, 3))
        bench.value(
            f"start-up.{id}",
            f"{what} (python -c pass: {bare:.3f})",
            samples,
            "s of CPU",
            most,
            at_most=True,
        )


def playouts_part(bench: Bench) -> None:
    four, cells = game_of("connect-four"), game_of("fast-tic-tac-toe")
    here = playouts(four)
    for id, what, workload, against, work, target, also in (
        (
            "connect-four.open-spiel",
            "Connect Four playouts",
            here,
            "OpenSpiel from Python",
            ("open_spiel.playouts", "connect_four"),
            1.0,
            OnCompiled(("playouts", "connect-four"), 3.0),
        ),
        (
            "connect-four.open-spiel-documented",
            "Connect Four playouts",
            here,
            "OpenSpiel as documented",
            ("open_spiel.documented", "connect_four"),
            None,
            None,
        ),
        (
            "connect-four-copies.open-spiel",
            "Connect Four, a copy each ply",
            copies(four),
            "OpenSpiel, a clone each ply",
            ("open_spiel.copies", "connect_four"),
            1.0,
            OnCompiled(("copies", "connect-four"), 3.5),
        ),
        (
            "tic-tac-toe.open-spiel",
            "tic-tac-toe with tables, playouts",
            playouts(cells),
            "OpenSpiel from Python",
            ("open_spiel.playouts", "tic_tac_toe"),
            1.5,
            OnCompiled(("playouts", "fast-tic-tac-toe"), 3.0),
        ),
        (
            "tic-tac-toe.open-spiel-python",
            "tic-tac-toe with tables, playouts",
            playouts(cells),
            "OpenSpiel's game in Python",
            ("open_spiel.playouts", "python_tic_tac_toe"),
            20.0,
            OnCompiled(("playouts", "fast-tic-tac-toe"), 70.0),
        ),
        (
            "tic-tac-toe-example.open-spiel-python",
            "tic-tac-toe as in examples/, playouts",
            playouts(game_of("tic-tac-toe")),
            "OpenSpiel's game in Python",
            ("open_spiel.playouts", "python_tic_tac_toe"),
            None,
            OnCompiled(("playouts", "tic-tac-toe")),
        ),
        (
            "connect-four.pettingzoo",
            "Connect Four playouts",
            here,
            "PettingZoo env()",
            ("pettingzoo.playouts", "connect_four_v3"),
            50.0,
            None,
        ),
        (
            "tic-tac-toe.pettingzoo",
            "tic-tac-toe with tables, playouts",
            playouts(cells),
            "PettingZoo env()",
            ("pettingzoo.playouts", "tictactoe_v3"),
            50.0,
            None,
        ),
        (
            "connect-four.pgx",
            "Connect Four playouts",
            here,
            "pgx, 8,192 games at a time",
            ("pgx.playouts", "connect_four", 8_192),
            None,
            OnCompiled(("playouts", "connect-four")),
        ),
        (
            "lost-cities.rlcard",
            "Lost Cities playouts",
            playouts(game_of("lost-cities")),
            "RLCard's fastest (Leduc)",
            ("rlcard.playouts", "leduc-holdem"),
            10.0,
            OnCompiled(("playouts", "lost-cities"), 30.0),
        ),
        (
            "lepidoptery.rlcard",
            "Lepidoptery playouts",
            playouts(game_of("lepidoptery")),
            "RLCard's fastest (Leduc)",
            ("rlcard.playouts", "leduc-holdem"),
            None,
            OnCompiled(("playouts", "lepidoptery")),
        ),
        *(
            (
                f"{id}.{peer}-offered",
                f"{what} by fritillary.playout",
                offered_playouts(game_of(game)),
                against,
                work,
                None,
                OnCompiled(("offered", game)),
            )
            for game, id, what, peer, against, work in _OFFERED
        ),
    ):
        bench.against_peer(id, what, workload, against, work, "plies/s", target, also)
    bench.compare(
        "connect-four.bare",
        "Connect Four playouts through Game",
        plain_playouts(four),
        "its rules by hand",
        bare_playouts(connect_four),
        "plies/s",
        0.95,
        OnCompiled(
            ("plain", "connect-four"),
            0.9,
            ("bare", "examples.connect_four.connect_four"),
        ),
    )
    bench.compare(
        "lepidoptery.bare",
        "Lepidoptery playouts through Game",
        plain_playouts(game_of("lepidoptery")),
        "its rules by hand",
        bare_playouts(lepidoptery),
        "plies/s",
        0.9,
        OnCompiled(
            ("plain", "lepidoptery"), 0.9, ("bare", "fritillary_games.lepidoptery")
        ),
    )
    for id, variant, wrapper in (
        ("wrapped", "unchanged", "a wrapper on legal_actions"),
        ("generator", "unchanged-guarded", "a wrapper that keeps its generator"),
    ):
        for name in ("lepidoptery", "connect-four"):
            bench.compare(
                f"{name}.{id}",
                f"{game_of(name).info.title} with {wrapper}",
                playouts(game_of(f"{name}+{variant}")),
                "without",
                playouts(game_of(name)),
                "plies/s",
                0.7,
            )


def games_part(bench: Bench) -> None:
    for name in installed():
        bench.compare(
            f"{name}.calibrator",
            f"{game_of(name).info.title} playouts",
            playouts(game_of(name)),
            _BARE,
            calibrator,
            "plies/s",
            0.22 if name == "lepidoptery" else None,
            OnCompiled(("playouts", name), 0.35 if name == "lepidoptery" else None),
        )
        state, observation, record, plies = games.sizes(name)
        for id, what, size in (
            ("state", "largest state of a match", state),
            ("observation", "largest observation of a match", observation),
            ("record", f"record of a match of {plies} plies", record),
        ):
            bench.value(
                f"{name}.{id}-size",
                f"{game_of(name).info.title}: {what}",
                [size],
                "bytes",
            )


def match_part(bench: Bench) -> None:
    bench.compare(
        "match.lepidoptery",
        "refereed recorded match, Lepidoptery",
        in_process.refereed_matches,
        "its bare playout",
        in_process.match_playouts,
        "matches/s",
        0.3,
    )
    bench.compare(
        "match.connect-four",
        "refereed recorded Connect Four",
        in_process.refereed_plies,
        _BARE,
        calibrator,
        "plies/s",
        0.3,
    )
    for id, against, work in (
        ("pettingzoo", "PettingZoo env()", ("pettingzoo.playouts", "connect_four_v3")),
        ("kaggle", "kaggle-environments env.step", ("kaggle.steps", "connectx")),
    ):
        bench.against_peer(
            f"match.connect-four.{id}",
            "refereed recorded Connect Four",
            in_process.refereed_plies,
            against,
            work,
            "plies/s",
        )
    bench.compare(
        "match.play",
        "Connect Four through Game.play, each action checked",
        checked_playouts(game_of("connect-four")),
        _BARE,
        calibrator,
        "plies/s",
    )
    for name, share, when in (
        ("lepidoptery", 0.0, "first"),
        ("lepidoptery", 0.5, "middle"),
        ("lepidoptery", 1.0, "last"),
        ("lost-cities", 0.5, "middle"),
        ("butterfly-garden", 0.5, "middle"),
    ):
        workload = in_process.restores(name, share)
        workload(bench.seconds / 8)
        micros = [1e6 / rate(workload, bench.seconds / 4) for _ in range(bench.rounds)]
        size = len(in_process.encoded(name, share))
        bench.value(
            f"restore.{name}.{when}",
            f"restore the {when} state of {game_of(name).info.title}, {size} bytes",
            micros,
            "us",
            15.0,
            at_most=True,
            profile=_profiled(workload),
        )


def search_part(bench: Bench) -> None:
    here = searching.searches("connect-four", (), bench.simulations)
    arguments = ("connect_four", bench.simulations, EXPLORATION)
    bench.against_peer(
        "mcts.open-spiel-python",
        f"mcts, Connect Four, {bench.simulations:,} simulations",
        here,
        "OpenSpiel's in Python",
        ("open_spiel.python_mcts", *arguments),
        _SIMULATIONS,
        5.0,
    )
    bench.against_peer(
        "mcts.open-spiel",
        f"mcts, Connect Four, {bench.simulations:,} simulations",
        here,
        "OpenSpiel's in C++",
        ("open_spiel.mcts", *arguments),
        _SIMULATIONS,
        0.25,
        OnCompiled(("searches", "connect-four", bench.simulations), 1.0),
    )
    bench.compare(
        "mcts.playouts",
        "mcts, Connect Four, simulations",
        here,
        "playouts alone",
        whole_playouts(game_of("connect-four")),
        _SIMULATIONS,
    )
    for name in installed():
        count = round(bench.simulations * _LONG.get(name, 1))
        bench.compare(
            f"ismcts.{name}",
            f"ismcts, {game_of(name).info.title}, {count:,} simulations",
            searching.searches(name, (), count),
            f"plies of {_BARE}",
            calibrator,
            _SIMULATIONS,
            on_compiled=OnCompiled(("searches", name, count)),
        )
    hidden = [
        name
        for name, info in registry().games()
        if info.information is Information.HIDDEN
    ]
    done = sum(map(searching.searchable, hidden))
    bench.value(
        "ismcts.hidden",
        f"games with hidden information that ismcts plays, of {len(hidden)} here",
        [done],
        "games",
        len(hidden),
    )


def growth_part(bench: Bench) -> None:
    for name, size, small, large, of, most in _GROWTH:
        title = game_of(name).info.title
        few, many = (searching.positions(name, size, *span) for span in (small, large))
        words = [f"{low} to {high} {of}" for low, high in (large, small)]
        bench.cost(
            f"growth.{name}.ply",
            f"{title}, time of a ply at {words[0]}",
            searching.plies_at(name, many),
            f"at {words[1]}",
            searching.plies_at(name, few),
            "plies/s",
            most,
        )
        bench.cost(
            f"growth.{name}.simulation",
            f"{title}, time of a simulation at {words[0]}",
            searching.searches(name, many, bench.simulations // 10),
            f"at {words[1]}",
            searching.searches(name, few, bench.simulations // 10),
            _SIMULATIONS,
            most,
        )
    for name in ("connect-four", *installed()):
        title = game_of(name).info.title
        once = round(bench.simulations * _LONG.get(name, 1))
        often = 4 * once
        little, much = (searching.memory_of(name, count) for count in (once, often))
        bench.ratio(
            f"growth.{name}.memory",
            f"{title}, memory of a simulation among {often:,}",
            f"among {once:,}",
            ratio_of([much], [little, little]),
            "bytes",
            1.2,
            at_most=True,
        )
        bench.cost(
            f"growth.{name}.simulations",
            f"{title}, time of a simulation among {often:,}",
            searching.searches(name, (), often),
            f"among {once:,}",
            searching.searches(name, (), once),
            _SIMULATIONS,
            1.5,
        )
    both, alone = workers.one_and_two(
        "lepidoptery", rounds=bench.rounds, seconds=bench.seconds
    )
    bench.ratio(
        "growth.workers.cpu",
        "playouts for a second of CPU, 2 worker processes",
        "1 process",
        ratio_of([one.per_cpu for one in both], [one.per_cpu for one in alone]),
        "plies/s",
        0.9,
    )
    bench.ratio(
        "growth.workers",
        "playouts in a second on the wall, 2 worker processes",
        "1 process",
        ratio_of([one.per_second for one in both], [one.per_second for one in alone]),
        "plies/s",
    )
