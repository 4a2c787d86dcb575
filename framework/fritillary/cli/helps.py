"""Help texts: paragraphs as wide as the terminal, an example in a line of its own.

Typer keeps the line breaks of all paragraphs but the first, and Rich breaks the lines
again where they are too long.
"""

from __future__ import annotations

import inspect
from typing import Any, Final

#: Begins the paragraph that is a command to be copied.
EXAMPLE: Final = "Example:"


def tidied(command: Any) -> Any:
    """Return a command of Typer with its help unfolded, and that of its commands.

    Args:
        command: it is changed.
    """
    command.help = unfolded(command.help or "")
    parameters_of = command.get_params
    command.get_params = lambda context: list(map(plain, parameters_of(context)))
    for one in getattr(command, "commands", {}).values():
        tidied(one)
    return command


def plain(parameter: Any) -> Any:
    """Return a parameter that a help shows as people write it.

    Typer would put braces around an argument, and a type of Python's beside it and
    beside an option that takes nothing, as if that were to be written.

    Args:
        parameter: it is changed.
    """
    if parameter.param_type_name == "argument":
        name = parameter.display_name_raw
        shown = name if parameter.required else f"[{name}]"
        parameter.get_usage_pieces = lambda _: [shown]
        parameter.display_type_rich = lambda **_: None
    elif parameter.is_flag:
        parameter.metavar = ""
    elif parameter.metavar is None:
        parameter.metavar = parameter.name.upper()
    return parameter


def unfolded(text: str) -> str:
    """Return a help text with a line for each paragraph, and two for an example.

    Args:
        text: as it stands in a docstring.
    """
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(
        " ".join(paragraph.split()).replace(f"{EXAMPLE} ", f"{EXAMPLE}\n", 1)
        for paragraph in paragraphs
    )
