"""Files that commands write: records are never lost, and no file is half written."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Program, Run, one_line
from tests.cli.houses import GAME
from tests.ids import steady

from fritillary.cli.claims import claimed
from fritillary.cli.files import write_text
from fritillary.core.errors import StorageError, UsageError
from fritillary.record.whole import put

TWO = ("-s", "uniform", "-s", "uniform")
SERVER = ("--server", "127.0.0.1:1", "--token", "x")
SERVER_OF_BOT = ("--address", "127.0.0.1:1", "--token", "x")

TAKEN = "there is a file already; name another with --record"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# ------------------------------------------------------------------ records of matches


@pytest.mark.parametrize("server", [(), SERVER], ids=["here", "at a server"])
def test_a_file_that_another_match_is_to_fill_is_refused_before_one_is_played(
    run: Run, tmp_path: Path, server: tuple[str, ...]
) -> None:
    target = tmp_path / "same.frec"
    with claimed(target):
        code, said, error = run("match", GAME, *TWO, *server, "--record", target)
        assert (code, said) == (2, "")
        assert one_line(error).endswith(f"{target}: {TAKEN}")
    assert not list(tmp_path.rglob("*.frec"))


@pytest.mark.system
def test_of_matches_that_are_to_fill_the_same_file_one_is_played(
    run: Run, start: Callable[..., Program], tmp_path: Path
) -> None:
    target = tmp_path / "same.frec"
    words = ("match", GAME, *TWO, "--record", target)
    programs = [start(*words) for _ in range(4)]
    ends = [program.end() for program in programs]
    assert sorted(code for code, _, _ in ends) == [0, 2, 2, 2]
    for code, said, error in ends:
        assert code or said.splitlines()[-1] == f"record  {target}"
        assert not code or TAKEN in one_line(error)
    assert len(list((tmp_path / "data" / "records").glob("*.frec"))) == 1
    assert run("verify", target)[0] == 0


@pytest.mark.system
def test_what_a_killed_command_leaves_behind_is_in_nobody_s_way(
    run: Run, start: Callable[..., Program], tmp_path: Path
) -> None:
    target = tmp_path / "m.frec"
    words = ("-s", "remote:nobody", "-s", "uniform", "--record", target)
    program = start("match", GAME, *words)
    assert "waiting" in program.error_line()
    assert target.stat().st_size == 0
    code, _, error = run("match", GAME, *TWO, "--record", target)
    assert code == 2
    assert TAKEN in one_line(error)
    program.process.kill()
    program.process.wait(60)
    assert names(tmp_path) == ["data", "m.frec"]
    assert run("match", GAME, *TWO, "--record", target)[0] == 0
    assert run("verify", target)[0] == 0


def test_a_match_that_was_not_played_leaves_no_file(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "m.frec"
    for words in (("-s", "nobody"), ("-s", "exec:/no/such/program")):
        assert run("match", GAME, *words, *TWO[2:], "--record", target)[0] != 0
        assert not target.exists()
    assert run("match", GAME, *TWO, *SERVER, "--record", target)[0] == 1
    assert not target.exists()


@pytest.mark.parametrize("kind", ["file", "link", "link to nothing", "pipe", "folder"])
def test_what_is_there_is_left_as_it_is(tmp_path: Path, kind: str) -> None:
    target, other = tmp_path / "m.frec", tmp_path / "other"
    if kind == "file":
        target.write_text("precious")
    elif kind == "pipe":
        os.mkfifo(target)
    elif kind == "folder":
        target.mkdir()
    else:
        target.symlink_to(other)
        if kind == "link":
            other.touch()
    before = target.lstat()
    with pytest.raises(UsageError), claimed(target):
        pass
    assert target.lstat().st_ino == before.st_ino
    assert other.exists() == (kind == "link")


def test_an_interrupt_leaves_no_file_and_a_failure_none(tmp_path: Path) -> None:
    def fail(error: BaseException) -> None:
        with claimed(tmp_path / "m.frec"):
            assert names(tmp_path) == ["m.frec"]
            raise error

    for error in (KeyboardInterrupt(), SystemExit(143), StorageError("x")):
        with pytest.raises(type(error)):
            fail(error)
        assert names(tmp_path) == []


def test_a_file_that_was_replaced_meanwhile_is_left_as_it_is(tmp_path: Path) -> None:
    target = tmp_path / "m.frec"
    with claimed(target) as claim:
        assert claim is not None
        target.unlink()
        with pytest.raises(StorageError, match="removed or replaced"):
            claim.put(b"record")
        target.write_text("of somebody else")
        with pytest.raises(StorageError, match="removed or replaced"):
            claim.put(b"record")
    assert target.read_text() == "of somebody else"


def test_a_disk_that_is_full_leaves_nothing_of_a_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = os.write

    def full(descriptor: int, raw: bytes) -> int:
        if len(raw) < 6:
            raise OSError(28, "No space left on device")
        return written(descriptor, raw[:1])

    with claimed(tmp_path / "m.frec") as claim:
        assert claim is not None
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(StorageError, match=r"m\.frec: No space left"):
            claim.put(b"record")
        monkeypatch.undo()
        assert (tmp_path / "m.frec").read_bytes() == b""
    assert names(tmp_path) == []


def test_the_record_is_to_be_found_where_it_cannot_be_copied(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(claim: object, raw: bytes) -> None:
        raise StorageError("m.frec: No space left on device", code="storage.file")

    monkeypatch.setattr("fritillary.cli.claims.Claim.put", gone)
    target = tmp_path / "m.frec"
    code, _, error = run("match", GAME, *TWO, "--record", target)
    assert code == 1
    _, _, path = one_line(error).rpartition("; the record is in ")
    assert run("verify", path)[0] == 0
    assert not target.exists()


# ------------------------------------------------------------------------ other files


def test_a_file_is_whole_whoever_writes_it_at_the_same_time(tmp_path: Path) -> None:
    target = tmp_path / "certificate.json"
    texts = [str(number) * (1 + number) * 100_000 for number in range(4)]
    threads = [
        threading.Thread(target=write_text, args=(target, text)) for text in texts
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert target.read_text() in texts
    assert names(tmp_path) == ["certificate.json"]


def test_of_those_who_do_not_replace_a_file_one_makes_it(tmp_path: Path) -> None:
    target = tmp_path / "m.frec"
    made: list[bytes] = []

    def make(raw: bytes) -> None:
        try:
            put(target, raw, overwrite=False)
        except FileExistsError:
            return
        made.append(raw)

    threads = [
        threading.Thread(target=make, args=(str(number).encode(),))
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert made == [target.read_bytes()]
    assert names(tmp_path) == ["m.frec"]


def test_links_and_rights_of_a_file_that_is_replaced_stay(tmp_path: Path) -> None:
    target, link = tmp_path / "x.svg", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o600


def test_what_is_written_into_a_pipe_arrives(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writing = threading.Thread(target=write_text, args=(pipe, "text"))
    writing.start()
    assert pipe.read_text() == "text"
    writing.join(60)
    assert pipe.is_fifo()


@pytest.mark.parametrize(
    "words",
    [
        ("export", "FREC", "--output"),
        ("show", "FREC", "--svg"),
        ("certify", GAME, "--law", "copy.equal", "--out"),
        ("certify", GAME, "--update-golden", "--golden"),
        ("certify", GAME, "--golden"),
        ("bot", "stdio:cat", *SERVER_OF_BOT, "--log"),
    ],
    ids=steady,
)
def test_another_record_is_not_written_over(
    run: Run, frec: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    other = tmp_path / "other.frec"
    other.write_bytes(frec.read_bytes())
    said = [frec if word == "FREC" else word for word in words]
    code, out, error = run(*said, other)
    assert (code, out) == (2, "")
    assert f"{other}: that is a match record" in one_line(error)
    assert other.read_bytes() == frec.read_bytes()
