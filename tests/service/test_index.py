"""The index of the folder of records: read once, and true whatever is put there."""

from __future__ import annotations

import errno
import os
import random
import shutil
import tracemalloc

import attrs
import pytest
from tests.service import pig

from fritillary.record import reader
from fritillary.record.events import GameRef
from fritillary.record.terms import PlayerInfo
from fritillary.record.writer import MemorySink, RecordWriter
from fritillary.referee.absent import Absent
from fritillary.referee.setup import MatchSetup
from fritillary.service import index
from fritillary.service.index import Index, Wanted
from fritillary.service.places import Place

HEADER = MatchSetup(
    game=pig.registry().game("pig"),
    players=(Absent(PlayerInfo("a")), Absent(PlayerInfo("b"))),
    match_id="m",
).header(framework="test", created_at_ms=0)

#: When the first of the records was made.
DAY_MS = 10**12


def bytes_of(match_id, made_at_ms, **header):
    """Return a record that has but its header."""
    sink = MemorySink()
    made = attrs.evolve(HEADER, match_id=match_id, created_at_ms=made_at_ms, **header)
    RecordWriter(sink, made)
    return sink.getvalue()


def put(folder, match_id, made_at_ms, *, written_at_ms=None, **header):
    """Write a record, at once or so much later."""
    path = folder / f"{match_id}.frec"
    path.write_bytes(bytes_of(match_id, made_at_ms, **header))
    at_ms = made_at_ms if written_at_ms is None else written_at_ms
    os.utime(path, ns=(0, at_ms * 1_000_000))
    return path


def wanted(**more):
    settings = {
        "after": None,
        "until": None,
        "most": 1_000,
        "known": frozenset(),
        "named": lambda _: True,
        "labels": {},
        **more,
    }
    return Wanted(**settings)


def ids(index_of, most=1_000, looks=10_000, **more):
    """Return the ids that an index finds, part by part."""
    asked = wanted(**more)
    index_of.look()
    found = []
    after = asked.after
    while True:
        part = index_of.part(asked, after, most, looks)
        found += [place.match_id for place in part.places]
        if part.end:
            return found
        assert part.last is not None or not part.looked
        after = part.last


@pytest.fixture
def headers_read(monkeypatch):
    """Return the ids of the records whose headers were read."""
    read = []
    plain = index.header_of

    def noted(path):
        read.append(path.stem)
        return plain(path)

    monkeypatch.setattr(index, "header_of", noted)
    return read


@pytest.fixture
def scans(monkeypatch):
    """Return how often the names in a folder were read."""
    folders = []
    plain = os.scandir

    def noted(folder):
        folders.append(folder)
        return plain(folder)

    monkeypatch.setattr(os, "scandir", noted)
    return folders


def settle(folder):
    """Let the last change of a folder be long ago."""
    os.utime(folder, ns=(0, DAY_MS * 1_000_000))


def test_records_come_in_the_order_in_which_their_matches_were_made(tmp_path):
    rng = random.Random(1)
    made = {f"m{n:03}": DAY_MS + rng.randrange(300_000) for n in range(200)}
    for match_id, at_ms in made.items():
        # Matches take their time; and some files were given another one by hand.
        put(tmp_path, match_id, at_ms, written_at_ms=at_ms + rng.randrange(600_000))
    expected = sorted(made, key=lambda one: (made[one], one), reverse=True)
    assert ids(Index(tmp_path)) == expected
    # In parts of any size, each with an index that knows nothing yet.
    for most in (1, 7, 64):
        assert ids(Index(tmp_path), most) == expected
        assert ids(Index(tmp_path), looks=most) == expected
    middle = Place(made[expected[100]], expected[100])
    assert ids(Index(tmp_path), after=middle) == expected[101:]
    assert ids(Index(tmp_path), until=middle) == expected[:100]


def test_a_header_is_read_once_however_many_pages_are_asked_for(tmp_path, headers_read):
    for number in range(200):
        put(tmp_path, f"m{number:03}", DAY_MS + number)
    known = Index(tmp_path)
    first = ids(known, 10)
    assert len(headers_read) == len(set(headers_read)) == 200
    assert ids(known, 10) == first
    assert len(headers_read) == 200


def test_the_first_page_reads_no_more_than_may_stand_there(tmp_path, headers_read):
    for number in range(200):
        put(tmp_path, f"m{number:03}", DAY_MS + number * 60_000)
    known = Index(tmp_path)
    known.look()
    part = known.part(wanted(), None, 5, 10_000)
    assert [one.match_id for one in part.places] == [
        *("m199", "m198", "m197", "m196", "m195")
    ]
    assert len(headers_read) < 10


def test_between_so_many_headers_others_come_in(tmp_path, headers_read):
    for number in range(3 * index._HEADERS):
        # All might have been made last.
        put(tmp_path, f"m{number:03}", DAY_MS + number, written_at_ms=2 * DAY_MS)
    known = Index(tmp_path)
    known.look()
    part = known.part(wanted(), None, 5, 10_000)
    assert (part.places, part.looked, part.end) == ([], 0, False)
    assert len(headers_read) == index._HEADERS


def test_what_is_put_there_or_taken_away_by_hand_is_noticed(tmp_path):
    for number in range(4):
        put(tmp_path, f"m{number}", DAY_MS + number)
    known = Index(tmp_path)
    assert ids(known) == ["m3", "m2", "m1", "m0"]
    (tmp_path / "m2.frec").unlink()
    assert ids(known) == ["m3", "m1", "m0"]
    put(tmp_path, "new", DAY_MS + 2)
    assert ids(known) == ["m3", "new", "m1", "m0"]
    settle(tmp_path)
    assert ids(known) == ["m3", "new", "m1", "m0"]
    (tmp_path / "m3.frec").rename(tmp_path / "m3.old")
    assert ids(known) == ["new", "m1", "m0"]
    shutil.rmtree(tmp_path)
    assert ids(known) == []
    tmp_path.mkdir()
    put(tmp_path, "m5", DAY_MS)
    assert ids(known) == ["m5"]


def test_a_record_that_takes_the_place_of_another_is_noticed(tmp_path):
    put(tmp_path, "a", DAY_MS)
    put(tmp_path, "b", DAY_MS + 1)
    known = Index(tmp_path)
    assert ids(known) == ["b", "a"]
    (tmp_path / "other").mkdir()
    put(tmp_path / "other", "a", DAY_MS + 2).replace(tmp_path / "a.frec")
    assert ids(known) == ["a", "b"]


def test_a_folder_in_which_nothing_happens_is_not_read_again(tmp_path, scans):
    put(tmp_path, "a", DAY_MS)
    settle(tmp_path)
    known = Index(tmp_path)
    for _ in range(3):
        assert ids(known) == ["a"]
    assert len(scans) == 1


def test_a_folder_that_was_changed_just_now_is_read_again(tmp_path, scans):
    """Its time is coarse: what happens in the same moment may leave it as it is."""
    put(tmp_path, "a", DAY_MS)
    known = Index(tmp_path)
    assert ids(known) == ["a"]
    changed_ns = tmp_path.stat().st_mtime_ns
    put(tmp_path, "b", DAY_MS + 1)
    os.utime(tmp_path, ns=(0, changed_ns))
    assert ids(known) == ["b", "a"]
    assert len(scans) == 2


def test_a_header_that_is_written_late_is_found(tmp_path, headers_read):
    raw = bytes_of("m", DAY_MS)
    path = tmp_path / "m.frec"
    path.touch()
    settle(tmp_path)
    known = Index(tmp_path)
    assert ids(known) == []
    # Half of it, then all; nothing happens to the folder.
    path.write_bytes(raw[: len(raw) // 2])
    assert ids(known) == []
    count = len(headers_read)
    assert ids(known) == []
    assert len(headers_read) == count
    path.write_bytes(raw)
    assert ids(known) == ["m"]


def test_a_record_that_cannot_be_read_for_a_while_is_found_later(tmp_path, monkeypatch):
    put(tmp_path, "m", DAY_MS)
    settle(tmp_path)
    known = Index(tmp_path)

    def fail(_):
        raise OSError(errno.EMFILE, "too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(reader, "open_regular", fail)
        assert ids(known) == []
        assert ids(known) == []
    assert ids(known) == ["m"]


def test_what_is_no_record_is_left_out(tmp_path):
    put(tmp_path, "m", DAY_MS)
    (tmp_path / "garbage.frec").write_bytes(b"garbage")
    (tmp_path / "folder.frec").mkdir()
    (tmp_path / "renamed.frec").write_bytes(bytes_of("another", DAY_MS))
    (tmp_path / "no name.frec").write_bytes(bytes_of("m", DAY_MS))
    (tmp_path / "m.txt").touch()
    (tmp_path / "gone.frec").symlink_to(tmp_path / "nowhere")
    known = Index(tmp_path)
    for _ in range(2):
        assert ids(known) == ["m"]


def test_a_record_that_does_not_stand_where_it_stood_is_looked_at_again(tmp_path):
    # Made after it was written: it counts as made then.
    path = put(tmp_path, "a", 2 * DAY_MS, written_at_ms=DAY_MS)
    put(tmp_path, "b", DAY_MS + 1)
    known = Index(tmp_path)
    assert ids(known) == ["b", "a"]
    os.utime(path, ns=(0, 2 * DAY_MS * 1_000_000))
    known.moved("a")
    assert ids(known) == ["a", "b"]
    known.moved("nobody")


def test_only_those_are_found_that_have_the_game_and_the_labels(tmp_path):
    chess = GameRef("chess", 1)
    for number in range(12):
        labels = {"odd": str(number % 2), "third": str(number % 3)}
        game = chess if number < 6 else HEADER.game
        put(tmp_path, f"m{number:02}", DAY_MS + number, labels=labels, game=game)
    known = Index(tmp_path)
    assert ids(known, labels={"odd": "1", "third": "0"}) == ["m09", "m03"]
    assert ids(known, labels={"odd": "2"}) == []
    assert ids(known, labels={"0": "odd"}) == []
    assert ids(known, named=lambda game: game == chess, labels={"third": "1"}) == [
        *("m04", "m01")
    ]
    assert ids(known, known={"m09"}, labels={"third": "0"}) == ["m06", "m03", "m00"]


def test_a_record_takes_half_a_kilobyte_however_long_its_labels_are(tmp_path):
    labels = {f"label-{number}": "x" * 64 for number in range(16)}
    count = 300
    for number in range(count):
        put(tmp_path, f"m-{number:016x}", DAY_MS + number, labels=labels)
    known = Index(tmp_path)
    tracemalloc.start()
    try:
        assert len(ids(known)) == count
        held = tracemalloc.take_snapshot()
    finally:
        tracemalloc.stop()
    own = held.filter_traces([tracemalloc.Filter(True, index.__file__)])
    assert sum(one.size for one in own.statistics("lineno")) < count * 512
