# ruff: noqa: TID251 - dates certificates
"""``fritillary certify``."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn

from fritillary.app.application import Application
from fritillary.cli.codes import CHECK
from fritillary.cli.files import check_output, write_text
from fritillary.cli.interrupted import telling_of_interrupts
from fritillary.cli.output import console, looks_on, print_json, print_note, say
from fritillary.cli.together import leave_out
from fritillary.cli.values import (
    GameId,
    Json,
    Options,
    Preset,
    Seats,
    game_and_options,
)
from fritillary.core.errors import UsageError
from fritillary.plugins.game import Game
from fritillary.testing.certificate import (
    Certificate,
    Judgement,
    Verdict,
    plan_for,
)
from fritillary.testing.certificate import (
    certify as certify_game,
)
from fritillary.testing.laws import LAWS
from fritillary.testing.scene import setups

#: The law that looks at the golden playthrough.
_GOLDEN: Final = "playthrough.current"

_COLOURS = {
    Verdict.HOLDS: "green",
    Verdict.BROKEN: "bold red",
    Verdict.UNCLEAR: "bold yellow",
    Verdict.SKIPPED: "dim",
}


def certify(
    game_id: GameId,
    profile: Annotated[
        str,
        typer.Option(
            "--profile",
            metavar="PROFILE",
            help="quick (seconds) or thorough (minutes).",
        ),
    ] = "quick",
    law: Annotated[
        list[str] | None,
        typer.Option("--law", metavar="ID", help="This law only; may be repeated."),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="Of everything that is drawn.")
    ] = 0,
    seats: Seats = None,
    option: Options = None,
    preset: Preset = "",
    golden: Annotated[
        Path | None,
        typer.Option(
            "--golden", metavar="FILE", help="The golden playthrough of the game."
        ),
    ] = None,
    update_golden: Annotated[
        bool,
        typer.Option("--update-golden", help="Write that file, do not compare."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write the certificate there."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check every law of a game, and write a certificate.

    Without options, the defaults and every preset are played, with several numbers
    of seats: those that the options allow. Exit code 3 if a law is broken.

    Example: fritillary certify lepidoptery --out certificate.json
    """
    game, options = game_and_options(Application(), game_id, option, preset)
    if update_golden and golden is None:
        msg = "--update-golden writes the file that --golden names; name one"
        raise UsageError(msg, code="usage.golden")
    if law and _GOLDEN not in law:
        files = {"--golden": golden, "--update-golden": update_golden}
        leave_out(f"only the law {_GOLDEN} reads that file", files, code="golden")
    # Where it is written, its folder is made.
    if golden is not None and (golden.exists() or not update_golden):
        check_output(golden)
    if out is not None:
        check_output(out)
    if seats is not None:
        game.check_seats(seats)
    if option or preset:
        # Refused options are no fault of the game.
        setups(game, options, seats)
    plan = plan_for(
        profile, options=options if option or preset else None, seats=seats, seed=seed
    )
    total = len(law or LAWS)
    done = 0

    def kept() -> str:
        written = f", and {out} was not written" if out else ""
        return f"{done} of {total} laws were checked{written}"

    with (
        telling_of_interrupts(kept),
        Progress(
            SpinnerColumn(),
            TextColumn("{task.completed} of {task.total}  {task.description}"),
            console=console(stderr=True),
            transient=True,
            disable=as_json or not looks_on(),
        ) as progress,
    ):
        task = progress.add_task("", total=total)

        def begin(name: str) -> None:
            progress.update(task, description=name)

        def judged(judgement: Judgement) -> None:
            nonlocal done
            done += 1
            progress.advance(task)
            if not as_json:
                _print(judgement)

        certificate = certify_game(
            game,
            profile=profile,
            plan=plan,
            laws=law,
            source=game_id,
            golden=golden,
            update_golden=update_golden,
            date=datetime.now(UTC).isoformat(timespec="seconds"),
            progress=begin,
            judged=judged,
        )
    if out is not None:
        _write(out, certificate)
    if as_json:
        print_json(certificate.to_data())
    else:
        _print_end(game, certificate, out)
    if not certificate.holds:
        raise typer.Exit(CHECK)


def _print(judgement: Judgement) -> None:
    word = (f"{judgement.verdict.value:8}", _COLOURS[judgement.verdict])
    looked = f"  ({judgement.looked})" if judgement.looked else ""
    reason = f"  {judgement.reason}" if judgement.reason else ""
    say(word, f" {judgement.law:22}{looked}{reason}")
    if judgement.failure is not None:
        for line in str(judgement).splitlines():
            say(f"    {line}")


def _print_end(
    game: Game[Any, Any, Any], certificate: Certificate, out: Path | None
) -> None:
    counts = ", ".join(
        f"{len(certificate.laws(verdict))} {verdict.value}"
        for verdict in Verdict
        if certificate.laws(verdict)
    )
    verdict = "keeps the laws" if certificate.holds else "breaks laws"
    style = "bold green" if certificate.holds else "bold red"
    name = f"{game.id}, rules {game.info.rules_version}"
    say((f"{name}: {verdict}", style), f" ({counts})")
    if out is not None:
        print_note(f"certificate: {out}")


def _write(path: Path, certificate: Certificate) -> None:
    text = json.dumps(certificate.to_data(), indent=2, ensure_ascii=False)
    write_text(path, f"{text}\n")
