"""A variant that changes nothing, by a wrapper that keeps its generator."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from fritillary import VariantInfo, hookimpl


@hookimpl
def describe_variant() -> VariantInfo:
    return VariantInfo(
        id="unchanged-guarded",
        title="Unchanged, with a guard",
        summary="The same game.",
        version=1,
        games=("lepidoptery", "connect-four"),
    )


@hookimpl(wrapper=True)
def legal_actions(state: Any) -> Generator[None, Sequence[Any], Sequence[Any]]:
    try:
        return (yield)
    finally:
        pass
