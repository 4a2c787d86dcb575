"""Whether the host dealt as it had promised; ``docs/dealing.md`` has the rules."""

from __future__ import annotations

import secrets
from typing import Final

from attrs import field, frozen

from fritillary.api.v1 import bot_pb2 as wire
from fritillary.api.v1 import common_pb2 as common
from fritillary.core.commitment import bot_seed, commitment
from fritillary.core.dealer import SEALED_ALGORITHM
from fritillary_client.encoding import MSGPACK, Encoding
from fritillary_client.errors import ProtocolError
from fritillary_client.values import Deal

#: How long a nonce is that the client draws.
_NONCE_BYTES: Final = 16


def nonce_for(offer: wire.MatchOffer, chosen: bytes | None) -> bytes | None:
    """Return what to mix into the deal of a match.

    Args:
        offer: of the seat.
        chosen: in the settings; ``None``: random bytes.

    Returns:
        Empty where no nonce is wanted; ``None`` for a seat that is taken up again,
        since the server kept what was sent then, perhaps by another process.
    """
    if not offer.nonce_wanted:
        return b""
    if offer.resumed:
        return None
    return secrets.token_bytes(_NONCE_BYTES) if chosen is None else chosen


@frozen
class Promise:
    """What a bot knows of a deal before the reveal.

    Args:
        offer: of the seat, with the commitment.
        nonce: that was sent; ``None`` if that is not known.
        encoding: of the options in the offer.
    """

    offer: wire.MatchOffer
    nonce: bytes | None = field(repr=False)
    encoding: Encoding

    def check(self, result: common.MatchResult) -> Deal:
        """Return what the result of the match tells about its deal."""
        if not self.offer.HasField("commitment") or not result.HasField("reveal"):
            return "not-revealed"
        return "verified" if self._is_kept(result.reveal) else "broken"

    def _is_kept(self, reveal: common.Reveal) -> bool:
        offer = self.offer
        if offer.commitment.algorithm != SEALED_ALGORITHM:
            return False
        try:
            opened = commitment(
                offer.match_id, self._options(), reveal.seed, reveal.salt
            )
        except (ProtocolError, ValueError, TypeError, OverflowError):
            return False
        used = reveal.nonces[offer.seat] if offer.seat < len(reveal.nonces) else b""
        return (
            opened == offer.commitment.hash
            and bot_seed(reveal.seed, offer.seat) == offer.bot_seed
            and self.nonce in {None, used}
        )

    def _options(self) -> bytes:
        """Return the options in msgpack, keys in the order in which they came."""
        raw = self.offer.options
        if not raw:
            return MSGPACK.encode({})
        if self.encoding is MSGPACK:
            return raw
        return MSGPACK.encode(self.encoding.decode(raw, "options"))
