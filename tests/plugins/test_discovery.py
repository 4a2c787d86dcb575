"""Finding plugins: each is loaded on its own, and a broken one harms nobody."""

from __future__ import annotations

import asyncio
import sys
import types
from collections.abc import Callable, Iterator
from importlib import metadata
from typing import Any

import pytest
from attrs import frozen
from tests.plugins import nim

from fritillary import PluginError, Registry
from fritillary.core.errors import AmbiguousGameError, UnknownGameError
from fritillary.plugins import discovery


@frozen
class Distribution:
    name: str


@frozen
class Point:
    """An entry point of nobody's distribution."""

    name: str
    load: Callable[[], Any]
    dist: Distribution | None = Distribution("games-inc")
    value: str = "some.module"


def game_called(game_id: str) -> Any:
    return nim.plugin(**nim.described(id=game_id)).module


def repr_of(value: object) -> str:
    return (
        type(value).__name__ if isinstance(value, BaseException) else ascii(value)[:9]
    )


def broken(error: BaseException) -> Callable[[], Any]:
    def load() -> Any:
        raise error

    return load


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Point]]:
    """Return the entry points that are found, by group; tests fill them."""
    found: dict[str, list[Point]] = {discovery.GAMES: [], discovery.VARIANTS: []}
    monkeypatch.setattr(metadata, "entry_points", lambda *, group: found[group])
    monkeypatch.delenv(discovery.DISABLED, raising=False)
    return found


def loaded() -> Registry:
    registry = Registry()
    registry.load()
    return registry


def game(name: str, distribution: str = "games-inc") -> Point:
    return Point(name, lambda: game_called(name), Distribution(distribution))


def variant(name: str, games: list[str], distribution: str = "games-inc") -> Point:
    def format_action(action: Any):
        return f"{(yield)} ({name})"

    module = nim.variant(name, games, format_action=format_action).module
    return Point(name, lambda: module, Distribution(distribution))


def test_nothing_is_loaded_before_it_is_asked_for(points: Any) -> None:
    points[discovery.GAMES].append(Point("bad", broken(AssertionError())))
    assert Registry().games() == []
    assert Registry().variants() == []


def test_games_and_variants_are_listed_in_the_order_of_their_ids(points: Any) -> None:
    points[discovery.GAMES] += [game("zoo"), game("abc")]
    points[discovery.VARIANTS] += [variant("x", ["zoo"]), variant("a", ["zoo"])]
    registry = loaded()
    assert [name for name, _ in registry.games()] == ["abc", "zoo"]
    assert [name for name, _ in registry.variants()] == ["a", "x"]
    assert [info.id for _, info in registry.games()] == ["abc", "zoo"]
    assert registry.problems == []


def test_the_real_entry_points_can_be_read() -> None:
    registry = loaded()
    for name, info in registry.games():
        assert registry.game(name).info == info


# ---------------------------------------------------------------- broken plugins


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ImportError("no module named x"), "ImportError: no module named x"),
        (ZeroDivisionError("oops"), "ZeroDivisionError: oops"),
        (SystemExit(3), "SystemExit: 3"),
        (PluginError("nim: do better"), "nim: do better"),
        (RecursionError(), "RecursionError: "),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_a_broken_plugin_is_skipped_with_its_reason(
    points: Any, error: BaseException, reason: str
) -> None:
    points[discovery.GAMES] += [Point("bad", broken(error)), game("good")]
    points[discovery.VARIANTS] += [Point("worse", broken(error))]
    registry = loaded()
    assert [name for name, _ in registry.games()] == ["good"]
    assert registry.problems == [
        discovery.Problem("bad", "games-inc", reason),
        discovery.Problem("worse", "games-inc", reason),
    ]


class Panic(BaseException):
    """As an extension module or a test runner raises it."""


class MuteError(Exception):
    def __str__(self) -> str:
        msg = "no text"
        raise Panic(msg)

    __repr__ = __str__


class GarbledError(PluginError):
    @property
    def message(self) -> str:
        return "\x1b[31m\n" + "x" * 10**6


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (MuteError(), "MuteError: "),
        (Panic("help"), "Panic: help"),
        (GeneratorExit(), "GeneratorExit: "),
        (asyncio.CancelledError(), "CancelledError: "),
        (
            RuntimeError("boom\x1b[31m [red]\nsecond"),
            "RuntimeError: boom\ufffd[31m [red]\ufffdsecond",
        ),
        (ValueError("y" * 10**6), f"ValueError: {'y' * 385}..."),
        (GarbledError(""), f"\ufffd[31m\ufffd{'x' * 991}..."),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_whatever_a_plugin_raises_is_one_short_line(
    points: Any, error: BaseException, reason: str
) -> None:
    points[discovery.GAMES] += [Point("bad", broken(error)), game("good")]
    registry = loaded()
    assert [name for name, _ in registry.games()] == ["good"]
    assert [problem.reason for problem in registry.problems] == [reason]


@pytest.mark.parametrize("error", [MuteError(), Panic("x"), SystemExit(0)], ids=repr_of)
@pytest.mark.parametrize("hook", ["describe", "bots"])
def test_a_hook_that_is_asked_on_loading_harms_nobody_either(
    points: Any, hook: str, error: BaseException
) -> None:
    hooks: dict[str, Any] = {hook: broken(error)}
    module = nim.plugin(**hooks).module
    points[discovery.GAMES] += [Point("bad", lambda: module), game("good")]
    registry = loaded()
    assert [name for name, _ in registry.games()] == ["good"]
    (problem,) = registry.problems
    assert f"bad: {hook}() failed: " in problem.reason


@pytest.mark.parametrize(
    "value", ["a:b:c", "", "os:", "my-module", "a b", "x\x1b\n" * 10**5], ids=repr_of
)
def test_an_entry_point_that_cannot_be_read_gets_one_line_with_the_mend(
    points: Any, value: str
) -> None:
    points[discovery.GAMES].append(metadata.EntryPoint("odd", value, discovery.GAMES))
    (problem,) = loaded().problems
    assert problem.reason.startswith(f"odd: the entry point {value!r:.20}"[:40])
    assert problem.reason.endswith("cannot be read; write 'package.module'")
    assert problem.reason.isprintable()
    assert len(problem.reason) < 200


def test_names_in_problems_are_short_lines(points: Any) -> None:
    name = "\x1b[2J" * 1_000
    points[discovery.GAMES].append(
        Point(name, broken(ValueError()), Distribution(name))
    )
    (problem,) = loaded().problems
    for text in (problem.name, problem.distribution):
        assert len(text) == 100
        assert text.isprintable()


def test_a_file_of_entry_points_that_cannot_be_read_hides_no_other(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, line in {
        "broken": "no equals sign",
        "sound": "nim = tests.plugins.nim",
    }.items():
        folder = tmp_path / f"{name}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\n")
        (folder / "entry_points.txt").write_text(f"[{discovery.GAMES}]\n{line}\n")
    monkeypatch.syspath_prepend(tmp_path)
    registry = loaded()
    # The example of that name may be installed.
    assert registry.game("sound:nim").distribution == "sound"
    (problem,) = [one for one in registry.problems if one.distribution == "broken"]
    assert problem.name == ""
    assert "entry_points.txt of broken cannot be read" in problem.reason


def test_a_game_that_cannot_be_built_with_a_variant_is_an_error_of_the_plugin(
    points: Any,
) -> None:
    def describe() -> Any:
        (yield)
        raise Panic

    module = nim.variant("x", describe=describe).module
    points[discovery.GAMES] += [game("nim")]
    points[discovery.VARIANTS] += [Point("x", lambda: module)]
    with pytest.raises(PluginError, match=r"describe\(\) failed: Panic"):
        loaded().game("nim+x")


def test_an_interrupt_by_the_user_gets_through(points: Any) -> None:
    points[discovery.GAMES].append(Point("slow", broken(KeyboardInterrupt())))
    with pytest.raises(KeyboardInterrupt):
        loaded()


@pytest.mark.parametrize(
    "rubbish",
    [None, 3, "nim", object(), int],
    ids=["nothing", "number", "text", "object", "class"],
)
def test_an_entry_point_that_names_no_plugin_is_a_problem(
    points: Any, rubbish: Any
) -> None:
    points[discovery.GAMES].append(Point("odd", lambda: rubbish))
    (problem,) = loaded().problems
    assert "odd: the hook describe() is missing" in problem.reason


def test_a_plugin_that_breaks_the_contract_is_a_problem(points: Any) -> None:
    module = nim.plugin(legal_actions=None).module
    points[discovery.GAMES] += [Point("nim", lambda: module), game("zoo")]
    points[discovery.VARIANTS] += [Point("v", lambda: module)]
    registry = loaded()
    assert [problem.name for problem in registry.problems] == ["nim", "v"]
    assert "legal_actions() is missing" in registry.problems[0].reason
    with pytest.raises(UnknownGameError) as caught:
        registry.game("nim")
    assert "no game 'nim' (it was skipped: nim: the hook legal_actions()" in str(
        caught.value
    )


def test_a_plugin_without_a_distribution_loads(points: Any) -> None:
    points[discovery.GAMES].append(Point("nim", lambda: game_called("nim"), None))
    assert loaded().game("nim").distribution == ""


# --------------------------------------------------------------------- equal ids


def test_one_id_of_two_distributions_is_reached_by_its_full_name(points: Any) -> None:
    points[discovery.GAMES] += [game("nim", "b-games"), game("nim", "a-games")]
    points[discovery.GAMES] += [game("zoo", "a-games")]
    registry = loaded()
    assert [name for name, _ in registry.games()] == [
        "a-games:nim",
        "b-games:nim",
        "zoo",
    ]
    for name in ("a-games", "b-games"):
        assert registry.game(f"{name}:nim").distribution == name
    assert registry.game("a-games:zoo").id == "zoo"
    with pytest.raises(AmbiguousGameError) as caught:
        registry.game("nim")
    said = caught.value.message
    assert said == "several plugins are the game 'nim'; say a-games:nim or b-games:nim"


def test_variants_of_one_id_are_told_apart_likewise(points: Any) -> None:
    points[discovery.GAMES] += [game("nim")]
    points[discovery.VARIANTS] += [
        variant("x", ["nim"], "a-games"),
        variant("x", ["nim"], "b-games"),
    ]
    registry = loaded()
    assert registry.game("nim+b-games:x").id == "nim+x"
    with pytest.raises(AmbiguousGameError, match="the variant 'x'; say a-games:x or b"):
        registry.game("nim+x")
    with pytest.raises(PluginError, match="variant x is named twice"):
        registry.game("nim+b-games:x+a-games:x")


def test_one_distribution_uses_an_id_once(points: Any) -> None:
    other = Point("other", lambda: game_called("nim"))
    points[discovery.GAMES] += [game("nim"), other]
    registry = loaded()
    assert registry.game("nim").id == "nim"
    (problem,) = registry.problems
    assert problem.reason == (
        "other: nim of the same distribution has the id 'nim' already; choose another"
    )


def test_games_added_by_hand_have_no_distribution(points: Any) -> None:
    registry = Registry()
    registry.add_game(nim.plugin())
    points[discovery.GAMES].append(game("nim"))
    registry.load()
    assert [name for name, _ in registry.games()] == [":nim", "games-inc:nim"]
    assert registry.game(":nim").distribution == ""
    with pytest.raises(PluginError, match="choose another"):
        registry.add_game(nim.plugin())


# ------------------------------------------------------------------ finding a game


def test_variants_are_named_after_plus_signs_in_any_order(points: Any) -> None:
    points[discovery.GAMES].append(game("nim"))
    points[discovery.VARIANTS] += [variant("a", ["nim"]), variant("b", ["nim"])]
    registry = loaded()
    both = registry.game("nim+b+a")
    assert both.id == "nim+a+b"
    assert registry.game("nim+a+b") is both
    assert both.format_action(nim.Take(1)) == "take 1 (a) (b)"
    assert registry.game("nim").format_action(nim.Take(1)) == "take 1"


def test_a_game_is_built_once_until_something_is_added(points: Any) -> None:
    points[discovery.GAMES].append(game("nim"))
    registry = loaded()
    built = registry.game("nim")
    assert registry.game("nim") is built
    registry.add_variant(nim.variant("x"))
    assert registry.game("nim") is not built
    assert registry.game("nim+x").id == "nim+x"


def test_few_of_the_combinations_of_variants_are_kept_and_all_games_without(
    points: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "_KEPT_VARIED", 2)
    points[discovery.GAMES].append(game("nim"))
    points[discovery.VARIANTS] += [variant(name, ["nim"]) for name in "abc"]
    registry = loaded()
    plain, first = registry.game("nim"), registry.game("nim+a")
    registry.game("nim+b")
    assert registry.game("nim+a") is first
    registry.game("nim+c")
    assert registry.game("nim+a") is first
    registry.game("nim+b")
    registry.game("nim+a+b")
    again = registry.game("nim+a")
    assert again is not first
    assert again.id == "nim+a"
    assert registry.game("nim") is plain


def test_a_variant_for_another_game_does_not_fit(points: Any) -> None:
    points[discovery.GAMES] += [game("nim"), game("zoo")]
    points[discovery.VARIANTS].append(variant("x", ["zoo"]))
    with pytest.raises(PluginError, match="variant x is not for nim, but for zoo"):
        loaded().game("nim+x")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nym", "no game 'nym'; did you mean 'nim'? 'fritillary games' lists what is"),
        ("chess", "no game 'chess'; 'fritillary games' lists what is installed"),
        ("", "no game ''; 'fritillary games' lists"),
        ("nim+pas", "no variant 'pas'; did you mean 'pass'? 'fritillary games' lists"),
        ("nim+", "no variant ''; 'fritillary games' lists"),
        ("other:nim", "no game 'other:nim'; did you mean"),
        ("x" * 10**6, f"no game '{'x' * 60}'; 'fritillary games' lists"),
    ],
    ids=lambda text: text[:20],
)
def test_unknown_names_are_refused_with_the_nearest(
    points: Any, name: str, message: str
) -> None:
    points[discovery.GAMES] += [game("nim"), game("zoo")]
    points[discovery.VARIANTS] += [variant("pass", ["nim"])]
    with pytest.raises(UnknownGameError) as caught:
        loaded().game(name)
    assert caught.value.message.startswith(message)


def test_plugins_are_switched_off_by_the_environment(
    points: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(discovery.DISABLED, " nim , x,, ")
    points[discovery.GAMES] += [Point("nim", broken(AssertionError())), game("zoo")]
    points[discovery.VARIANTS] += [variant("x", ["zoo"]), variant("y", ["zoo"])]
    registry = loaded()
    assert [name for name, _ in registry.games()] == ["zoo"]
    assert [name for name, _ in registry.variants()] == ["y"]
    assert registry.problems == []
    with pytest.raises(UnknownGameError, match="disabled by FRITILLARY_DISABLED_PLUGI"):
        registry.game("nim")


def test_the_plugin_of_a_variant_can_be_asked_for(points: Any) -> None:
    points[discovery.VARIANTS] += [variant("x", ["nim"], "a-games")]
    points[discovery.GAMES] += [Point("bad", broken(ValueError()))]
    registry = loaded()
    assert registry.variant_plugin("x").distribution == "a-games"
    assert registry.variant_plugin("a-games:x").name == "x"
    with pytest.raises(UnknownGameError, match="no variant 'zzz'; 'fritillary games'"):
        registry.variant_plugin("zzz")


# ----------------------------------------------------------------- a real module


@pytest.fixture
def written_module(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Write a game module that takes a marked hook from another module."""
    (tmp_path / "borrowing_game.py").write_text(
        "from tests.plugins.nim import *\n"
        "from tests.plugins.nim import describe as describe\n"
        "def _helper(): ...\n"
        "CONSTANT = 3\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield "borrowing_game"
    sys.modules.pop("borrowing_game", None)


def test_a_module_may_borrow_marked_hooks(points: Any, written_module: str) -> None:
    point = metadata.EntryPoint("borrowing", written_module, discovery.GAMES)
    points[discovery.GAMES].append(point)
    registry = loaded()
    # The star brings helpers of the test module along, one of them named plugin.
    assert registry.problems == []
    assert registry.game("nim").legal_actions is nim.legal_actions


def test_a_module_of_a_game_is_shared_between_registries(points: Any) -> None:
    module = types.SimpleNamespace(**nim.HOOKS)
    points[discovery.GAMES].append(Point("nim", lambda: module))
    one, two = loaded().game("nim"), loaded().game("nim")
    assert one is not two
    assert one.legal_actions is two.legal_actions
