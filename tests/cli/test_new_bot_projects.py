"""Projects of the command new-bot build, pass their tests and play as they are."""

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from tests.cli.conftest import WITH_CLIENT
from tests.clients import languages

from fritillary.cli import new_bot_sources as sources
from fritillary.cli.new_bot import stem_of

ROOT = Path(__file__).parents[2]

#: Commands and code of a README.
COMMANDS = re.compile(r"```sh\n(.*?)```", re.DOTALL)
CODE = re.compile(r"```(?:python|go|ts|jq)\n(.*?)```", re.DOTALL)

FOUND = [each.name for each in languages.found()]
if shutil.which("jq") or os.environ.get("CI"):
    FOUND.append("stdio")
SEED = f"--seed {1:064}"


def command(*words: Any, cwd: Path, **environment: str) -> str:
    """Run a program, which must succeed; return what it printed."""
    done = subprocess.run(
        [str(word) for word in words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        cwd=cwd,
        env={**os.environ, **environment},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@frozen
class Outside:
    """An environment with the wheel, far from the repository."""

    folder: Path

    @property
    def programs(self) -> Path:
        return self.folder / "venv" / "bin"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}",
            "FRITILLARY_DATA": str(self.folder / "data"),
            "PIP_CONSTRAINT": str(ROOT / "requirements.lock"),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }

    def run(self, *words: Any, cwd: Path) -> str:
        return command(*words, cwd=cwd, **self.environment)

    def shell(self, lines: str, cwd: Path) -> str:
        return self.run("sh", "-ec", lines, cwd=cwd)

    def play(self, line: str, cwd: Path) -> None:
        """Run the command of a README that plays a match, and verify it."""
        record = cwd / "match.frec"
        record.unlink(missing_ok=True)
        self.shell(f"{line.rstrip()} {SEED} --record {record.name}", cwd)
        told = self.run("fritillary", "verify", record.name, cwd=cwd)
        assert re.search(r"\d+ plies, played, ", told), told


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Outside:
    folder = tmp_path_factory.mktemp("outside")
    uv = (sys.executable, "-m", "uv")
    # Built by itself: what is installed from a folder may be a wheel of before.
    command(*uv, "build", "-q", "--wheel", "-o", folder, ROOT, cwd=folder)
    command(
        *(*uv, "venv", "-q", "--seed", "--python", sys.executable, "venv"), cwd=folder
    )
    (wheel,) = folder.glob("*.whl")
    python = folder / "venv" / "bin" / "python"
    lock = ROOT / "requirements.lock"
    command(
        *(*uv, "pip", "install", "-q", "--python", python, "-c", lock, wheel),
        cwd=folder,
    )
    return Outside(folder)


@pytest.mark.system
@pytest.mark.timeout(600)
def test_the_wheel_holds_what_projects_are_made_of_and_no_more(
    outside: Outside,
) -> None:
    script = (
        "import json; from fritillary.cli import new_bot_sources as s; "
        "print(json.dumps([str(s.root()), s.client('go'), s.client('typescript')]))"
    )
    told = json.loads(outside.run("python", "-c", script, cwd=outside.folder))
    root, *clients = told
    assert clients == [sources.client(language) for language in WITH_CLIENT]
    packed = {
        path.relative_to(root).as_posix()
        for path in Path(root).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert {path for path in packed if path.startswith("clients/")} == {
        f"clients/{language}/{path}"
        for language in WITH_CLIENT
        for path in sources.client(language)
    }
    assert all("uniform" in path for path in packed if path.startswith("examples/"))


@pytest.fixture(scope="module")
def server(outside: Outside) -> Iterator[tuple[str, str]]:
    """A server that runs: its address, and the token of a referee."""
    made = outside.run(
        *("fritillary", "token", "create", "ref", "--role", "referee"),
        cwd=outside.folder,
    )
    line = "fritillary serve --address 127.0.0.1:0"
    with running(outside, line, outside.folder) as process:
        assert process.stdout is not None
        word, _, address = process.stdout.readline().strip().partition(" on ")
        assert word == "listening"
        yield address, made.strip()


@pytest.mark.system
@pytest.mark.timeout(600)
@pytest.mark.parametrize("language", FOUND)
def test_a_project_does_what_its_readme_says(
    outside: Outside, server: tuple[str, str], language: str
) -> None:
    name = f"my-{language}"
    outside.run("fritillary", "new-bot", language, name, cwd=outside.folder)
    project = outside.folder / name
    readme = (project / "README.md").read_text("utf-8")
    build, play, dial_in, *refresh = COMMANDS.findall(readme)
    outside.shell(build, project)
    outside.play(play, project)
    play_at(server, outside, dial_in, project)
    # With the decide that the README shows in place of that by chance.
    replace_decide(language, project, readme)
    if language in WITH_CLIENT:
        outside.shell(refresh.pop(), project)
    assert refresh == []
    *_, test = build.splitlines()
    outside.shell(test, project)
    outside.play(play, project)


def play_at(
    server: tuple[str, str], outside: Outside, dial_in: str, project: Path
) -> None:
    """Let a bot dial in by the command of its README, and play."""
    address, referee = server
    name = project.name
    token = outside.run("fritillary", "token", "create", name, cwd=project).strip()
    line = dial_in.replace("HOST:PORT", address).replace("TOKEN", token)
    words = (
        *("fritillary", "match", "lepidoptery", "--json"),
        *("-s", f"remote:{name}", "-s", "uniform", *shlex.split(SEED)),
        *("--server", address, "--token", referee),
    )
    with running(outside, line, project):
        deadline = time.monotonic() + 60
        told = ""
        while not told:
            try:
                told = outside.run(*words, cwd=project)
            except AssertionError as error:
                # The bot is on its way.
                if "is not connected" not in str(error) or time.monotonic() > deadline:
                    raise
    assert json.loads(told)["kind"] == "played", told


@contextlib.contextmanager
def running(outside: Outside, line: str, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a program of one line; end it as Ctrl-C does."""
    process = subprocess.Popen(
        shlex.split(line),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        cwd=cwd,
        env={**os.environ, **outside.environment},
        text=True,
    )
    try:
        yield process
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()


def replace_decide(language: str, project: Path, readme: str) -> None:
    """Put the decide that a README shows where its bot has its own."""
    stem = stem_of(project.name)
    path, begins = {
        "python": (f"{stem.replace('-', '_')}.py", r"def decide\(.*?\n(?=\n\n)"),
        "go": ("main.go", r"func decide\(.*?\n}\n"),
        "typescript": ("src/decide.ts", r"export function decide\(.*?\n}\n"),
        "stdio": (f"{stem}.sh", r"exec jq.*\n'\n"),
    }[language]
    (shown,) = CODE.findall(readme)
    file = project / path
    text, count = re.subn(
        begins, lambda _: shown, file.read_text("utf-8"), flags=re.DOTALL
    )
    assert count == 1
    file.write_text(text, "utf-8")
