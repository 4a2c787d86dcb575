"""What the build hook makes of an attrs class, and what it refuses."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import hatch_build
import pytest

ROOT = Path(__file__).parents[2]

MODULE = '''\
"""A game."""

from attrs import define, field, frozen

SIZE = 3


@frozen
class Options:
    pass


def layout_of(options):
    return SIZE


@define
class State:
    """The truth."""

    options: Options
    cards: list[int]
    seen: tuple[tuple[int, ...], ...] = ()
    step: int = field(default=SIZE)
    layout: int = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self.layout = layout_of(self.options)

    @property
    def many(self) -> bool:
        return len(self.cards) > SIZE


def new_state(options: Options) -> State:
    return State(options, [1])
'''

COPYING = (
    "    return State(state.options, state.cards.copy(), state.seen, state.step, "
    "copied=state)"
)


def twin_of(tmp_path, text, name="State"):
    path = tmp_path / "model.py"
    path.write_text(text, "utf-8")
    twin = hatch_build.Twin(path, "model", name)
    made = twin.write()
    return {one.name: one.read_text("utf-8") for one in made}


def test_the_twin_has_fields_methods_and_a_copier(tmp_path):
    text = twin_of(tmp_path, MODULE)["model_native.py"]
    for line in (
        "class State:",
        "    cards: list[int]",
        "    def many(self) -> bool:",
        COPYING,
        "            self.layout = copied.layout",
        "        self.layout = layout_of(self.options)",
        "adopt(State, _Fields, copy_state)",
    ):
        assert f"\n{line}\n" in text, text


def test_what_the_module_defines_is_imported_where_it_is_used(tmp_path):
    # The module imports the twin: at its top the import would be circular.
    text = twin_of(tmp_path, MODULE)["model_native.py"]
    assert "\n        from model import layout_of\n" in text
    assert "\n        from model import SIZE\n" in text


def test_the_module_imports_the_twin_in_the_place_of_the_class(tmp_path):
    text = twin_of(tmp_path, MODULE)["model.py"]
    assert "@define\n" not in text
    assert "from model_native import State as State\n" in text
    assert text.index("def layout_of") < text.index("import State") < len(text)
    assert "def new_state(options: Options) -> State:" in text


def test_the_attrs_class_is_kept_for_its_annotations(tmp_path):
    text = twin_of(tmp_path, MODULE)["model_fields.py"]
    assert "@define\nclass State:" in text
    assert "    cards: list[int]\n" in text


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("list[int]", "list[list[int]]", "cards: what can change is nested too deep"),
        ("list[int]", "tuple[list[int], ...]", "nested too deep"),
        ("default=SIZE", "factory=int", "field step: only"),
        ("default=SIZE", "default=SIZE, validator=print", "field step: only"),
        ("class State", "class Position", "model has no class State"),
    ],
)
def test_what_it_does_not_know_is_refused(tmp_path, old, new, said):
    with pytest.raises(hatch_build.CompileError, match=said):
        twin_of(tmp_path, MODULE.replace(old, new))


def test_a_missing_compiler_is_told_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(hatch_build.CompileError) as raised:
        hatch_build.compiled(tmp_path, [], [], "nothing")
    assert "compiling needs a C compiler" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_make_compiled_is_told_so_before_anything_is_built():
    done = subprocess.run(
        [sys.executable, ROOT / "hatch_build.py"],
        env={"PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("compiling needs a C compiler")
    assert done.stderr.count("\n") == 1


def test_missing_headers_are_told_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    with pytest.raises(hatch_build.CompileError) as raised:
        hatch_build.compiled(tmp_path, [], [], "nothing")
    assert "compiling needs the headers of Python" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_what_the_compiler_says_is_passed_on(tmp_path):
    (tmp_path / "wrong.py").write_text("x: int = 'no'\n", "utf-8")
    with pytest.raises(hatch_build.CompileError, match="Incompatible types"):
        hatch_build.compiled(tmp_path, ["wrong"], [], "wrong")


def test_without_being_asked_nothing_is_compiled(tmp_path):
    build = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path)
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.iterdir()
    assert wheel.name.endswith("-py3-none-any.whl")
