"""A program that plays Pig, or fails in one of many ways.

Run with the address and the token in its environment; the argument says how it plays.
"""
# ruff: noqa: E402 - some of its ways to fail come before gRPC is loaded

import os
import queue
import sys
import time
from pathlib import Path

how = sys.argv[1]
if how == "environment":
    print(sorted(os.environ), flush=True)
if how == "crash":
    sys.exit("no such file: weights.bin")
if how == "hang":
    time.sleep(600)
if how.startswith("garbage"):
    for _ in range(200):
        sys.stdout.buffer.write(b"\xff\x00\x1b[2J" * 1000 + b"\n")
    sys.stdout.flush()

import grpc

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import bot_pb2_grpc

outbox: "queue.Queue[pb.ConnectRequest]" = queue.Queue()


def send(**message):
    outbox.put(pb.ConnectRequest(messages=[pb.BotMessage(**message)]))


channel = grpc.insecure_channel(os.environ["FRITILLARY_ADDRESS"])
call = bot_pb2_grpc.BotServiceStub(channel).Connect(
    iter(outbox.get, None),
    metadata=(("authorization", f"Bearer {os.environ['FRITILLARY_TOKEN']}"),),
)
send(hello=pb.Hello())
decisions = 0
for frame in call:
    for message in frame.messages:
        if message.HasField("match_offer"):
            if how == "crash-offer":
                sys.exit(3)
            match_id = message.match_offer.match_id
            send(accept=pb.Accept(match_id=match_id))
            send(ready=pb.Ready(match_id=match_id))
        elif message.HasField("decision_request"):
            request = message.decision_request
            decisions += 1
            mark = Path(sys.argv[-1])
            if how == "crash-once" and decisions == 2 and not mark.exists():
                mark.write_text("crashed")
                print("out of cheese", file=sys.stderr)
                os.abort()
            if how == "crash-always" and decisions == 2:
                print("the sky is falling", file=sys.stderr)
                os._exit(9)
            if how == "garbage-crash":
                os._exit(9)
            if how == "fail-and-stay":
                send(goodbye=pb.Goodbye(code="bot.failed", message="out of ink"))
                time.sleep(600)
            if how == "hang-up":
                # The link ends some time before the program does.
                call.cancel()
                mark.write_text("hung up")
                while mark.exists():
                    time.sleep(0.01)
                print("error: the cat has the dice", file=sys.stderr)
                os._exit(3)
            if how == "sleep":
                mark.write_text(str(os.getpid()))
                time.sleep(600)
            if how == "slow":
                time.sleep(0.05)
            send(
                decision=pb.Decision(
                    match_id=request.match_id,
                    decision_id=request.decision_id,
                    index=request.legal[-1],
                )
            )
        elif message.HasField("match_ended"):
            send(ack=pb.Ack(match_id=message.match_ended.match_id, ended=True))
        elif message.HasField("ping"):
            send(pong=pb.Pong(id=message.ping.id))
        elif message.HasField("goodbye"):
            os._exit(0)
