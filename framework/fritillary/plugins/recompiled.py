"""Functions compiled once more from their source, changed or not."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Iterator, Sequence
from typing import Final, cast

#: What says, with the constants and flags, that two pieces of code do the same.
_SAME: Final = (
    "co_name",
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
    "co_code",
    "co_exceptiontable",
    "co_names",
    "co_varnames",
    "co_cellvars",
    "co_freevars",
)

#: Code compares constants with their types and signs, which tuples of them do not.
_BLANK: Final = compile("", "", "exec")


def definition_of(compiled: types.CodeType) -> ast.FunctionDef | None:
    """Return the definition of a function, if that is what it was compiled from.

    Decorators and annotations are left out, since they were evaluated when it was
    defined.

    Raises:
        Exception: any, since what stands in the file may be anything by now.
    """
    lines, _ = inspect.findsource(compiled)
    tree = ast.parse("".join(lines))
    for found in ast.walk(tree):
        if isinstance(found, ast.FunctionDef) and _stands_at(found, compiled):
            break
    else:
        return None
    found.decorator_list = []
    found.returns = None
    for argument in found.args.args:
        argument.annotation = None
    again = compiled_like(found, compiled, imports=[*_imported(tree)])
    return found if _is_same(again, compiled) else None


def _stands_at(found: ast.FunctionDef, compiled: types.CodeType) -> bool:
    first = found.decorator_list[0] if found.decorator_list else found
    return (found.name, first.lineno) == (compiled.co_name, compiled.co_firstlineno)


def _imported(node: ast.AST) -> Iterator[str]:
    """Yield the names that a module imports itself."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            if alias.name != "*":
                yield alias.asname or alias.name.partition(".")[0]
    elif isinstance(node, (ast.Module, ast.stmt, ast.ExceptHandler)) and not isinstance(
        node, (ast.AsyncFunctionDef, ast.ClassDef, ast.FunctionDef)
    ):
        for child in ast.iter_child_nodes(node):
            yield from _imported(child)


def _is_same(one: types.CodeType, other: types.CodeType) -> bool:
    constants = [_BLANK.replace(co_consts=code.co_consts) for code in (one, other)]
    return (
        all(getattr(one, name) == getattr(other, name) for name in _SAME)
        and not (one.co_flags ^ other.co_flags) & ~inspect.CO_NESTED
        and constants[0] == constants[1]
    )


def compiled_like(
    definition: ast.FunctionDef,
    like: types.CodeType,
    free: Sequence[str] = (),
    imports: Sequence[str] = (),
) -> types.CodeType:
    """Return the code of a definition, with the free variables that a function has.

    Args:
        definition: what to compile.
        like: the code of the function; gives the file and what it imports from the
            future besides.
        free: more free variables that the code may have.
        imports: names that the module of the function imports; their methods are
            called by other code.

    Raises:
        RecursionError: if the definition is too deeply nested.
        SyntaxError: if it means nothing.
    """
    outer = _empty_function()
    names = (*like.co_freevars, *free)
    outer.args.args = [ast.arg(arg=name) for name in names]
    outer.body = [definition]
    above = [ast.Import(names=[ast.alias(name=name)]) for name in imports]
    tree = ast.Module(body=[*above, outer], type_ignores=[])
    ast.fix_missing_locations(tree)
    flags = like.co_flags & annotations.compiler_flag
    code = compile(tree, like.co_filename, "exec", flags=flags, dont_inherit=True)
    found = _code_in(_code_in(code))
    return _renamed(found, found.co_qualname, like.co_qualname)


def _renamed(code: types.CodeType, old: str, new: str) -> types.CodeType:
    """Return code with other qualified names, which messages show, inside as well."""
    inside = tuple(
        _renamed(part, old, new) if isinstance(part, types.CodeType) else part
        for part in code.co_consts
    )
    name = code.co_qualname
    if name.startswith(old):
        name = new + name.removeprefix(old)
    return code.replace(co_qualname=name, co_consts=inside)


def _code_in(code: types.CodeType) -> types.CodeType:
    """Return the code of the one function that is defined by some code."""
    return next(part for part in code.co_consts if isinstance(part, types.CodeType))


def _empty_function() -> ast.FunctionDef:
    # Parsed, since the fields of the node differ between versions of Python.
    return cast("ast.FunctionDef", ast.parse("def outer(): pass").body[0])
