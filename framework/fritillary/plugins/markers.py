"""The two markers; a leaf module, so that a plugin costs one light import."""

from __future__ import annotations

from typing import Final

import pluggy

#: The project name under which pluggy keeps our hooks apart from others.
PROJECT: Final = "fritillary"

#: Marks a function of a plugin module as the implementation of the hook it is
#: named after; ``@hookimpl(wrapper=True)`` marks a wrapper in a variant.
hookimpl: Final = pluggy.HookimplMarker(PROJECT)

hookspec: Final = pluggy.HookspecMarker(PROJECT)
