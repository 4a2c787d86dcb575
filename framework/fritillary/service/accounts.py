"""What each caller has under way: calls that run, and answers that nobody reads.

gRPC does not let go of an answer before it is read, and nothing ends a call whose
answer waits to be. So a call has a place only as long as it may take, and what waits is
counted in bytes, for each caller and for all callers of a kind together.
"""

from __future__ import annotations

from collections import Counter
from contextvars import ContextVar
from typing import Final

from attrs import frozen

from fritillary.core.errors import ServiceError

#: What a call takes in memory beside its answer, in bytes, about.
CALL_BYTES: Final = 16 * 1024

#: Who makes the running call: the hash of a token, or an address. Set by `Admission`.
calling: ContextVar[str] = ContextVar("calling", default="")

#: Whether the running call has shown a good token. Set by `Admission`.
is_known: ContextVar[bool] = ContextVar("is_known", default=False)


@frozen(kw_only=True)
class Share:
    """What callers of one kind may have.

    Args:
        whose: calls they are, for people.
        calls: that run at once, of one caller.
        all_calls: of all callers together; ``None``: as many as each may have.
        unread: bytes of answers that one caller does not read.
        all_unread: of all callers together; ``None``: as many as each may have.
        mend: what else a caller can do, for people.
    """

    whose: str
    calls: int
    all_calls: int | None = None
    unread: int
    all_unread: int | None = None
    mend: str = ""


class Accounts:
    """Counts for callers of one kind.

    Args:
        share: that they have.
    """

    def __init__(self, share: Share) -> None:
        self._share = share
        self._calls: Counter[str] = Counter()
        self._unread: Counter[str] = Counter()
        self._all_calls = 0
        self._all_unread = 0

    @property
    def count(self) -> int:
        """How many calls run."""
        return self._all_calls

    @property
    def unread(self) -> int:
        """How many bytes of answers wait to be read."""
        return self._all_unread

    def opened(self, who: str) -> Account:
        """Return the account of a call that begins; it must be closed.

        Args:
            who: calls.

        Raises:
            ServiceError: ``limit.calls`` if too many run, ``limit.unread`` if too many
                of those before are not read.
        """
        share = self._share
        if self._calls[who] >= share.calls:
            raise _refused(f"{share.calls} calls run {share.whose}{share.mend}")
        if share.all_calls is not None and self._all_calls >= share.all_calls:
            raise _refused(f"too many call {share.whose} at the moment{share.mend}")
        self._check_unread(who, CALL_BYTES)
        return Account(self, who)

    def _check_unread(self, who: str, size: int) -> None:
        share = self._share
        # However large it is, one answer at a time is let through.
        if self._unread[who] and self._unread[who] + size > share.unread:
            msg = f"answers to calls {share.whose} are not read; read them first"
        elif (
            share.all_unread is not None
            and self._all_unread
            and self._all_unread + size > share.all_unread
        ):
            msg = f"too many read no answers to calls {share.whose}{share.mend}"
        else:
            return
        raise ServiceError(msg, code="limit.unread", retry_after_ms=1_000)

    def call(self, who: str, number: int) -> None:
        """Count calls that run; negative where they are done."""
        self._all_calls += number
        _add(self._calls, who, number)

    def hold(self, who: str, size: int) -> None:
        """Count bytes that are to wait until they are read.

        Raises:
            ServiceError: ``limit.unread`` if they are too many, which are not counted.
        """
        self._check_unread(who, size)
        self.keep(who, size)

    def keep(self, who: str, size: int) -> None:
        """Count bytes that wait in any case; negative where they wait no longer."""
        self._all_unread += size
        _add(self._unread, who, size)


class Account:
    """What one call has under way.

    Args:
        accounts: of all of its kind.
        who: calls.
    """

    __slots__ = ("_accounts", "_held", "_runs", "_who")

    def __init__(self, accounts: Accounts, who: str) -> None:
        self._accounts = accounts
        self._who = who
        self._held = 0
        self._runs = True
        accounts.call(who, 1)

    def hold(self, size: int) -> None:
        """Count an answer until the account is closed; see `Accounts.hold`."""
        self._accounts.hold(self._who, size + CALL_BYTES)
        self._held += size + CALL_BYTES

    def leave(self) -> None:
        """Give the place to others: only the answer is still to be read."""
        if self._runs:
            self._runs = False
            self._accounts.call(self._who, -1)

    def linger(self) -> None:
        """Give the place to others, and count what cannot be ended."""
        if self._runs:
            self.leave()
            self._accounts.keep(self._who, CALL_BYTES)
            self._held += CALL_BYTES

    def close(self) -> None:
        """Count nothing more."""
        self.leave()
        self._accounts.keep(self._who, -self._held)
        self._held = 0


def _add(counter: Counter[str], key: str, number: int) -> None:
    counter[key] += number
    if not counter[key]:
        del counter[key]


def _refused(msg: str) -> ServiceError:
    return ServiceError(msg, code="limit.calls", retry_after_ms=1_000)
