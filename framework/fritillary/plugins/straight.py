"""Wrappers without a generator: where the yield stands, the wrapped hook is called.

A wrapper that yields in a statement that always runs, and nowhere else, does what a
plain function does that calls the wrapped hook at that place. Such a function is made
here, from the source of the wrapper. It costs a tenth of driving the generator, which
has to be made, started and sent to, and ends with an exception, at every call.

Whatever is not as simple as that keeps its generator: several yields or one that may be
passed over, ``try`` and ``with``, what looks at its own frame, arguments other than
plain ones, and wrappers whose source is not at hand, is not what they were compiled
from, or is too deeply nested. Nothing that goes wrong here is an error.
"""

from __future__ import annotations

import ast
import functools
import inspect
import threading
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final

from fritillary.plugins.recompiled import compiled_like, definition_of

# Names of the made function; no source can have one like them.
_INNER: Final = "<inner>"
_REFUSAL: Final = "<refusal>"
_RESULT: Final = "<result>"
_STOP: Final = "<stop>"
_STOP_ITERATION: Final = "<StopIteration>"
_LEAKED: Final = "<leaked>"

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
    ast.ClassDef,
    ast.Try,
    ast.TryStar,
    ast.With,
    ast.YieldFrom,
)

#: Names that look at a frame or at who called it, where the two forms differ.
_FRAME: Final = frozenset(
    {
        "_getframe",
        "breakpoint",
        "currentframe",
        "dir",
        "eval",
        "exec",
        "inspect",
        "locals",
        "stacklevel",
        "super",
        "traceback",
        "vars",
        "warnings",
    }
)

# Warnings are ignored for the whole process while source is compiled again; two that
# did so at once could leave them ignored.
_COMPILING: Final = threading.Lock()


def straightened(
    wrapper: Callable[..., Any],
    inner: Callable[..., Any],
    refusal: Callable[[], Exception] | None = None,
) -> Callable[..., Any] | None:
    """Return a plain function that does what a wrapper does, or nothing.

    A ``StopIteration`` that leaves it becomes a ``RuntimeError``, as PEP 479 has it
    for generators.

    Args:
        wrapper: a generator function.
        inner: what it wraps; called with the wrapper's arguments.
        refusal: makes the exception of a wrapper that returns nothing, where that
            is an error.
    """
    if not isinstance(wrapper, types.FunctionType) or not _has_plain_arguments(wrapper):
        return None
    code = _code(wrapper, wrapper.__code__, refusal is not None)
    if code is None:
        return None
    cells = dict(
        zip(wrapper.__code__.co_freevars, wrapper.__closure__ or (), strict=True)
    )
    cells[_INNER] = types.CellType(inner)
    cells[_REFUSAL] = types.CellType(refusal)
    cells[_STOP_ITERATION] = types.CellType(StopIteration)
    cells[_LEAKED] = types.CellType(_leaked)
    closure = tuple(cells[name] for name in code.co_freevars)
    made = types.FunctionType(
        code, wrapper.__globals__, wrapper.__name__, None, closure
    )
    made.__qualname__ = wrapper.__qualname__
    made.__doc__ = wrapper.__doc__
    return made


def _leaked() -> RuntimeError:
    return RuntimeError("generator raised StopIteration")


def _has_plain_arguments(wrapper: types.FunctionType) -> bool:
    """Say whether a call with positional arguments gives it these and no more."""
    code = wrapper.__code__
    return not (
        code.co_posonlyargcount
        or code.co_kwonlyargcount
        or code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
        or wrapper.__defaults__
        or wrapper.__kwdefaults__
        or {"__signature__", "__wrapped__"} & vars(wrapper).keys()
    )


@functools.lru_cache(maxsize=256)
def _code(
    wrapper: types.FunctionType, compiled: types.CodeType, must_return: bool
) -> types.CodeType | None:
    """Return the code of the plain function, with free variables for what it needs."""
    try:
        with _COMPILING, warnings.catch_warnings():
            # Those of the source were shown when it was compiled the first time.
            warnings.simplefilter("ignore")
            definition = definition_of(compiled)
            if definition is None or not _is_straight(definition.body):
                return None
            arguments = [argument.arg for argument in definition.args.args]
            made = _Straightener(arguments, must_return=must_return).made(definition)
            free = (_INNER, _REFUSAL, _STOP_ITERATION, _LEAKED)
            return compiled_like(made, compiled, free)
    except Exception:  # noqa: BLE001 - what stands there may be anything by now
        return None


def _is_straight(body: Sequence[ast.stmt]) -> bool:
    """Say whether a body has one yield, and always comes to it."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    yields = [node for node in nodes if isinstance(node, ast.Yield)]
    if len(yields) != 1 or yields[0].value is not None:
        return False
    if any(isinstance(node, _LEFT_ALONE) or _looks_at_frame(node) for node in nodes):
        return False
    for statement in body:
        if isinstance(statement, _PLAIN) and _is_reached(statement.value):
            return True
        if _may_return(statement):
            return False
    return False


def _looks_at_frame(node: ast.AST) -> bool:
    names = (getattr(node, field, None) for field in ("id", "attr", "arg", "module"))
    imported = node.name if isinstance(node, ast.alias) else None
    return imported in _FRAME or any(name in _FRAME for name in names)


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
        """Make the definition that of the plain function, and return it."""
        if ast.get_docstring(definition, clean=False) is not None:
            del definition.body[0]
        self.generic_visit(definition)
        end = [self._refuse()] if self._must_return else []
        for node in end:
            ast.copy_location(node, definition)
        # The wrapped hook gets what the wrapper got, whatever that calls so later.
        keep = [
            ast.Assign(targets=[_store(f"<{name}>")], value=_load(name))
            for name in self._arguments
        ]
        leak = ast.Raise(exc=_call(_LEAKED), cause=_load(_STOP))
        handler = ast.ExceptHandler(
            type=_load(_STOP_ITERATION), name=_STOP, body=[leak]
        )
        whole = ast.Try(
            body=[*definition.body, *end], handlers=[handler], orelse=[], finalbody=[]
        )
        # Tracers see no line before the first one of the body.
        for node in (*keep, whole):
            ast.copy_location(node, definition.body[0])
        definition.body = [*keep, whole]
        return definition

    def visit_Yield(self, node: ast.Yield) -> ast.AST:
        return ast.copy_location(
            _call(_INNER, *(f"<{name}>" for name in self._arguments)), node
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
        return ast.Raise(exc=_call(_REFUSAL), cause=None)


def _call(name: str, *arguments: str) -> ast.Call:
    return ast.Call(func=_load(name), args=[*map(_load, arguments)], keywords=[])


def _load(name: str) -> ast.Name:
    return ast.Name(id=name, ctx=ast.Load())


def _store(name: str) -> ast.Name:
    return ast.Name(id=name, ctx=ast.Store())
