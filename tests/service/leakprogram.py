"""A program that writes down all that it is given, and tells what it should not.

Run as ``leakprogram.py HOW FILE ACTIONS WORDS CODE``. HOW is ``look``: end at once;
``play``: dial in and play; ``fail``: the same, but end when it is first asked, and for
good when it has nothing more to play; ``lines``: read lines and answer them. FILE takes
what it is given. ACTIONS are numbers of the table with commas between them. WORDS are
said on both outputs, again and again, and CODE is its exit code.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

how, file, actions, words, code = sys.argv[1:]
plays = [int(one) for one in actions.split(",") if one]
asked = Path(f"{file}.asked")
plies = asked.read_text().split() if asked.exists() else []


def descriptors():
    """Return what is open, by number."""
    folder = Path("/dev/fd")
    if not folder.exists():
        return []
    found = []
    for one in sorted(folder.iterdir(), key=lambda one: int(one.name)):
        try:
            target = str(one.readlink())
        except FileNotFoundError:
            # The folder itself, which is closed by now.
            continue
        except OSError:
            target = "?"
        found.append([one.name, target.partition(":")[0]])
    return found


def say():
    print(words, flush=True)
    print(words, file=sys.stderr, flush=True)


def give(what):
    with Path(file).open("ab") as out:
        out.write(what + b"\n")


def end():
    say()
    os._exit(int(code))


def choose(ply):
    """Return what to play; nothing if there is nothing left, or it has failed."""
    first = not plies
    if str(ply) not in plies:
        plies.append(str(ply))
        asked.write_text(" ".join(plies))
    number = plies.index(str(ply))
    if how == "fail" and (first or number >= len(plays)):
        end()
    return plays[number] if number < len(plays) else None


give(
    json.dumps(
        {
            "argv": sys.argv,
            "environ": dict(os.environ),
            "cwd": str(Path.cwd()),
            "descriptors": descriptors(),
        }
    ).encode()
)
if words and how != "lines":
    say()
if how == "look":
    sys.exit(int(code))
if how == "lines":
    for line in sys.stdin.buffer:
        give(line.strip())
        asks = json.loads(line)
        if asks["type"] == "ask":
            if words:
                print(words, file=sys.stderr, flush=True)
            index = choose(asks["ply"])
            answer = {"resign": True} if index is None else {"index": index}
            print(json.dumps(answer), flush=True)
    sys.exit(int(code))

import queue  # noqa: E402 - a program that looks is to end soon

import grpc  # noqa: E402

from fritillary.api.v1 import bot_pb2 as pb  # noqa: E402

outbox: "queue.Queue[pb.ConnectRequest]" = queue.Queue()


def send(**message):
    outbox.put(pb.ConnectRequest(messages=[pb.BotMessage(**message)]))


call: Any = grpc.insecure_channel(os.environ["FRITILLARY_ADDRESS"]).stream_stream(
    "/fritillary.api.v1.BotService/Connect",
    request_serializer=pb.ConnectRequest.SerializeToString,
)(
    iter(outbox.get, None),
    metadata=(("authorization", f"Bearer {os.environ['FRITILLARY_TOKEN']}"),),
)
send(hello=pb.Hello())
for raw in call:
    give(raw.hex().encode())
    for message in pb.ConnectResponse.FromString(raw).messages:
        kind = message.WhichOneof("message") or ""
        body = getattr(message, kind)
        if words:
            say()
        if kind == "ping":
            send(pong=pb.Pong(id=body.id))
        elif kind == "match_offer":
            where = {"match_id": body.match_id, "seat": body.seat}
            send(accept=pb.Accept(**where))
            send(ready=pb.Ready(**where))
        elif kind == "decision_request":
            index = choose(body.ply)
            where = {"match_id": body.match_id, "decision_id": body.decision_id}
            if index is None:
                send(resign=pb.Resign(**where))
            else:
                send(decision=pb.Decision(**where, index=index))
        elif kind == "match_ended":
            os._exit(int(code))
