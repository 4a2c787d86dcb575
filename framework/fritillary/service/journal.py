"""What the journal of a server tells of its bots, its matches and its tokens.

A line says what has happened, then who and what as ``name=value``. Nothing in it is
hidden from spectators: no seed, no observation, no action, no note, and no token.
Whatever others choose is escaped and cut as in the lines about refused calls.
"""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from fritillary.core.journal import journal, journal_of_bots
from fritillary.referee.seen import MatchResult
from fritillary.service.audit import address, current, named, word
from fritillary.service.ordering import shown
from fritillary.service.tokens import Token

if TYPE_CHECKING:
    from fritillary.service.hosted import HostedMatch
    from fritillary.service.remote import RemotePlayer
    from fritillary.service.session import Session

#: Characters of a player's name that need no escape.
_OF_PLAYERS: Final = ":=+"

#: Phases of a match that has not been dealt.
_UNDEALT: Final = frozenset({"offered", "preparing"})

#: What became of a match that goes on with the next start of the server.
_GOES_ON: Final = "server.stopping"


# ------------------------------------------------------------------------------- bots


def bot_connected(session: Session, *, resumed: bool) -> None:
    """Tell that a bot is there.

    Args:
        session: of the bot, after its Hello.
        resumed: whether it goes on with the session before.
    """
    if not journal_of_bots.isEnabledFor(logging.INFO):
        return
    info = session.info
    journal_of_bots.info(
        "bot %s bot=%s peer=%s program=%s version=%s build=%s capacity=%d",
        "resumed" if resumed else "connected",
        named(session.token),
        address(session.peer),
        word(info.name),
        word(info.version),
        word(info.build),
        session.capacity,
        extra={"source": session.token.name},
    )


def bot_lost(session: Session, reason: str = "") -> None:
    """Tell that the stream of a bot has ended.

    Args:
        session: of the bot.
        reason: a code; empty: that with which one side has said goodbye.
    """
    if not journal_of_bots.isEnabledFor(logging.INFO):
        return
    journal_of_bots.info(
        "bot lost bot=%s reason=%s matches=%d",
        named(session.token),
        word(reason or session.parting or "cut"),
        len(session.link.matches),
        extra={"source": session.token.name},
    )


def seat_waits(bot: str, player: RemotePlayer) -> None:
    """Tell that a seat waits for its bot, or that the bot is back.

    Args:
        bot: its name.
        player: in the seat.
    """
    if not journal_of_bots.isEnabledFor(logging.INFO):
        return
    journal_of_bots.info(
        "bot %s bot=%s match=%s seat=%d left_ms=%d",
        "awaited" if player.away else "back",
        word(bot),
        player.match_id,
        player.seat,
        player.loss.waiting_left_ms if player.away else player.loss.left_ms,
        extra={"source": bot},
    )


# ---------------------------------------------------------------------------- matches


def match_made(hosted: HostedMatch) -> None:
    """Tell of a new match, and go on to tell what becomes of it."""
    if not journal.isEnabledFor(logging.INFO):
        return
    call = current.get()
    by = "" if call is None or call.token is None else f" by={named(call.token)}"
    journal.info("match made %s%s", _about(hosted), by)
    hosted.on_change(_Story(hosted, started=False))


def match_taken_up(hosted: HostedMatch, *, started: bool) -> None:
    """Tell of a match that goes on after a restart, and go on to tell of it.

    Args:
        hosted: the match.
        started: whether it had been dealt; else its seats are offered anew.
    """
    if not journal.isEnabledFor(logging.INFO):
        return
    bots = ",".join(sorted(hosted.bots)) or "-"
    how = "dealt" if started else "offered"
    journal.info("match taken-up %s was=%s awaits=%s", _about(hosted), how, bots)
    hosted.on_change(_Story(hosted, started=started))


def match_left(match_id: str, ply: int) -> None:
    """Tell of a match that the next start of the server takes up."""
    journal.info("match kept match=%s ply=%d", match_id, ply)


def _about(hosted: HostedMatch) -> str:
    order = hosted.order
    players = ",".join(word(shown(spec), _OF_PLAYERS) for spec in order.specs)
    game = word(order.game_name, _OF_PLAYERS)
    return f"match={hosted.id} game={game} players={players}"


class _Story:
    """Tells of one match whenever it is somewhere else.

    Args:
        hosted: the match.
        started: whether that was told, or has happened before a restart.
    """

    __slots__ = ("_hosted", "_paused", "_started")

    def __init__(self, hosted: HostedMatch, *, started: bool) -> None:
        self._hosted = hosted
        self._started = started
        self._paused = False

    def __call__(self) -> None:
        """Look where the match is."""
        hosted = self._hosted
        phase = hosted.phase
        if hosted.over:
            hosted.off_change(self)
            _ended(hosted)
        elif phase not in _UNDEALT and phase not in {"closing", "ended"}:
            if not self._started:
                self._started = True
                journal.info("match started match=%s", hosted.id)
            paused = phase == "paused"
            if paused and not self._paused:
                why = word(hosted.status().message)
                journal.info("match paused match=%s message=%s", hosted.id, why)
            elif self._paused and not paused:
                journal.info("match resumed match=%s", hosted.id)
            self._paused = paused


def _ended(hosted: HostedMatch) -> None:
    """Tell how a match has ended, or that it has not."""
    result = hosted.result
    error = hosted.ended.exception()
    if result is None:
        code = getattr(error, "code", "") or "internal"
        if code == _GOES_ON:
            match_left(hosted.id, hosted.ply)
            return
        journal.info("match ended match=%s how=failed code=%s", hosted.id, word(code))
        return
    match_ended(hosted.id, result, recorded=error is None)


def match_ended(match_id: str, result: MatchResult, *, recorded: bool) -> None:
    """Tell how a match has ended.

    Args:
        match_id: of the match.
        result: of it.
        recorded: whether its record tells the same.
    """
    finish = result.finish
    words = [
        f"how={finish.kind.value}",
        f"code={word(finish.code)}",
        f"plies={result.plies}",
    ]
    outcome = finish.outcome
    if outcome is not None:
        scores = ",".join(map(str, outcome.scores))
        places = ",".join(map(str, outcome.placing))
        words += [
            f"reason={word(outcome.reason)}",
            f"scores={scores}",
            f"places={places}",
        ]
    if not recorded:
        words.append("recorded=no")
    journal.info("match ended match=%s %s", match_id, " ".join(words))


# ------------------------------------------------------------- tokens, and the server


def tokens_changed(
    before: Mapping[str, tuple[Token, str]], now: Mapping[str, tuple[Token, str]]
) -> None:
    """Tell which tokens were made, revoked or removed, or have expired.

    Nothing is told of a token that has expired and is good again: nobody did anything
    to it, the clock was set back. Nor is it told that one is removed that was revoked.

    Args:
        before: the tokens there were, each with its state, by hash.
        now: those that there are.
    """
    if not journal.isEnabledFor(logging.INFO):
        return
    for key, (token, state) in now.items():
        then, was = before.get(key, (None, "good"))
        # Whoever writes the file by hand may give a token back.
        back = state == "good" != was and then != token
        if then is None or back:
            _token("added", token)
        if state not in {"good", was}:
            _token(state, token)
    for key, (token, was) in before.items():
        if key not in now and was != "revoked":
            _token("removed", token)


def _token(what: str, token: Token) -> None:
    journal.info("token %s token=%s role=%s", what, named(token), token.role.value)


def serving(where: str, taken_up: int) -> None:
    """Tell that the server listens.

    Args:
        where: its address.
        taken_up: matches of an earlier run that go on.
    """
    journal.info("server serving address=%s taken_up=%d", where, taken_up)


def stopping(unfinished: int) -> None:
    """Tell that the server stops.

    Args:
        unfinished: matches that go on with its next start.
    """
    journal.info("server stopping unfinished=%d", unfinished)


def stopped() -> None:
    """Tell that the server has stopped."""
    journal.info("server stopped")


def renewed(until: dt.datetime) -> None:
    """Tell that the server has another certificate than at its start.

    Args:
        until: its end, UTC.
    """
    journal.info("server certificate-renewed until=%s", f"{until:%Y-%m-%dT%H:%MZ}")


def certificate(until: dt.datetime, left: dt.timedelta) -> None:
    """Warn that the certificate of the server is over, or soon will be.

    Args:
        until: its end, UTC.
        left: the time until then.
    """
    over = left <= dt.timedelta()
    journal.warning(
        "server certificate-%s until=%s days=%d",
        "over" if over else "ending",
        f"{until:%Y-%m-%dT%H:%MZ}",
        left // dt.timedelta(days=1),
    )
