"""What `make demo` does: a server, two bots that dial in, one match, one verdict.

Everything runs on this machine: the server listens on a free loopback port, the bots
are programs of their own that know nothing but its address and their token.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rich.console import Console

from fritillary import Registry
from fritillary.cli.live import finish_text
from fritillary.cli.match import show_live
from fritillary.record.signing import Signer
from fritillary.record.terms import parse_clock
from fritillary.service.arena import Arena
from fritillary.service.hosted import HostedMatch
from fritillary.service.server import Server
from fritillary.service.tokens import Role, TokenStore

BOTS = Path(__file__).parent / "bots"

#: Least time between two moves on the screen.
PACE_S = 0.12


@contextmanager
def program(script: str, address: str, token: str) -> Iterator[None]:
    """Run an example bot as a process of its own."""
    environment = {
        **os.environ,
        "FRITILLARY_ADDRESS": address,
        "FRITILLARY_TOKEN": token,
    }
    command = [sys.executable, str(BOTS / script), "--matches", "1"]
    with subprocess.Popen(
        command, env=environment, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield
            process.wait(5)
        except BaseException:
            process.kill()
            raise


async def play(game: str, bots: dict[str, str], folder: Path) -> HostedMatch:
    """Serve an arena, let the bots dial in, play one match and show it.

    Args:
        game: id of the game.
        bots: the script of each bot, by the bot's name.
        folder: for the record and the key that signs it.
    """
    registry = Registry()
    registry.load()
    tokens = TokenStore()
    signer = Signer.load(folder / "signing.key")
    arena = Arena(registry, signer, records=folder, tokens=tokens)
    out = Console(highlight=False)
    async with Server(arena) as server, arena:
        out.print(f"server listens on {server.address}")
        with ExitStack() as programs:
            for name, script in bots.items():
                token = tokens.create(name, Role.BOT)
                programs.enter_context(program(script, server.address, token))
                out.print(f"bot {name} dials in")
            players = [f"remote:{name}" for name in bots]
            hosted = arena.create(game, players, clocks=parse_clock("1min+1s"))
            await show_live(hosted, PACE_S)
            result = await hosted.ended
        names = [info.name for info in hosted.infos]
        out.print(f"\n{finish_text(names, result.finish)}", markup=False, style="bold")
    return hosted


def fritillary(*words: object, quiet: bool = False) -> None:
    """Run a command as anyone would in a terminal."""
    command = [sys.executable, "-m", "fritillary", *map(str, words)]
    subprocess.run(command, check=True, capture_output=quiet)


def main() -> None:
    """Play the demonstration."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="lepidoptery", help="id of a game")
    game = parser.parse_args().game
    bots = {"uniform": "uniform.py", "second": "uniform.py"}
    if game == "lepidoptery":
        bots = {"uniform": "uniform.py", "greedy": "greedy.py"}
    folder = Path(tempfile.mkdtemp(prefix="fritillary-demo-"))
    hosted = asyncio.run(play(game, bots, folder))
    picture = folder / "last-position.svg"
    fritillary("show", hosted.path, "--svg", picture, quiet=True)
    print(f"record  {hosted.path}\npicture {picture}\n")
    fritillary("verify", hosted.path)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
