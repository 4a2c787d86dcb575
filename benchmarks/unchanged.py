"""A variant that changes nothing: what a wrapper costs by itself."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from fritillary import VariantInfo, hookimpl


@hookimpl
def describe_variant() -> VariantInfo:
    return VariantInfo(
        id="unchanged",
        title="Unchanged",
        summary="The same game.",
        version=1,
        games=("lepidoptery", "connect-four"),
    )


@hookimpl(wrapper=True)
def legal_actions(state: Any) -> Generator[None, Sequence[Any], Sequence[Any]]:
    return (yield)
