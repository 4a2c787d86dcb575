from __future__ import annotations

import gc
import weakref

from fritillary.core.weak import weakly


class Owner:
    """Keeps a callback into itself."""

    def __init__(self):
        self.heard = []
        self.callback = weakly(self.hear)

    def hear(self, *what, **more):
        self.heard.append((what, more))


def test_a_call_reaches_the_object_while_it_is_kept():
    owner = Owner()
    owner.callback(1, two=2)
    assert owner.heard == [((1,), {"two": 2})]


def test_an_object_goes_at_once_though_it_keeps_its_own_callback():
    gc.disable()
    try:
        owner = Owner()
        callback, there = owner.callback, weakref.ref(owner)
        del owner
        assert there() is None
    finally:
        gc.enable()
    # Nobody hears it, and nothing is raised.
    callback(1)
