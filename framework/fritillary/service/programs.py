"""Whether referees may have programs started, which run as the user of the server."""

from __future__ import annotations

import enum


class Programs(enum.Enum):
    """Whose matches programs may play in that the server starts."""

    #: Nobody's.
    NEVER = "never"
    #: Those of referees, if all who can reach the server are on its machine.
    LOCAL = "local"
    #: Those of referees, wherever they are.
    ALWAYS = "always"

    def allowed(self, *, loopback: bool) -> bool:
        """Say whether referees may have programs started.

        Args:
            loopback: whether the server listens on loopback alone.
        """
        return self is Programs.ALWAYS or (self is Programs.LOCAL and loopback)
