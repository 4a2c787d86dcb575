"""The commands that the program names before it imports them."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from fritillary import cli
from fritillary.cli.commands import COMMANDS, command
from fritillary.cli.reach import DEFAULT_ADDRESS


@pytest.mark.parametrize("name", COMMANDS)
def test_the_program_tells_of_a_command_what_it_tells_of_itself(name: str) -> None:
    summary = inspect.cleandoc(command(name).help).split("\n\n")[0]
    assert " ".join(summary.split()) == COMMANDS[name]


def test_a_server_is_looked_for_where_one_listens() -> None:
    places = {
        name: [
            one for one in command(name).params if "HOST:PORT" in (one.metavar or "")
        ]
        for name in ("serve", "bot", "watch")
    }
    found = {name: options[0].default for name, options in places.items()}
    assert set(found.values()) == {DEFAULT_ADDRESS}, found
    for name, options in places.items():
        if name != "serve":
            assert options[0].envvar == "FRITILLARY_ADDRESS"


def test_every_module_that_has_a_command_is_named() -> None:
    found = set()
    for path in Path(cli.__path__[0]).glob("*.py"):
        text = path.read_text("utf-8")
        if "import typer" in text and f"\ndef {path.stem}(" in text:
            found.add(path.stem.replace("_", "-"))
    assert len(found) > 10
    assert found - {"main"} <= COMMANDS.keys()


def test_the_help_imports_no_command() -> None:
    code = (
        "import sys\n"
        "from fritillary.cli.main import main\n"
        "try:\n    main(['--help'])\n"
        "except SystemExit:\n    pass\n"
        "print([n for n in ('match', 'serve', 'analyse')\n"
        "       if f'fritillary.cli.{n}' in sys.modules])"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert said.stdout.splitlines()[-1] == "[]"
