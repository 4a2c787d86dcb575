"""The build hook of the compiled build: rules and search through mypyc.

It is off unless ``HATCH_BUILD_HOOK_ENABLE_CUSTOM`` is set, so that the usual wheel is
``py3-none-any``. What is compiled stands in ``pyproject.toml``. The sources are copied
first; the states among them, mutable attrs classes, get a *native twin* there, since
mypyc makes ordinary Python classes of what ``attrs.define`` decorates, whose attributes
compiled code reads no faster than Python does. See docs/adr/0011.

A state ``State`` of ``package/model.py`` becomes

- ``package/model_native.py``: the same fields and methods as a plain class, compiled;
- ``package/model_fields.py``: the attrs class as it is written, not compiled, for its
  annotations, which compiled classes do not keep;
- in ``package/model.py`` itself: an import of the twin.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: Run in the folder of the sources; places each extension beside its module.
_SETUP: Final = """\
from mypyc.build import mypycify
from setuptools import setup

setup(
    name={group!r},
    packages=[],
    ext_modules=mypycify(
        {arguments!r}, opt_level="3", debug_level="0", group_name={group!r}
    ),
)
"""


class CompileError(Exception):
    """Nothing could be compiled; the message says why, in one line where it can."""


def missing() -> str:
    """Return what is needed for compiling and not there; empty if all is."""
    named = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    compiler = named.split()[0]
    if sys.platform != "win32" and not shutil.which(compiler):
        return f"a C compiler ({compiler}); install one, such as gcc"
    header = Path(sysconfig.get_path("include")) / "Python.h"
    if not header.is_file():
        return f"the headers of Python ({header}); install them, such as python3-dev"
    return ""


def compiled(
    root: Path, modules: Sequence[str], states: Iterable[str], group: str
) -> dict[Path, Path]:
    """Compile modules in place.

    Args:
        root: the folder of the sources, the caller's to change.
        modules: what is compiled, by name.
        states: attrs classes that get a native twin, each as ``module.Class``.
        group: name of the library that holds what is compiled.

    Returns:
        What was made or changed, absolute, with its place below ``root``.

    Raises:
        CompileError: if a tool is missing, or says that it cannot.
    """
    lacking = missing()
    if lacking:
        msg = f"compiling needs {lacking}"
        raise CompileError(msg)
    made = []
    names = list(modules)
    for state in states:
        module, _, name = state.rpartition(".")
        twin = Twin(_path(root, module), module, name)
        made += twin.write()
        names.append(twin.native)
    files = [_path(root, name).relative_to(root).as_posix() for name in names]
    # Packages need no __init__.py, so that single files can be compiled as well.
    flags = ["--config-file=", "--explicit-package-bases", "--ignore-missing-imports"]
    setup = root / "setup_compiled.py"
    setup.write_text(_SETUP.format(arguments=[*flags, *files], group=group), "utf-8")
    done = subprocess.run(
        [sys.executable, setup.name, "--quiet", "build_ext", "--inplace"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        msg = f"compiling failed:\n{done.stdout}{done.stderr}"
        raise CompileError(msg)
    setup.unlink()
    shutil.rmtree(root / "build")
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    made += [path.with_suffix(suffix) for path in (_path(root, n) for n in names)]
    made.append(root / f"{group}__mypyc{suffix}")
    return {path: path.relative_to(root) for path in made}


def _path(root: Path, module: str) -> Path:
    return root / f"{module.replace('.', '/')}.py"


class Twin:
    """The native twin of an attrs class.

    Args:
        path: of the module that has the class.
        module: its name.
        name: of the class.

    Raises:
        CompileError: if the class is more than can be told in a plain class.
    """

    def __init__(self, path: Path, module: str, name: str) -> None:
        self._path = path
        self._module = module
        self._name = name
        self._text = path.read_text("utf-8")
        self._tree = ast.parse(self._text)
        self._imports = [
            node
            for node in self._tree.body
            if isinstance(node, (ast.Import, ast.ImportFrom))
            and getattr(node, "module", "") != "__future__"
        ]
        found = [
            node
            for node in self._tree.body
            if isinstance(node, ast.ClassDef) and node.name == name
        ]
        if not found:
            msg = f"{module} has no class {name}"
            raise CompileError(msg)
        self._class = found[0]
        self.native = f"{module}_native"
        self.fields = f"{module}_fields"

    def write(self) -> list[Path]:
        """Write the two modules and change the third; return all three."""
        folder, stem = self._path.parent, self._path.stem
        native, fields = folder / f"{stem}_native.py", folder / f"{stem}_fields.py"
        native.write_text(self._native_text(), "utf-8")
        fields.write_text(self._fields_text(), "utf-8")
        lines = self._text.splitlines(keepends=True)
        marks = self._class.decorator_list
        first = min([self._class.lineno, *(mark.lineno for mark in marks)])
        lines[first - 1 : self._class.end_lineno] = [
            f"from {self.native} import {self._name} as {self._name}\n"
        ]
        self._path.write_text("".join(lines), "utf-8")
        return [native, fields, self._path]

    def _fields_text(self) -> str:
        """Return the module that has the attrs class as it is written.

        Its names are those of the module that it was cut out of, where attrs resolves
        them.
        """
        return _lines(
            "# mypy: ignore-errors",
            "# Generated from the module beside it.",
            "from __future__ import annotations",
            *map(ast.unparse, self._imports),
            "",
            ast.unparse(self._class),
        )

    def _native_text(self) -> str:
        """Return the module that has the twin."""
        fields = [*self._fields()]
        given = [field for field in fields if field.init]
        derived = [field for field in fields if not field.init]
        methods = {
            node.name: node
            for node in self._class.body
            if isinstance(node, ast.FunctionDef)
        }
        after = methods.pop("__attrs_post_init__", None)
        parameters = [
            f"{field.name}: {field.type}"
            + ("" if field.default is None else f" = {field.default}")
            for field in given
        ]
        name = self._name
        copies = [f"state.{field.name}{field.copying(name)}" for field in given]
        if after is not None:
            parameters.append(f"copied: {name} | None = None")
            copies.append("copied=state")
        body = [
            *(f"{field.name}: {field.type}" for field in fields),
            "",
            f"def __init__(self, {', '.join(parameters)}) -> None:",
            *(f"    self.{field.name} = {field.name}" for field in given),
        ]
        if after is not None:
            body += [
                "    if copied is not None:",
                *(f"        self.{one.name} = copied.{one.name}" for one in derived),
                "        return",
                *_indented(self._text_of(after.body), "    "),
            ]
        for method in methods.values():
            method.body[:0] = self._late(method.body)
            body += ["", *_indented(ast.unparse(method), "")]
        types = sorted(_definitions(self._tree) - {name, "__all__"})
        return _lines(
            "# Generated from the module beside it.",
            "from __future__ import annotations",
            "from typing import TYPE_CHECKING",
            *map(ast.unparse, self._imports),
            "from fritillary.plugins.native import adopt",
            f"from {self.fields} import {name} as _Fields",
            "if TYPE_CHECKING:",
            f"    from {self._module} import {', '.join(types)}",
            "",
            f"class {name}:",
            *_indented(_lines(*body), "    "),
            "",
            f"def copy_state(state: {name}) -> {name}:",
            f"    return {name}({', '.join(copies)})",
            "",
            f"adopt({name}, _Fields, copy_state)",
        )

    def _text_of(self, body: Sequence[ast.stmt]) -> str:
        return _lines(*map(ast.unparse, [*self._late(body), *body]))

    def _late(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Return the import of what some statements take from the module.

        It imports the twin, so that it cannot be imported at the top of the twin.
        """
        names = sorted(_names_in(body) & _definitions(self._tree) - {self._name})
        aliases = [ast.alias(name) for name in names]
        return [ast.ImportFrom(self._module, aliases, 0)] if names else []

    def _fields(self) -> Iterator[_Field]:
        for node in self._class.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                yield _Field(node.target.id, node.annotation, node.value)


class _Field:
    """A field of an attrs class, as it is written."""

    def __init__(self, name: str, annotation: ast.expr, value: ast.expr | None) -> None:
        self.name = name
        self.type = ast.unparse(annotation)
        self.init = True
        self.default: str | None = None
        if isinstance(value, ast.Call) and getattr(value.func, "id", "") == "field":
            given = {one.arg: one.value for one in value.keywords}
            self.init = ast.unparse(given.get("init", ast.Constant(True))) == "True"
            known = {"init", "eq", "repr", "default"}
            if "default" in given:
                self.default = ast.unparse(given["default"])
            if given.keys() - known:
                msg = f"field {name}: only {', '.join(sorted(known))} can be told"
                raise CompileError(msg)
        elif value is not None:
            self.default = ast.unparse(value)

    def copying(self, state: str) -> str:
        """Return what is put behind the field to copy what can change."""
        whole, _, inner = self.type.partition("[")
        if "list[" in inner or "dict[" in inner:
            msg = f"{state}.{self.name}: what can change is nested too deep for a twin"
            raise CompileError(msg)
        return ".copy()" if whole in {"list", "dict"} else ""


def _definitions(tree: ast.Module) -> set[str]:
    """Return the names that a module defines itself."""
    found = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        elif isinstance(node, ast.Assign):
            found |= {one.id for one in node.targets if isinstance(one, ast.Name)}
    return found


def _names_in(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that are read when some code runs, annotations left out."""
    names: set[str] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            names.add(node.id)
        for field, value in ast.iter_fields(node):
            if field in {"annotation", "returns"}:
                continue
            children = value if isinstance(value, list) else [value]
            waiting += [child for child in children if isinstance(child, ast.AST)]
    return names


def _indented(text: str, margin: str) -> list[str]:
    return [f"{margin}{line}" if line else "" for line in text.splitlines()]


def _lines(*lines: str) -> str:
    return "\n".join(lines) + "\n"


class CustomBuildHook(BuildHookInterface[Any]):
    """Puts the compiled modules beside their sources in the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile what ``modules`` and ``states`` name, and have it packed."""
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        root = Path(self._folder.name)
        sources: Mapping[str, str] = self.config["sources"]
        for package, folder in sources.items():
            shutil.copytree(
                Path(self.root, folder, package),
                root / package,
                ignore=shutil.ignore_patterns("__pycache__"),
            )
        modules = self.config["modules"]
        made = compiled(root, modules, self.config["states"], "fritillary")
        listing = root / "fritillary" / "COMPILED"
        listing.write_text(_lines(*sorted(modules)), "utf-8")
        made[listing] = listing.relative_to(root)
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["force_include"].update(
            {str(path): place.as_posix() for path, place in made.items()}
        )

    def finalize(
        self, version: str, build_data: dict[str, Any], artifact_path: str
    ) -> None:
        """Remove the copies."""
        if version != "editable":
            self._folder.cleanup()


def main(words: Sequence[str]) -> None:
    """Compile single modules below the working directory, or check the tools.

    Args:
        words: a folder and the modules to compile into it, each with a native twin
            of its ``State``; none to check the tools.
    """
    if not words:
        lacking = missing()
        sys.exit(f"compiling needs {lacking}" if lacking else 0)
    root, modules = Path(words[0]), words[1:]
    for module in modules:
        path = _path(root, module)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(_path(Path(), module), path)
    try:
        compiled(root, modules, [f"{module}.State" for module in modules], "rules")
    except CompileError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
