"""The commands that the program names before it imports them."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from fritillary import cli
from fritillary.cli.commands import COMMANDS, command


@pytest.mark.parametrize("name", COMMANDS)
def test_the_program_tells_of_a_command_what_it_tells_of_itself(name: str) -> None:
    summary = inspect.cleandoc(command(name).help).split("\n\n")[0]
    assert " ".join(summary.split()) == COMMANDS[name]


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
