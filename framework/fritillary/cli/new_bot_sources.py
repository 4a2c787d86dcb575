"""What ``new-bot`` takes from the clients: their sources, and their smallest bots.

They are part of the wheel, under the paths that they have in the repository; an
editable installation reads them there.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

#: What a program that uses a client needs of it, by language. The wheel holds the same,
#: see ``pyproject.toml``.
_NEEDED: Final = {
    "go": (
        "*.go",
        "api/**/*.go",
        "examples/*/*.go",
        "go.mod",
        "go.sum",
        "LICENSE",
        "README.md",
    ),
    "typescript": (
        "src/**/*.ts",
        "examples/*.ts",
        "package.json",
        "tsconfig.json",
        "LICENSE",
        "README.md",
    ),
}

#: What of a client's ``package.json`` is for working on the client alone.
_FOR_WORK: Final = ("scripts", "devDependencies")

#: Where an example tells how it is started, and what to do with it.
_STARTING: Final = re.compile(r"Start it by hand.*?Copy it and write", re.DOTALL)


def root() -> Path:
    """Return the folder that holds ``clients`` and ``examples``."""
    packed = Path(__file__).with_name("sources")
    return packed if packed.is_dir() else Path(__file__).parents[3]


def client(language: str) -> dict[str, str]:
    """Return the sources of a client as a project brings them along.

    Args:
        language: go or typescript.

    Returns:
        Path in the client's folder to text.
    """
    folder = root() / "clients" / language
    files = {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for needed in _NEEDED[language]
        for path in sorted(folder.glob(needed))
        if not path.name.endswith("_test.go")
    }
    if language == "typescript":
        manifest = json.loads(files["package.json"])
        kept = {key: manifest[key] for key in manifest if key not in _FOR_WORK}
        files["package.json"] = f"{json.dumps(kept, indent=2)}\n"
    return files


def words(language: str) -> dict[str, str]:
    """Return what the manifest of a project says alike to that of the client.

    Args:
        language: any; only go and typescript have such words.
    """
    if language == "go":
        manifest = (root() / "clients" / "go" / "go.mod").read_text("utf-8")
        version = re.findall(r"^go (\S+)$", manifest, re.MULTILINE)[0]
        needed = re.findall(r"^\t(\S+ v\S+)", manifest, re.MULTILINE)
        return {
            "go": version,
            "go_short": ".".join(version.split(".")[:2]),
            "requires": "\n".join(f"\t{each} // indirect" for each in sorted(needed)),
        }
    if language == "typescript":
        path = root() / "clients" / "typescript" / "package.json"
        manifest = json.loads(path.read_text("utf-8"))
        tools = manifest["devDependencies"]
        return {
            "node": manifest["engines"]["node"].removeprefix(">="),
            "types_node": tools["@types/node"],
            "typescript": tools["typescript"],
        }
    return {}


def python_bot(name: str) -> str:
    """Return the Python bot that plays any game.

    Args:
        name: to show.
    """
    text = _example("examples/bots/uniform.py")
    return text.replace('name="uniform"', f'name="{name}"')


def go_bot(name: str, stem: str) -> str:
    """Return the Go bot that plays any game.

    Args:
        name: to show.
        stem: of the program.
    """
    text = _example("clients/go/examples/uniform/main.go")
    text = text.replace('Name: "uniform"', f'Name: "{name}"')
    return text.replace("// Uniform plays", f"// {stem.capitalize()} plays")


def typescript_bot(name: str) -> tuple[str, str]:
    """Return the TypeScript bot that plays any game.

    Args:
        name: to show.

    Returns:
        The module that decides, which tests can import, and the program.
    """
    text = _example("clients/typescript/examples/uniform.ts")
    decide, call, rest = text.partition("await main(")
    decide = decide.rstrip().replace(
        "{ type Ask, type LegalAction, main }", "type { Ask, LegalAction }"
    )
    start = f"{call}{rest}".replace('"uniform"', f'"{name}"')
    program = (
        'import { main } from "fritillary-client";\n'
        'import { decide } from "./decide.js";\n\n'
        "// CHANGE: take out `light` once deciding takes more than microseconds.\n"
        f"{start}"
    )
    return f"{decide}\n".replace("\nfunction", "\nexport function"), program


def stdio_bot(stem: str) -> str:
    """Return the shell script that plays any game.

    Args:
        stem: of the script.
    """
    text = _example("examples/stdio/uniform.sh").replace("uniform.sh", f"{stem}.sh")
    change = "# CHANGE: what stands between the quotes decides."
    return text.replace("\n\nexec ", f"\n{change}\n\nexec ")


def _example(path: str) -> str:
    """Return an example, which tells what to change in place of how to start it."""
    text = (root() / path).read_text("utf-8")
    return _STARTING.sub("CHANGE: write", text)
