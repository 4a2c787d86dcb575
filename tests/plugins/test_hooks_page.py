"""docs/hooks.md says what the code says, and every hook has its test."""

from __future__ import annotations

import ast
import inspect
import os
import re
from pathlib import Path

from tests.plugins import nim

from fritillary.plugins import specs
from fritillary.plugins.binding import (
    DEFAULTS,
    HOOKS,
    MUST,
    MUST_IF_HIDDEN,
    check_plugin,
)

PAGE = Path(__file__).parents[2] / "docs" / "hooks.md"
START = "<!-- The rest is generated from"

SOURCE = inspect.getsource(specs)
FUNCTIONS = {
    node.name: node
    for node in ast.parse(SOURCE).body
    if isinstance(node, ast.FunctionDef)
}


def signature(name: str) -> str:
    node = FUNCTIONS[name]
    assert node.returns is not None
    return f"{name}({ast.unparse(node.args)}) -> {ast.unparse(node.returns)}"


def body(name: str) -> str:
    """Return the docstring of a hook as Markdown."""
    lines = []
    section = ""
    for line in (inspect.getdoc(getattr(specs, name)) or "").splitlines():
        if line in {"Args:", "Returns:", "Raises:"}:
            section = line[:-1]
            lines += [f"{section}:", ""]
        elif section and line.startswith("    "):
            entry = re.match(r"    (\w+): (.*)", line)
            if entry and section in {"Args", "Raises"}:
                lines.append(f"- `{entry[1]}`: {entry[2]}")
            elif section in {"Args", "Raises"}:
                lines.append(f"  {line.strip()}")
            else:
                lines.append(line.strip())
        else:
            section = ""
            lines.append(line)
    text = "\n".join(lines)
    return re.sub(r"``([^`]+)``", r"`\1`", text)


def generated() -> str:
    parts = []
    for line in SOURCE.splitlines():
        if heading := re.match(r"# -{5,} (?:family: |the )?(\w+)", line):
            parts.append(f"## {heading[1].capitalize()}")
        elif function := re.match(r"def (\w+)\(", line):
            name = function[1]
            parts += [f"### {name}", f"```python\n{signature(name)}\n```", body(name)]
    return "\n\n".join(parts) + "\n"


def test_the_page_is_generated_from_the_specifications() -> None:
    head, _, rest = PAGE.read_text("utf-8").partition(START)
    marker, _, page = rest.partition("\n")
    if os.environ.get("FRITILLARY_REWRITE_GOLDEN"):
        page = f"\n{generated()}"
        PAGE.write_text(f"{head}{START}{marker}\n{page}", "utf-8")
    assert page == f"\n{generated()}"


def test_every_hook_has_a_heading_with_its_exact_signature() -> None:
    page = PAGE.read_text("utf-8")
    found = re.findall(r"^### (\w+)\n\n```python\n(.*)\n```$", page, re.MULTILINE)
    assert found == [(name, signature(name)) for name in HOOKS]


def test_what_a_hook_says_of_being_a_must_is_true() -> None:
    for name in HOOKS:
        document = inspect.getdoc(getattr(specs, name)) or ""
        # Those that are a must on some condition go on after the word.
        assert ("*Must.*" in document) == (name in MUST), name
        if name in MUST_IF_HIDDEN:
            assert "*Must* for hidden information" in document
        if name in DEFAULTS:
            assert re.search(r"[Dd]efault", document), name


def test_every_hook_has_a_test_named_after_it() -> None:
    source = (Path(__file__).parent / "test_hooks.py").read_text("utf-8")
    tests = re.findall(r"^def (test_\w+)", source, re.MULTILINE)
    for name in HOOKS:
        assert any(re.search(rf"_{name}(_|$)", test) for test in tests), name


def test_every_specification_is_a_hook_and_keeps_its_result() -> None:
    assert list(FUNCTIONS) == list(HOOKS)
    for name in HOOKS:
        assert getattr(specs, name).fritillary_spec["firstresult"] is True


def test_the_wrapper_and_the_hook_on_the_page_are_as_the_loader_wants_them() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    hook, wrapper = blocks[:2]
    scope: dict[str, object] = {}
    exec(hook, scope)  # noqa: S102 - our own page
    assert scope["decision_point"].fritillary_impl["wrapper"] is False  # type: ignore[attr-defined]
    exec(wrapper, scope)  # noqa: S102 - our own page
    plugin = nim.variant(legal_actions=scope["legal_actions"])
    assert "legal_actions" in check_plugin(plugin, variant=True)
