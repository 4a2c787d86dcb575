# ruff: noqa: ARG005 - hooks have the arguments that they must have
"""Playing a stranger's record again does not take all time and all memory."""

import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.cli.conftest import Run, one_line
from tests.plugins import nim
from tests.record.support import all_events, closed, first, play

from fritillary import FastDealer, Registry
from fritillary.cli import fetching_at_server
from fritillary.cli.budget import Budget
from fritillary.codec.packing import to_json
from fritillary.core.commitment import commitment
from fritillary.core.errors import RecordError
from fritillary.plugins.discovery import DISABLED
from fritillary.record.events import Ended, Header, Revealed
from fritillary.record.terms import EndKind

COMMANDS = ("verify", "show", "export", "analyse")

#: Installs Nim with other hooks.
Install = Callable[..., None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    # The example of that name may be installed.
    monkeypatch.setenv(DISABLED, "nim")
    load = Registry.load

    def installed(**hooks: Any) -> None:
        def loaded(registry: Registry) -> None:
            load(registry)
            registry.add_game(nim.plugin(**hooks))

        monkeypatch.setattr(Registry, "load", loaded)

    return installed


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """The record of a match of Nim."""
    registry = Registry()
    registry.add_game(nim.plugin())
    path = tmp_path / "m.frec"
    path.write_bytes(play("pig", first, first, setup={"game": registry.game("nim")}))
    return path


def bounds() -> tuple[object, ...]:
    return (
        resource.getrlimit(resource.RLIMIT_DATA),
        signal.getsignal(signal.SIGPROF),
        signal.getitimer(signal.ITIMER_PROF),
    )


def endless() -> Any:
    while True:
        pass


def large() -> Any:
    return bytearray(1 << 40)


def catches() -> Any:
    """Go on whatever is raised, as long as it is only once."""
    try:
        endless()
    except BaseException:  # noqa: BLE001 - that is the point
        endless()


#: What `fritillary verify` and its like ask of a game, made of what it does.
HOOKS: dict[str, Callable[[Callable[[], Any]], Any]] = {
    "all_actions": lambda does: lambda options, seats: does(),
    "new_state": lambda does: lambda options, seats, dealer: does(),
    "decision_point": lambda does: lambda state: does(),
    "legal_actions": lambda does: lambda state: does(),
    "apply_action": lambda does: lambda state, action: does(),
    "draw_text": lambda does: lambda observation: does(),
}

PLAYED = tuple(hook for hook in HOOKS if hook != "draw_text")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("hook", PLAYED)
def test_rules_that_take_too_long_are_stopped_with_one_line(
    run: Run, install: Install, record: Path, hook: str, command: str
) -> None:
    install(**{hook: HOOKS[hook](endless)})
    before = bounds()
    code, said, errors = run(command, record, "--max-time", "100ms")
    assert (code, said) == (1, "")
    assert one_line(errors) == (
        f"error: {record}: playing it again takes longer than 0.1 s; "
        "--max-time allows more"
    )
    assert errors.endswith("[record.limit]\n")
    assert bounds() == before


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("hook", PLAYED)
def test_rules_that_take_too_much_memory_are_stopped_with_one_line(
    run: Run, install: Install, record: Path, hook: str, command: str
) -> None:
    install(**{hook: HOOKS[hook](large)})
    before = bounds()
    code, said, errors = run(command, record)
    assert (code, said) == (1, "")
    assert one_line(errors) == (
        f"error: {record}: playing it again takes more memory than it may; "
        "--max-memory allows more"
    )
    assert errors.endswith("[record.limit]\n")
    assert bounds() == before


def test_a_picture_that_takes_too_long_is_stopped_too(
    run: Run, install: Install, record: Path
) -> None:
    install(draw_text=HOOKS["draw_text"](endless))
    code, _, errors = run("show", record, "--max-time", "100ms")
    assert code == 1
    assert "record.limit" in errors


def test_rules_that_catch_what_stops_them_are_stopped_again(
    run: Run, install: Install, record: Path
) -> None:
    install(all_actions=HOOKS["all_actions"](catches))
    code, _, errors = run("verify", record, "--max-time", "100ms")
    assert code == 1
    assert "record.limit" in errors


def test_a_search_that_takes_too_much_memory_is_stopped_with_one_line(
    run: Run, install: Install, record: Path
) -> None:
    """The match is played again, the search goes where nobody has played."""
    played = nim.apply_action
    again = 0

    def apply_action(state: Any, action: Any) -> None:
        nonlocal again
        again += 1
        if again > 200:
            large()
        played(state, action)

    install(apply_action=apply_action)
    for words in ((), ("--ply", "1")):
        again = 0
        before = bounds()
        code, said, errors = run("analyse", record, "--seed", "1", *words)
        assert (code, said) == (1, "")
        assert one_line(errors) == (
            f"error: {record}: searching takes more memory than it may; "
            "--max-memory allows more"
        )
        assert bounds() == before


@pytest.mark.parametrize("hook", ["legal_actions", "decision_point"])
def test_a_position_that_takes_too_long_to_be_read_is_stopped_with_one_line(
    run: Run, install: Install, tmp_path: Path, hook: str
) -> None:
    registry = Registry()
    registry.add_game(nim.plugin())
    game = registry.game("nim")
    state = game.new(FastDealer(0), game.options(), 2)
    path = tmp_path / "position.json"
    path.write_text(to_json(game.codec.observation_to_data(game.observe(state, 0))))
    install(**{hook: HOOKS[hook](endless)})
    code, said, errors = run(*("analyse", path, "--game", "nim", "--max-time", "100ms"))
    assert (code, said) == (1, "")
    assert one_line(errors) == (
        f"error: {path}: reading it takes longer than 0.1 s; --max-time allows more"
    )


def test_the_time_of_a_search_is_what_was_asked_for(
    run: Run, install: Install, record: Path
) -> None:
    install()
    code, said, errors = run(
        *("analyse", record, "--ply", "1", "--time", "700ms", "--max-time", "300ms")
    )
    assert code == 0, errors
    assert said


def test_options_that_need_a_table_without_end_are_found_out(
    run: Run, install: Install, record: Path
) -> None:
    """A record of a match that was never dealt, as small as any."""
    header, *_, revealed, _ = all_events(record.read_bytes())
    assert isinstance(header, Header)
    assert isinstance(revealed, Revealed)
    registry = Registry()
    registry.add_game(nim.plugin())
    options = registry.game("nim").codec.encode_options(nim.Options(most=10**15))
    bound = commitment(
        header.match_id,
        options,
        bytes.fromhex(revealed.seed),
        bytes.fromhex(revealed.salt),
    )
    header = attrs.evolve(header, options=options.hex(), commitment=bound.hex())
    ended = Ended(EndKind.VOID, "host.closing", "it has to end")
    record.write_bytes(closed([header, ended, revealed]))
    assert record.stat().st_size < 2_000
    install()
    code, _, errors = run("verify", record, "--max-time", "200ms")
    assert code == 1
    assert "takes longer than 0.2 s" in one_line(errors)


def test_the_records_after_one_that_takes_too_long_are_verified(
    run: Run, install: Install, record: Path, frec: Path
) -> None:
    install(all_actions=HOOKS["all_actions"](endless))
    code, said, errors = run("verify", record, frec, "--max-time", "1s")
    assert code == 1
    assert said.startswith(f"verified {frec}")
    assert str(record) in one_line(errors)


def test_a_record_that_cannot_be_judged_is_no_result(
    run: Run, install: Install, record: Path
) -> None:
    install(all_actions=HOOKS["all_actions"](large))
    code, said, errors = run("verify", record, "--json")
    assert (code, said) == (1, "")
    assert "record.limit" in errors


@pytest.mark.parametrize("command", COMMANDS)
def test_both_limits_can_be_lifted(
    run: Run, install: Install, record: Path, command: str
) -> None:
    before = bounds()
    seen = []

    def looks(options: Any, seats: int) -> Any:
        seen.append(bounds())
        return nim.all_actions(options, seats)

    install(all_actions=looks)
    words = ("--iterations", 9) if command == "analyse" else ()
    limits = ("--max-time", "none", "--max-memory", "none")
    assert run(command, record, *limits, *words)[0] == 0
    assert set(seen) == {before}


def test_a_limit_that_is_none_is_refused(run: Run, frec: Path) -> None:
    for words, told in (
        (("--max-time", "0"), "--max-time '0' leaves no time"),
        (("--max-time", "soon"), "'soon' is no duration"),
        (("--max-memory", "0"), "--max-memory '0' is no number of GiB"),
        (("--max-memory", "nan"), "--max-memory 'nan' is no number of GiB"),
        (("--max-memory", "much"), "--max-memory 'much' is no number of GiB"),
    ):
        code, said, errors = run("verify", frec, *words)
        assert (code, said) == (2, "")
        assert told in one_line(errors)


def test_a_record_that_was_fetched_is_kept_where_it_takes_too_much(
    run: Run, install: Install, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(all_actions=HOOKS["all_actions"](large))
    raw = record.read_bytes()
    target = record.with_name("fetched.frec")

    async def fetched(_: Any) -> bytes:
        return raw

    monkeypatch.setattr(fetching_at_server, "_fetch", fetched)
    there = ("--server", "127.0.0.1:1", "--token", "t")
    code, _, errors = run("matches", "fetch", "m-test", "-o", target, *there)
    assert code == 0
    assert "chain and signature hold; it was not played again" in errors
    assert "'fritillary verify' with --max-memory allows more" in errors
    assert target.read_bytes() == raw


def test_a_limit_that_is_met_where_nothing_can_be_raised_comes_again() -> None:
    class Last:
        def __del__(self) -> None:
            while True:
                pass

    def endless() -> None:
        with Budget(100, None).spent_by():
            Last()
            while True:
                pass

    with pytest.raises(RecordError, match=r"longer than 0\.1 s"):
        endless()
