"""The bot with which the contract of all clients is tested.

Its only argument is a JSON object of settings; it plays by a rule that all languages
share, and writes one line of JSON for each thing that happens.
"""
# ruff: noqa: INP001 - a program, no package

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import signal
import sys
from collections.abc import Sequence
from typing import Any, Final, Literal, TypedDict

from fritillary_client import (
    RESIGN,
    Answer,
    ArenaError,
    Ask,
    Bot,
    Client,
    ConfigurationError,
    Declined,
    MatchInfo,
    Outcome,
)


class Task(TypedDict, total=False):
    """What the bot is told to do.

    Attributes:
        encoding: of the session.
        legal: form of the legal actions.
        answer: in which form it answers; default ``index``.
        capacity: most matches at a time.
        matches: leave after so many.
        games: ids.
        name: to show; default ``contract``.
        build: to show.
        give_up_after: a lost link, in seconds.
        ca: file of certificates to trust.
        cert: file of a certificate to show to the server.
        key: file of its private key.
        nonce: in hex.
        decline: id of a game that it declines.
        illegal: ids of decisions that it answers with nonsense at the first asking.
        delay_ms: for so long it sleeps before each answer.
        resign_at: id of a decision at which it gives up.
    """

    encoding: Literal["msgpack", "json"]
    legal: Literal["packed", "expanded"]
    answer: Literal["index", "text", "action"]
    capacity: int
    matches: int
    games: list[str]
    name: str
    build: str
    give_up_after: float
    ca: str
    cert: str
    key: str
    nonce: str
    decline: str
    illegal: list[int]
    delay_ms: int
    resign_at: int


#: What the values of a task are in JSON.
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    **dict.fromkeys(
        ("encoding", "legal", "answer", "name", "build", "decline"), (str,)
    ),
    **dict.fromkeys(("ca", "cert", "key", "nonce"), (str,)),
    **dict.fromkeys(("capacity", "matches", "delay_ms", "resign_at"), (int,)),
    **dict.fromkeys(("games", "illegal"), (list,)),
    "give_up_after": (int, float),
}

#: In which forms it answers.
_ANSWERS: Final = ("index", "text", "action")

#: Keys of a task that are settings of the client as they are.
_SETTINGS: Final = (
    "encoding",
    "legal",
    "capacity",
    "matches",
    "games",
    "name",
    "build",
    "give_up_after",
    "ca",
    "cert",
    "key",
)


def tell(event: str, **about: Any) -> None:  # noqa: ANN401 - what JSON can hold, and bytes
    """Write one line; bytes become hex."""
    line = json.dumps({"event": event, **about}, default=bytes.hex)
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


class ContractBot(Bot):
    """Plays one seat, in the event loop: its lines are written one after the other.

    Args:
        task: what it is told to do.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._about: dict[str, Any] = {}

    async def offered(self, info: MatchInfo) -> None:
        """Tell, and decline what the task says."""
        self._about = {"match_id": info.match_id, "seat": info.seat}
        tell(
            "offered",
            **self._about,
            resumed=info.resumed,
            game=info.full_id,
            nonce_wanted=info.nonce_wanted,
        )
        if self._task.get("decline") in {info.game, info.full_id}:
            raise Declined("the contract says so", code="contract.declined")

    async def decide(self, ask: Ask) -> Answer:
        """Tell, and answer by the rule that all languages share."""
        task, number, legal = self._task, ask.decision_id, ask.legal
        tell(
            "asked",
            **self._about,
            decision_id=number,
            ply=ask.ply,
            legal=len(legal),
            first=legal[0].text,
            observation=ask.observation,
            news=[event.number for event in ask.events],
            attempt=ask.attempt,
        )
        # Ends early where nobody waits for the answer any more.
        await asyncio.sleep(task.get("delay_ms", 0) / 1000)
        if task.get("resign_at") == number:
            return RESIGN
        if ask.attempt == 1 and number in task.get("illegal", ()):
            return "no such action"
        chosen = legal[(number * 7 + ask.ply) % len(legal)]
        answer: Answer = getattr(chosen, task.get("answer", "index"))
        return answer

    async def end(self, outcome: Outcome) -> None:
        """Tell how the match ended."""
        tell(
            "ended",
            **self._about,
            kind=outcome.kind,
            code=outcome.code,
            scores=outcome.scores,
            placing=outcome.placing,
            deal=outcome.deal,
        )


def task_of(arguments: Sequence[str]) -> Task:
    """Return what the argument says; keys that are null count as left out.

    Raises:
        ConfigurationError: if it is no JSON object, or a value has the wrong type.
    """
    try:
        given = json.loads(arguments[0]) if arguments else {}
        task: Task = {  # type: ignore[assignment]
            key: value for key, value in given.items() if value is not None
        }
    except (ValueError, AttributeError) as error:
        msg = f"the argument is no JSON object: {error}"
        raise ConfigurationError(msg, code="usage.argument") from error
    for key, value in task.items():
        if key in _TYPES and type(value) not in _TYPES[key]:
            msg = f"{key} cannot be {value!r}"
            raise ConfigurationError(msg, code="usage.argument")
    return task


def client_of(task: Task) -> Client:
    """Return a client that does what a task says.

    Raises:
        ConfigurationError: if it cannot be done.
    """
    settings: dict[str, Any] = {
        key: value for key, value in task.items() if key in _SETTINGS
    }
    if task.get("answer", "index") not in _ANSWERS:
        msg = f"no form of answers {task['answer']!r}; say {', '.join(_ANSWERS)}"
        raise ConfigurationError(msg, code="usage.answer")
    if "nonce" in task:
        try:
            settings["nonce"] = bytes.fromhex(task["nonce"])
        except ValueError as error:
            msg = f"the nonce is not hex: {error}"
            raise ConfigurationError(msg, code="usage.nonce") from error
    return Client(
        lambda: ContractBot(task),
        **{
            "name": "contract",
            "version": "1",
            "on_connect": lambda session: tell(
                "connected", bot=session.bot, resumed=session.resumed
            ),
            "on_lost": lambda error: tell("lost", code=error.code),
            **settings,
        },
    )


async def play(client: Client) -> None:
    """Play to the end; the first signal drains, the second leaves at once.

    Raises:
        ArenaError: of the kinds that `Client.run` names.
    """
    loop = asyncio.get_running_loop()
    steps = iter([client.drain])

    def interrupted(*_: object) -> None:
        # The second may come when all is over and the loop has been closed.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(next(steps, client.stop))

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupted)
    await client.run()


def main(arguments: Sequence[str]) -> int:
    """Play; return the exit code."""
    # Standard error has the error that ends the program, and nothing else.
    logging.getLogger("fritillary_client").addHandler(logging.NullHandler())
    try:
        client = client_of(task_of(arguments))
        asyncio.run(play(client))
        if client.abandoned:
            count = client.abandoned
            what = "1 match" if count == 1 else f"{count} matches"
            msg = f"left {what} unfinished"
            raise ArenaError(msg, code="bot.unfinished")
    except ArenaError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    tell("stopped")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
