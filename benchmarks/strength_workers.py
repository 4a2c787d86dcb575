"""Worker processes that play matches, and can be left at any moment."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Final

from attrs import define, field

from benchmarks.strength_pairings import Played, StrengthError, Task, play
from fritillary.core.errors import FritillaryError

_JOIN_S: Final = 10.0


def _work(tasks: Connection) -> None:
    """Play what comes until nothing comes any more."""
    # Ctrl-C is for the program, which ends its workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(EOFError, OSError):
        while True:
            task = tasks.recv()
            answer: Played | str
            try:
                answer = play(task)
            except (StrengthError, FritillaryError) as error:
                answer = str(error)
            tasks.send(answer)


@define(eq=False)
class Workers:
    """Processes, each of which plays one match at a time.

    A pool of the standard library waits for what is under way when it is left, or does
    not notice that a worker has died.
    """

    _processes: dict[Connection, BaseProcess] = field(factory=dict)
    _idle: list[Connection] = field(factory=list)
    _busy: dict[Connection, Task] = field(factory=dict)

    @property
    def free(self) -> bool:
        """Whether one waits for a task."""
        return bool(self._idle)

    @property
    def busy(self) -> bool:
        """Whether one plays."""
        return bool(self._busy)

    def add(self) -> None:
        """Start one more."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        self._processes[ours] = process
        self._idle.append(ours)

    def give(self, task: Task) -> None:
        """Let a free worker play.

        Raises:
            StrengthError: if it is gone.
        """
        worker = self._idle.pop(0)
        self._busy[worker] = task
        try:
            worker.send(task)
        except OSError as error:
            raise self._gone(worker) from error

    def results(self) -> list[tuple[Task, Played]]:
        """Wait until something is played; return all that is.

        Raises:
            StrengthError: if a match could not be played, or a worker is gone.
        """
        found = []
        for worker in wait(list(self._busy)):
            assert isinstance(worker, Connection)
            try:
                answer = worker.recv()
            except (EOFError, OSError) as error:
                raise self._gone(worker) from error
            if isinstance(answer, str):
                raise StrengthError(answer)
            found.append((self._busy.pop(worker), answer))
            self._idle.append(worker)
        return found

    def stop(self) -> None:
        """End them, whatever they do."""
        for process in self._processes.values():
            process.terminate()
        for worker, process in self._processes.items():
            process.join(_JOIN_S)
            worker.close()

    def _gone(self, worker: Connection) -> StrengthError:
        process = self._processes[worker]
        process.join(_JOIN_S)
        task = self._busy[worker]
        return StrengthError(
            f"a worker ended with code {process.exitcode} in block {task.block} of "
            f"{task.pairing.key}"
        )


@contextlib.contextmanager
def workers(number: int) -> Iterator[Workers]:
    """Return so many workers, which are ended afterwards."""
    crew = Workers()
    try:
        for _ in range(number):
            crew.add()
        yield crew
    finally:
        crew.stop()
