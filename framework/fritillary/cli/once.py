"""Options that can be said once: of two values one would be dropped in silence."""

from __future__ import annotations

from collections import Counter
from typing import Any

from fritillary.core.errors import UsageError


def said_once(command: Any) -> Any:
    """Return a command of Typer that refuses an option with two values, as its own do.

    What may be repeated, and what takes no value, is left alone.

    Args:
        command: it is changed.
    """
    parser_of = command.make_parser

    def make_parser(context: Any) -> Any:
        parser = parser_of(context)
        parse = parser.parse_args

        def parse_args(args: list[str]) -> Any:
            found = parse(args=args)
            _check(found[2])
            return found

        parser.parse_args = parse_args
        return parser

    command.make_parser = make_parser
    for one in getattr(command, "commands", {}).values():
        said_once(one)
    return command


def _check(order: list[Any]) -> None:
    """Refuse parameters that stand twice in the order in which they were given.

    Raises:
        UsageError: ``usage.twice``, naming the option.
    """
    for parameter, count in Counter(order).items():
        if count == 1 or parameter.param_type_name != "option":
            continue
        if not (parameter.multiple or parameter.is_flag or parameter.count):
            msg = f"{parameter.opts[0]} is given {count} times; give it once"
            raise UsageError(msg, code="usage.twice")
