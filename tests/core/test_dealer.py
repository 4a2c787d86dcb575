"""The dealers: uniform, independent, reproducible, and strict about what they take."""

from __future__ import annotations

import enum
import itertools
import random
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fritillary.core import dealer as dealers
from fritillary.core.dealer import Dealer, FastDealer, SealedDealer

SEED = bytes(range(32))

labels = st.lists(st.text(max_size=5) | st.integers(-300, 300), max_size=4).map(tuple)
seeds = st.binary(min_size=32, max_size=32)


class Scripted(SealedDealer):
    """A sealed dealer whose bytes are given, to look at every case."""

    def __init__(self, raw: bytes) -> None:
        super().__init__(SEED)
        self.raw = raw
        self.taken = 0

    def _block(self) -> bytes:
        block = self.raw[self.taken : self.taken + 1]
        self.taken += 1
        if not block:
            raise EOFError
        return block


def both(seed: int = 7) -> list[Dealer]:
    return [SealedDealer(seed.to_bytes(32, "big")), FastDealer(seed)]


# ------------------------------------------------------------------------- below


@pytest.mark.parametrize("n", range(2, 257))
def test_below_is_exactly_uniform_over_the_first_byte(n: int) -> None:
    counts: Counter[int] = Counter()
    for byte in range(256):
        try:
            counts[Scripted(bytes([byte])).below(n)] += 1
        except EOFError:
            counts[-1] += 1
    refused = counts.pop(-1, 0)
    assert set(counts) == set(range(n))
    assert len(set(counts.values())) == 1
    assert refused < 128


@pytest.mark.parametrize("n", [257, 300, 1000, 65_535, 65_536])
def test_below_is_exactly_uniform_over_the_first_two_bytes(n: int) -> None:
    counts = Counter[int]()
    for high, low in itertools.product(range(256), repeat=2):
        try:
            counts[Scripted(bytes([high, low])).below(n)] += 1
        except EOFError:
            counts[-1] += 1
    counts.pop(-1, 0)
    assert set(counts) == set(range(n))
    assert len(set(counts.values())) == 1


def test_below_draws_again_after_a_value_that_is_too_large() -> None:
    # Five needs three bits: 0b111 and 0b101 are refused, 0b011 is taken.
    dealer = Scripted(bytes([0b1110_0000, 0b1010_0000, 0b0110_0000]))
    assert dealer.below(5) == 3
    assert dealer.taken == 3


def test_below_one_draws_nothing() -> None:
    dealer = Scripted(b"")
    assert dealer.below(1) == 0
    assert dealer.taken == 0
    one, other = SealedDealer(SEED), SealedDealer(SEED)
    other.below(1)
    assert one.below(1000) == other.below(1000)


@given(seeds, st.integers(1, 2**300))
@example(SEED, 2**256)  # one block exactly
@example(SEED, 2**256 + 1)  # one byte more than a block
def test_below_stays_below(seed: bytes, n: int) -> None:
    for dealer in (SealedDealer(seed), FastDealer(int.from_bytes(seed, "big"))):
        assert 0 <= dealer.below(n) < n


@pytest.mark.parametrize("dealer", both(), ids=["sealed", "fast"])
@pytest.mark.parametrize("n", [0, -1])
def test_below_refuses_numbers_under_one(dealer: Dealer, n: int) -> None:
    with pytest.raises(ValueError, match=f"at least 1, not {n}"):
        dealer.below(n)


@pytest.mark.parametrize("dealer", both(), ids=["sealed", "fast"])
@pytest.mark.parametrize("n", [1.0, True, "3", None])
def test_below_refuses_other_types(dealer: Dealer, n: object) -> None:
    with pytest.raises(TypeError, match="needs an integer"):
        dealer.below(n)  # type: ignore[arg-type]


# ---------------------------------------------------------- shuffle, choice, weights


@pytest.mark.parametrize("size", [0, 1])
def test_shuffling_less_than_two_items_draws_nothing(size: int) -> None:
    dealer = Scripted(b"")
    items = list(range(size))
    dealer.shuffle(items)
    assert items == list(range(size))


def test_every_order_of_four_comes_from_equally_many_draws() -> None:
    # below(4), below(3), below(2) take the top 2, 2 and 1 bits of a byte each.
    orders = Counter[tuple[int, ...]]()
    for i, j, k in itertools.product(range(4), range(3), range(2)):
        items = list(range(4))
        Scripted(bytes([i << 6, j << 6, k << 7])).shuffle(items)
        orders[tuple(items)] += 1
    assert set(orders) == set(itertools.permutations(range(4)))
    assert set(orders.values()) == {1}


@pytest.mark.parametrize("count", [0, 1, 2, 37, 129, 256, 257])
def test_the_quick_shuffle_is_the_common_one(count: int) -> None:
    quick, common = SealedDealer(SEED), SealedDealer(SEED)
    assert quick.below(1_000) == common.below(1_000)
    shuffled, expected = list(range(count)), list(range(count))
    quick.shuffle(shuffled)
    Dealer.shuffle(common, expected)
    assert shuffled == expected
    assert quick.below(70_000) == common.below(70_000)


@given(st.integers(), st.lists(st.integers(), max_size=60))
def test_shuffles_keep_the_items(seed: int, items: list[int]) -> None:
    for dealer in both(seed % 2**64):
        shuffled = list(items)
        dealer.shuffle(shuffled)
        assert sorted(shuffled) == sorted(items)


def test_the_fast_shuffle_reaches_every_order() -> None:
    dealer = FastDealer(3)
    orders = Counter[tuple[int, ...]]()
    for _ in range(3000):
        items = [0, 1, 2]
        dealer.shuffle(items)
        orders[tuple(items)] += 1
    assert len(orders) == 6
    assert min(orders.values()) > 400


def test_choice_takes_the_item_at_a_uniform_index() -> None:
    taken = [Scripted(bytes([byte << 6])).choice("abcd") for byte in range(4)]
    assert taken == ["a", "b", "c", "d"]


@pytest.mark.parametrize("dealer", both(), ids=["sealed", "fast"])
def test_choice_of_nothing_is_refused(dealer: Dealer) -> None:
    with pytest.raises(ValueError, match="at least one item"):
        dealer.choice([])


def test_weighted_gives_each_index_exactly_its_weight() -> None:
    weights = [3, 0, 1, 4]
    counts = Counter(Scripted(bytes([b << 5])).weighted(weights) for b in range(8))
    assert counts == {0: 3, 2: 1, 3: 4}


def test_a_single_weight_of_one_draws_nothing() -> None:
    assert Scripted(b"").weighted([0, 1, 0]) == 1


@pytest.mark.parametrize("dealer", both(), ids=["sealed", "fast"])
@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ([1, -1, 5], ValueError, "must not be negative: -1"),
        ([0, 0], ValueError, "a weight above zero"),
        ([], ValueError, "a weight above zero"),
        ([0.5, 0.5], TypeError, "integers, not float"),
        ([True, 1], TypeError, "integers, not bool"),
    ],
)
def test_bad_weights_are_refused(
    dealer: Dealer, weights: list[int], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        dealer.weighted(weights)


# ------------------------------------------------------------------------ streams


@given(seeds, labels, st.lists(st.integers(1, 1000), max_size=20))
def test_streams_do_not_depend_on_what_was_drawn_before(
    seed: bytes, name: tuple[str | int, ...], draws: list[int]
) -> None:
    for make in (SealedDealer, lambda raw: FastDealer(int.from_bytes(raw, "big"))):
        fresh, used = make(seed), make(seed)
        for n in draws:
            used.below(n)
        a, b = fresh.stream(*name), used.stream(*name)
        assert [a.below(10**9) for _ in range(4)] == [b.below(10**9) for _ in range(4)]


@given(seeds, labels)
def test_drawing_from_a_stream_leaves_its_parent_alone(
    seed: bytes, name: tuple[str | int, ...]
) -> None:
    for make in (SealedDealer, lambda raw: FastDealer(int.from_bytes(raw, "big"))):
        alone, parent = make(seed), make(seed)
        parent.stream(*name).below(1000)
        assert alone.below(10**9) == parent.below(10**9)


@given(labels, labels)
@example(("a", "b"), ("ab",))
@example((1,), ("1",))
@example((-1,), ("-1",))
@example((12, 3), (1, 23))
@example((), ("",))
@example(("", ""), ("",))
@example(("s\x00\x00\x00\x01a",), ("a",))
def test_different_names_have_different_encodings(
    one: tuple[str | int, ...], two: tuple[str | int, ...]
) -> None:
    def encoded(name: tuple[str | int, ...]) -> bytes:
        return b"".join(map(dealers._encode_label, name))

    assert (encoded(one) == encoded(two)) == (one == two)
    sealed, fast = SealedDealer(SEED), FastDealer(0)
    assert (sealed.derive(*one) == sealed.derive(*two)) == (one == two)
    assert (fast.stream(*one)._seed == fast.stream(*two)._seed) == (one == two)


def test_a_stream_of_a_stream_is_not_the_stream_of_both_names() -> None:
    for dealer in both():
        nested = dealer.stream("a").stream("b")
        flat = dealer.stream("a", "b")
        assert nested.below(2**60) != flat.below(2**60)


class Name(enum.StrEnum):
    DECK = "deck"


@pytest.mark.parametrize("dealer", both(), ids=["sealed", "fast"])
@pytest.mark.parametrize("label", [True, 1.0, None, b"raw", ("deck",), Name.DECK])
def test_labels_are_plain_strings_and_integers(dealer: Dealer, label: object) -> None:
    with pytest.raises(TypeError, match="labels are strings and integers"):
        dealer.stream("a", label)  # type: ignore[arg-type]


def test_a_label_that_is_no_text_is_refused() -> None:
    with pytest.raises(ValueError, match="surrogates"):
        SealedDealer(SEED).stream("\ud800")


# -------------------------------------------------------------------------- seeds


@pytest.mark.parametrize("length", [0, 31, 33])
def test_sealed_seeds_have_32_bytes(length: int) -> None:
    with pytest.raises(ValueError, match=f"32 bytes, not {length}"):
        SealedDealer(bytes(length))


@pytest.mark.parametrize("seed", ["x" * 32, bytearray(32), list(range(32)), None])
def test_sealed_seeds_are_bytes(seed: object) -> None:
    with pytest.raises(TypeError, match="a seed is bytes"):
        SealedDealer(seed)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [1.5, None, b"x", True])
def test_fast_seeds_are_integers_or_strings(seed: object) -> None:
    with pytest.raises(TypeError, match="an integer or a string"):
        FastDealer(seed)  # type: ignore[arg-type]


def test_fast_seeds_that_differ_deal_differently() -> None:
    firsts = {FastDealer(seed).below(2**60) for seed in (1, -1, "1", "-1", 0, "")}
    assert len(firsts) == 6


def test_a_fast_dealer_draws_from_the_generator_it_was_given() -> None:
    one, two = FastDealer(random.Random(5)), FastDealer(random.Random(5))
    assert [one.below(100) for _ in range(9)] == [two.below(100) for _ in range(9)]
    assert one.stream("a").below(2**60) == two.stream("a").below(2**60)


def test_equal_seeds_deal_alike() -> None:
    for one, two in zip(both(11), both(11), strict=True):
        assert [one.below(52) for _ in range(99)] == [two.below(52) for _ in range(99)]
