"""What waits for a bot: in order, in frames of a bounded size, without waste."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from fritillary.service.outbox import FRAME_BYTES, Outbox

sizes = st.lists(
    st.integers(1, 200)
    | st.sampled_from([FRAME_BYTES - 1, FRAME_BYTES, FRAME_BYTES + 1])
)


def entries_of(sizes):
    return [bytes([number % 256]) * size for number, size in enumerate(sizes)]


def frames_of(outbox):
    frames = []
    while outbox:
        frames.append(outbox.take())
    return frames


@given(sizes)
def test_entries_leave_whole_and_in_order(sizes):
    entries = entries_of(sizes)
    outbox = Outbox()
    for entry in entries:
        outbox.put(entry)
    assert outbox.held == sum(sizes)
    frames = frames_of(outbox)
    assert b"".join(frames) == b"".join(entries)
    left = iter(entries)
    for frame in frames:
        size = 0
        count = 0
        while size < len(frame):
            size += len(next(left))
            count += 1
        assert size == len(frame)
        assert size <= FRAME_BYTES or count == 1


@given(sizes)
def test_a_frame_is_held_until_it_was_sent(sizes):
    outbox = Outbox()
    for entry in entries_of(sizes):
        outbox.put(entry)
    held = outbox.held
    while outbox:
        frame = outbox.take()
        assert outbox.held == held
        outbox.sent(frame)
        held -= len(frame)
        assert outbox.held == held
    assert held == 0


def test_what_comes_while_a_frame_is_under_way_is_the_next_one():
    outbox = Outbox()
    outbox.put(b"a")
    frame = outbox.take()
    assert not outbox
    outbox.put(b"b")
    outbox.put(b"c")
    assert (frame, outbox.take()) == (b"a", b"bc")


def test_what_is_dropped_is_held_no_more():
    outbox = Outbox()
    outbox.put(b"a" * FRAME_BYTES)
    outbox.put(b"b")
    outbox.clear()
    assert not outbox
    assert outbox.held == 0
    outbox.put(b"c")
    assert outbox.take() == b"c"


def test_many_small_entries_take_little_more_than_their_bytes():
    outbox = Outbox()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for number in range(100_000):
            outbox.put(b"%08d" % number)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert outbox.held == 800_000
    assert after - before < 1.5 * outbox.held
