"""What `make demo` does: a server, two bots that dial in, one match, one verdict.

Everything runs on this machine: the server listens on a free loopback port, the bots
are programs of their own that know nothing but its address and their token.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from fritillary import FritillaryError, Registry
from fritillary.cli.lines import finish_text
from fritillary.cli.main import main as fritillary
from fritillary.cli.match import show_live
from fritillary.cli.output import print_error, say
from fritillary.cli.show import write_svg
from fritillary.record.signing import Signer
from fritillary.record.terms import parse_clock
from fritillary.service.arena import Arena
from fritillary.service.hosted import HostedMatch
from fritillary.service.server import Server
from fritillary.service.tokens import Role, TokenStore

BOTS = Path(__file__).parent / "bots"

#: Least time between two moves on the screen, and most for all of them.
PACE_S = 0.12
WHOLE_S = 4.0

#: Time that a bot has to say goodbye when its match is over.
PATIENCE_S = 5.0


@asynccontextmanager
async def program(script: str, address: str, token: str) -> AsyncIterator[Process]:
    """Run an example bot as a process of its own, and let it end by itself."""
    environment = {
        **os.environ,
        "FRITILLARY_ADDRESS": address,
        "FRITILLARY_TOKEN": token,
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(BOTS / script), "--matches", "1"),
        env=environment,
        stderr=DEVNULL,
    )
    try:
        yield process
        async with asyncio.timeout(PATIENCE_S):
            await process.wait()
    except TimeoutError:
        # The match is over; whoever still hangs on is of no use to it.
        pass
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def play(game: str, bots: dict[str, str], folder: Path) -> HostedMatch:
    """Serve an arena, let the bots dial in, play one match and show it.

    Args:
        game: id of the game.
        bots: the script of each bot, by the bot's name.
        folder: for the record and the key that signs it.

    Raises:
        FritillaryError: if there is no such game.
    """
    registry = Registry()
    registry.load()
    rules = registry.game(game)
    tokens = TokenStore()
    signer = Signer.load(folder / "signing.key")
    arena = Arena(registry, signer, records=folder, tokens=tokens)
    async with Server(arena) as server, arena, AsyncExitStack() as programs:
        say(f"server listens on {server.address}")
        for name, script in bots.items():
            token = tokens.create(name, Role.BOT)
            await programs.enter_async_context(program(script, server.address, token))
            say(f"bot {name} dials in")
        players = [f"remote:{name}" for name in bots]
        hosted = arena.create(rules, players, clocks=parse_clock("1min+1s"))
        await show_live(hosted, PACE_S, WHOLE_S)
        result = await hosted.ended
    names = [info.name for info in hosted.infos]
    print()
    say(finish_text(names, result.finish), style="bold")
    return hosted


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
    say(f"record  {hosted.path}")
    match = hosted.match
    rules = hosted.order.game
    if match is not None and match.state is not None and rules.draw_svg:
        picture = folder / "last-position.svg"
        write_svg(rules, rules.observe(match.state, None), picture)
        say(f"picture {picture}")
    print()
    # As anyone would in a terminal: fritillary verify FILE
    fritillary(["verify", str(hosted.path)])


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except FritillaryError as error:
        print_error(error.message)
        sys.exit(1)
