"""Whose turn it is, in words: what all games tell those who may not act."""

from __future__ import annotations


def not_to_move(seat: int | None, to_move: int | None, over: str) -> str | None:
    """Say why an observer may not act at all, or return nothing.

    Args:
        seat: who observes; nothing for a spectator.
        to_move: the seat to act; nothing after the end.
        over: what is told after the end.
    """
    if to_move is None:
        return over
    if seat is None:
        return "a spectator does not play"
    if seat != to_move:
        return f"it is not your turn: seat {to_move} is to move"
    return None
