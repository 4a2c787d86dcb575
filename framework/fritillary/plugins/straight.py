"""Wrappers without a generator: where the yield stands, the wrapped hook is called.

A wrapper that yields in a statement that always runs, and nowhere else, does what a
plain function does that calls the wrapped hook at that place. Such a function is made
here, from the source of the wrapper. It costs a tenth of driving the generator, which
has to be made, started and sent to, and ends with an exception, at every call.

Whatever is not as simple as that keeps its generator: several yields or one that may be
passed over, ``try`` and ``with``, and wrappers whose source is not at hand or is not
what they were compiled from.
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any, Final, cast

# Names of the made function; no source can have one like them.
_INNER: Final = "<inner>"
_REFUSAL: Final = "<refusal>"
_RESULT: Final = "<result>"

#: Expressions all of whose parts are evaluated, so that a yield in them is reached.
_WHOLE: Final = (
    ast.Attribute,
    ast.BinOp,
    ast.Call,
    ast.Dict,
    ast.FormattedValue,
    ast.JoinedStr,
    ast.List,
    ast.Set,
    ast.Slice,
    ast.Starred,
    ast.Subscript,
    ast.Tuple,
    ast.UnaryOp,
    ast.keyword,
)

#: Those of which only the first iterable is.
_COMPREHENSIONS: Final = (ast.DictComp, ast.GeneratorExp, ast.ListComp, ast.SetComp)

#: Statements with a value that is evaluated.
_PLAIN: Final = (ast.AnnAssign, ast.Assign, ast.Expr, ast.Return)

#: What makes a plain function differ from a generator, or is left alone as rare.
_LEFT_ALONE: Final = (
    ast.AsyncFunctionDef,
    ast.Await,
    ast.Try,
    ast.TryStar,
    ast.With,
    ast.YieldFrom,
)

#: What says that two pieces of code do the same.
_SAME: Final = (
    "co_code",
    "co_consts",
    "co_names",
    "co_varnames",
    "co_cellvars",
    "co_freevars",
)


def straightened(
    wrapper: Callable[..., Any],
    inner: Callable[..., Any],
    refusal: Callable[[], Exception] | None = None,
) -> Callable[..., Any] | None:
    """Return a plain function that does what a wrapper does, or nothing.

    Args:
        wrapper: a generator function.
        inner: what it wraps; called with the wrapper's arguments.
        refusal: makes the exception of a wrapper that returns nothing, where that
            is an error.
    """
    if not isinstance(wrapper, types.FunctionType):
        return None
    code = _code(wrapper, refusal is not None)
    if code is None:
        return None
    cells = dict(
        zip(wrapper.__code__.co_freevars, wrapper.__closure__ or (), strict=True)
    )
    cells[_INNER] = types.CellType(inner)
    cells[_REFUSAL] = types.CellType(refusal)
    closure = tuple(cells[name] for name in code.co_freevars)
    made = types.FunctionType(
        code, wrapper.__globals__, wrapper.__name__, None, closure
    )
    made.__qualname__ = wrapper.__qualname__
    made.__doc__ = wrapper.__doc__
    return made


@functools.lru_cache(maxsize=256)
def _code(wrapper: types.FunctionType, must_return: bool) -> types.CodeType | None:
    """Return the code of the plain function, with free variables for what it needs."""
    definition = _definition(wrapper)
    if definition is None or not _is_straight(definition.body):
        return None
    arguments = [argument.arg for argument in definition.args.args]
    made = _Straightener(arguments, must_return=must_return).made(definition)
    return _compiled(made, wrapper, (_INNER, _REFUSAL))


def _definition(wrapper: types.FunctionType) -> ast.FunctionDef | None:
    """Return the definition of a wrapper, if that is what it was compiled from."""
    try:
        lines, first = inspect.getsourcelines(wrapper)
        # Under a condition a definition may be indented; columns stay as they are.
        above = "if True:\n" if lines[0][:1].isspace() else "\n"
        tree = ast.parse(above + "".join(lines))
        ast.increment_lineno(tree, first - 2)
        found: Any = tree.body[0]
        if isinstance(found, ast.If):
            found = found.body[0]
        if not isinstance(found, ast.FunctionDef):
            return None
        # Both were evaluated when the wrapper was defined.
        found.decorator_list = []
        found.returns = None
        for argument in found.args.args:
            argument.annotation = None
        code = _compiled(found, wrapper)
    except Exception:  # noqa: BLE001 - what stands there may be anything by now
        return None
    same = all(getattr(code, name) == getattr(wrapper.__code__, name) for name in _SAME)
    return found if same else None


def _compiled(
    definition: ast.FunctionDef,
    wrapper: types.FunctionType,
    free: Sequence[str] = (),
) -> types.CodeType:
    """Return the code of a function inside one that has its free variables."""
    outer = _empty_function()
    names = (*wrapper.__code__.co_freevars, *free)
    outer.args.args = [ast.arg(arg=name) for name in names]
    outer.body = [definition]
    tree = ast.fix_missing_locations(ast.Module(body=[outer], type_ignores=[]))
    flags = wrapper.__code__.co_flags & annotations.compiler_flag
    filename = wrapper.__code__.co_filename
    code = compile(tree, filename, "exec", flags=flags, dont_inherit=True)
    return _code_in(_code_in(code))


def _code_in(code: types.CodeType) -> types.CodeType:
    """Return the code of the one function that is defined by some code."""
    return next(part for part in code.co_consts if isinstance(part, types.CodeType))


def _is_straight(body: Sequence[ast.stmt]) -> bool:
    """Say whether a body has one yield, and always comes to it."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    yields = [node for node in nodes if isinstance(node, ast.Yield)]
    if len(yields) != 1 or yields[0].value is not None:
        return False
    if any(isinstance(node, _LEFT_ALONE) for node in nodes):
        return False
    for statement in body:
        if isinstance(statement, _PLAIN) and _is_reached(statement.value):
            return True
        if _may_return(statement):
            return False
    return False


def _is_reached(node: ast.AST | None) -> bool:
    """Say whether an expression has a yield that is evaluated whenever it is."""
    if isinstance(node, _COMPREHENSIONS):
        return _is_reached(node.generators[0].iter)
    if isinstance(node, _WHOLE):
        return any(map(_is_reached, ast.iter_child_nodes(node)))
    return isinstance(node, ast.Yield)


def _may_return(node: ast.AST) -> bool:
    if isinstance(node, ast.FunctionDef):
        return False  # its returns are its own
    return isinstance(node, ast.Return) or any(
        map(_may_return, ast.iter_child_nodes(node))
    )


class _Straightener(ast.NodeTransformer):
    """Puts a call where the yield is, and a look at what is returned."""

    def __init__(self, arguments: Sequence[str], *, must_return: bool) -> None:
        self._arguments = arguments
        self._must_return = must_return

    def made(self, definition: ast.FunctionDef) -> ast.FunctionDef:
        """Return the definition of the plain function."""
        body = [self.visit(statement) for statement in definition.body]
        flat = [
            part
            for parts in body
            for part in (parts if isinstance(parts, list) else [parts])
        ]
        # The wrapped hook gets what the wrapper got, whatever that calls so later.
        keep = [
            ast.Assign(targets=[_store(f"<{name}>")], value=_load(name))
            for name in self._arguments
        ]
        end = [self._refuse()] if self._must_return else []
        for node in (*keep, *end):
            ast.copy_location(node, definition)
        found = copy.copy(definition)
        found.body = [*keep, *flat, *end]
        return found

    def visit_Yield(self, node: ast.Yield) -> ast.AST:
        return ast.copy_location(
            ast.Call(
                func=_load(_INNER),
                args=[_load(f"<{name}>") for name in self._arguments],
                keywords=[],
            ),
            node,
        )

    def visit_Return(self, node: ast.Return) -> Any:
        self.generic_visit(node)
        if not self._must_return:
            return node
        if node.value is None:
            return ast.copy_location(self._refuse(), node)
        nothing = ast.Compare(
            left=_load(_RESULT), ops=[ast.Is()], comparators=[ast.Constant(None)]
        )
        return [
            ast.copy_location(new, node)
            for new in (
                ast.Assign(targets=[_store(_RESULT)], value=node.value),
                ast.If(test=nothing, body=[self._refuse()], orelse=[]),
                ast.Return(value=_load(_RESULT)),
            )
        ]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node  # its returns are its own

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def _refuse(self) -> ast.stmt:
        call = ast.Call(func=_load(_REFUSAL), args=[], keywords=[])
        return ast.Raise(exc=call, cause=None)


def _empty_function() -> ast.FunctionDef:
    # Parsed, since the fields of the node differ between versions of Python.
    return cast("ast.FunctionDef", ast.parse("def outer(): pass").body[0])


def _load(name: str) -> ast.Name:
    return ast.Name(id=name, ctx=ast.Load())


def _store(name: str) -> ast.Name:
    return ast.Name(id=name, ctx=ast.Store())
