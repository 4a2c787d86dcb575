"""How the matches of the gate go, and how their ends come about."""

from __future__ import annotations

from typing import Final

from attrs import frozen
from tests.service.worlds import Wish

from fritillary.api.v1 import common_pb2

_JSON: Final = common_pb2.ENCODING_JSON


@frozen(kw_only=True)
class Script:
    """How a match goes.

    Args:
        number: of the script.
        encoding: of the viewer; the others have the other one.
        expanded: whether the viewer has legal actions written out.
        ending: ``over``, ``resign``, ``abort``, ``void``, ``illegal``, ``lost``,
            ``flood``, ``late`` or ``decline``.
        sealed: whether the deal is held back.
        mixed: whether nonces are mixed into the deal.
        shared: ``all``: seed, salt and nonces are the same in both worlds; ``seed``:
            all but the nonces of others; ``nothing``: none of them.
        timed: whether there are clocks.
        substitutes: ``illegal`` or ``late``: the fault for which the referee chooses in
            place of a seat; empty for none.
        fails: how a seat is forfeited, on which a stand-in plays on: ``illegal``,
            ``malformed``, ``resign``, ``lost``, ``flood`` or ``decline``; empty for
            none.
        own: whether the viewer is the one who is late or fails.
        stops: how the server is restarted in every other turn: in ``order``,
            ``paused`` meanwhile, or by a ``crash``; empty for no restarts.
    """

    number: int
    encoding: common_pb2.Encoding.ValueType = common_pb2.ENCODING_MSGPACK
    expanded: bool = False
    ending: str = "over"
    sealed: bool = False
    mixed: bool = False
    shared: str = "nothing"
    timed: bool = False
    substitutes: str = ""
    fails: str = ""
    own: bool = False
    stops: str = ""

    @property
    def wish(self) -> Wish:
        """What the two worlds must be like."""
        return Wish(
            shared=self.shared,
            mixed=self.mixed,
            ends=self.ending == "over",
            substitutes=bool(self.substitutes),
            fails=self.fails,
            own=self.own,
        )


#: Both encodings and forms, every ending, and whatever else a match may be like.
SCRIPTS: Final = (
    Script(number=0, mixed=True, timed=True),
    Script(
        number=1,
        encoding=_JSON,
        expanded=True,
        ending="resign",
        shared="all",
        substitutes="illegal",
    ),
    Script(number=2, expanded=True, ending="abort", sealed=True, mixed=True),
    Script(number=3, encoding=_JSON, ending="illegal", mixed=True, shared="all"),
    Script(number=4, ending="lost", timed=True, shared="all"),
    Script(number=5, encoding=_JSON, expanded=True, ending="flood"),
    Script(number=6, expanded=True, ending="void", sealed=True, shared="all"),
    Script(number=7, encoding=_JSON, sealed=True, timed=True),
    Script(number=8, ending="decline"),
)

#: The same with a server that is restarted.
RESTARTS: Final = (
    Script(number=10, ending="abort", mixed=True, timed=True, stops="order"),
    Script(
        number=11,
        encoding=_JSON,
        expanded=True,
        ending="resign",
        shared="all",
        stops="order",
        substitutes="illegal",
    ),
    Script(number=12, sealed=True, stops="order"),
)

#: Servers that are stopped while the match is paused, or that are killed.
STOPS: Final = (
    Script(number=13, ending="abort", timed=True, stops="paused"),
    Script(number=14, encoding=_JSON, ending="resign", shared="all", stops="crash"),
)

#: Stand-ins play on: with more than two seats.
STAND_INS: Final = (
    Script(number=20, fails="illegal", ending="abort", timed=True),
    Script(number=21, encoding=_JSON, fails="resign", shared="all"),
    Script(number=22, fails="lost", ending="illegal", expanded=True, shared="all"),
    Script(number=23, encoding=_JSON, fails="flood", ending="void", sealed=True),
    Script(number=24, fails="decline", mixed=True, shared="all"),
    Script(number=25, fails="illegal", own=True, shared="all", ending="abort"),
    Script(number=26, fails="malformed", ending="abort", shared="all", stops="order"),
)

#: Decisions come when their time is over.
LATE: Final = (
    Script(number=30, ending="late", timed=True, mixed=True),
    Script(
        number=31,
        encoding=_JSON,
        expanded=True,
        ending="resign",
        timed=True,
        shared="all",
        substitutes="late",
    ),
    Script(
        number=32,
        ending="abort",
        timed=True,
        shared="all",
        substitutes="late",
        own=True,
    ),
)

#: What others mix into the deal is all that differs of it.
NONCES: Final = (
    Script(number=40, mixed=True, shared="seed", ending="abort"),
    Script(number=41, encoding=_JSON, mixed=True, shared="seed", sealed=True),
    Script(number=43, mixed=True, shared="seed", ending="decline"),
)
