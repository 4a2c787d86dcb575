"""Nim: take any number of stones from one heap; who takes the last stone wins."""

from attrs import define, field, frozen, validators

from fritillary import (
    ACTS,
    Dealer,
    DecisionPoint,
    GameInfo,
    Information,
    Outcome,
    Over,
    hookimpl,
)


@frozen
class Options:
    """What may differ: 1 to 10 heaps of 1 to 100 stones, from left to right."""

    heaps: tuple[int, ...] = field(default=(3, 4, 5), validator=[
        validators.min_len(1), validators.max_len(10),
        validators.deep_iterable([validators.ge(1), validators.le(100)]),
    ])  # fmt: skip


@frozen(cache_hash=True)
class Take:
    """Take some stones from the heap at a position, counted from 0."""

    heap: int
    stones: int


@define
class State:
    """The heaps as they stand; seat is who takes next."""

    options: Options
    heaps: list[int]
    seat: int = 0


@hookimpl
def describe() -> GameInfo:
    return GameInfo(
        id="nim", title="Nim", summary="Take stones; the last stone wins.",
        rules_version=1, min_seats=2, max_seats=2, information=Information.PERFECT,
        chance=False, constant_sum=1, max_plies=1000, options=Options, state=State,
        actions=(Take,), observation=State, reasons={"last-stone": "No stone is left."},
    )  # fmt: skip


@hookimpl
def new_state(options: Options, seats: int, dealer: Dealer) -> State:
    return State(options, list(options.heaps))


@hookimpl
def decision_point(state: State) -> DecisionPoint:
    if any(state.heaps):
        return ACTS[state.seat]
    return Over(Outcome.ranked("last-stone", (state.seat, 1 - state.seat)))


def takes(heaps: tuple[int, ...] | list[int]) -> tuple[Take, ...]:
    return tuple(Take(i, n) for i, h in enumerate(heaps) for n in range(1, h + 1))


@hookimpl
def all_actions(options: Options, seats: int) -> tuple[Take, ...]:
    return takes(options.heaps)


@hookimpl
def legal_actions(state: State) -> tuple[Take, ...]:
    return takes(state.heaps)


@hookimpl
def apply_action(state: State, action: Take) -> None:
    state.heaps[action.heap] -= action.stones
    state.seat = 1 - state.seat


@hookimpl
def format_action(action: Take) -> str:
    return f"take {action.stones} from {action.heap}"


@hookimpl
def draw_text(observation: State) -> str:
    return "\n".join(f"{i}: {'o' * n}" for i, n in enumerate(observation.heaps))
