"""Options that would mean nothing beside what else is asked for."""

from __future__ import annotations

from collections.abc import Mapping

from fritillary.core.errors import UsageError


def leave_out(why: str, options: Mapping[str, object], code: str = "together") -> None:
    """Refuse options that would be taken and ignored.

    Args:
        why: they mean nothing here, as the beginning of a sentence.
        options: by name, as the command got them; those that were not given are
            ``None``, false or empty.
        code: of the error, behind ``usage.``.

    Raises:
        UsageError: naming those that were given.
    """
    given = [name for name, value in options.items() if _is_given(value)]
    if given:
        *names, last = given
        named = f"{', '.join(names)} and {last}" if names else last
        raise UsageError(f"{why}; leave out {named}", code=f"usage.{code}")


def _is_given(value: object) -> bool:
    # A number is given, also if it is 0.
    return bool(value) or (isinstance(value, int) and not isinstance(value, bool))
