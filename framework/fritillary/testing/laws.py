"""The laws that every game must keep, and the error of one that is broken."""

from __future__ import annotations

from typing import Any, Final

from attrs import frozen

from fritillary.core.errors import FritillaryError


@frozen
class Law:
    """One law.

    Args:
        id: stable dotted string, such as ``codec.round-trip``.
        sentence: what must hold, for people.
        mend: how games break it, or how to keep it.
    """

    id: str
    sentence: str
    mend: str


@frozen
class Failure:
    """Where a law is broken: the smallest case that was found.

    Args:
        law: its id.
        what: what was seen.
        game: its id.
        seats: how many there are; 0 if it does not matter.
        options: of the match, as data.
        deal: what was dealt, as an expression.
        actions: notations of the actions and chance outcomes since the deal.
        seat: who looks or acts, in words; empty if it does not matter.
        action: the notation of the action that breaks the law, or empty.
        picture: the position as a text picture, or empty.
    """

    law: str
    what: str
    game: str = ""
    seats: int = 0
    options: Any = None
    deal: str = ""
    actions: tuple[str, ...] = ()
    seat: str = ""
    action: str = ""
    picture: str = ""

    def __str__(self) -> str:
        lines = [f"law {self.law} is broken: {LAWS[self.law].sentence}"]
        lines += [f"  {line}" for line in self.what.splitlines()]
        facts = [("game", self.game)]
        if self.seats:
            facts.append(("seats", str(self.seats)))
            facts.append(("options", _json(self.options)))
        facts += [("seat", self.seat), ("action", self.action), ("deal", self.deal)]
        lines += [f"  {name}: {text}" for name, text in facts if text]
        if self.deal:
            played = ", ".join(self.actions) or "none"
            lines.append(f"  actions so far ({len(self.actions)}): {played}")
        lines += [f"  | {line}".rstrip() for line in self.picture.splitlines()]
        return "\n".join(lines)


def _json(data: Any) -> str:  # noqa: ANN401 - options of any game
    from fritillary.codec.packing import to_json

    return to_json(data)


class LawError(FritillaryError, AssertionError):
    """A game breaks a law; the message tells where and how to see it again.

    An ``AssertionError`` as well, so that test runners report a failure and not a
    crash.

    Attributes:
        law: the law.
        failure: the case.
        size: how small the case is: plies, seats, size of the options.
    """

    def __init__(
        self, failure: Failure, size: tuple[int, int, int] | None = None
    ) -> None:
        self.law = LAWS[failure.law]
        super().__init__(str(failure), code=f"law.{failure.law}")
        self.failure = failure
        self.size = size


_ALL: Final = (
    Law(
        "hooks.sound",
        "No hook raises along legal play.",
        "Every viewer may look at every position, the first and the last included.",
    ),
    Law(
        "seed.same-bytes",
        "The same seed gives the same match, byte for byte.",
        "Draw from the dealer alone, and keep nothing from one match to the next.",
    ),
    Law(
        "seed.other-process",
        "The same match has the same bytes in another process, whatever its hash seed.",
        "Sort what comes out of a set; do not order by hash() or id().",
    ),
    Law(
        "state.options",
        "States, copies and observations refer to the options given.",
        "Pass the object on; do not build another one.",
    ),
    Law(
        "state.conserved",
        "What conserved() counts is the same at every position of a match.",
        "A card that is moved is taken away where it was.",
    ),
    Law(
        "turn.seat",
        "The seat to act is one of the seats.",
        "Return ACTS[seat] with a seat below the number of seats.",
    ),
    Law(
        "turn.max-plies",
        "No match has more plies than GameInfo.max_plies.",
        "Let the rules end every match, and count chance outcomes as plies.",
    ),
    Law(
        "legal.some",
        "At an Act there is a legal action.",
        "Offer a pass, or go to the next decision point.",
    ),
    Law(
        "legal.table-order",
        "Legal actions are table entries, in order, each once.",
        "Hand out entries of the table by rising index.",
    ),
    Law(
        "play.accepts-legal",
        "Every legal action can be played, from its data as well.",
        "What legal_actions() lists, apply_action() must be able to do.",
    ),
    Law(
        "play.refuses-illegal",
        "What is not legal is refused, with a sentence.",
        "Return a plain sequence of actions, and a sentence from explain_illegal().",
    ),
    Law(
        "play.refusal-harmless",
        "A refused action leaves the state untouched.",
        "explain_illegal() and observe() only look.",
    ),
    Law(
        "copy.equal",
        "A copy equals its original, in bytes too.",
        "Leave copy_state() out unless it is faster: the generated one is right.",
    ),
    Law(
        "copy.independent",
        "Playing a copy leaves the original, and playing the original the copy.",
        "Copy lists as deep as they go.",
    ),
    Law(
        "copy.earlier",
        "Copies kept along a match are unchanged at its end.",
        "Replace shared lists instead of changing them.",
    ),
    Law(
        "pure.arguments",
        "Hooks change nothing that they are given, but the state in apply_action() "
        "and shuffle_hidden().",
        "Copy a list before you sort it or take from it.",
    ),
    Law(
        "pure.memory",
        "Asked again, hooks answer the same, whatever was asked in between.",
        "Keep nothing outside the state; a cache is keyed by all that it depends on.",
    ),
    Law(
        "pure.random",
        "Hooks draw from the dealer alone; no other generator is used.",
        "Replace random.choice(items) by dealer.choice(items).",
    ),
    Law(
        "pure.clock",
        "Hooks look at no clock.",
        "Time belongs to the referee.",
    ),
    Law(
        "pure.io",
        "Hooks read and write nothing: no file, network, environment or terminal.",
        "Load what you need when the module is imported.",
    ),
    Law(
        "observation.complete",
        "Where nothing is hidden, positions that look alike go on alike.",
        "Put into the observation what decides on legality, turns and the outcome.",
    ),
    Law(
        "observation.size",
        "Observations do not grow with the length of the match.",
        "Carry what the history means, not the history.",
    ),
    Law(
        "codec.round-trip",
        "Values that went through bytes or JSON are equal.",
        "Fields hold what their annotations say: a tuple is no list.",
    ),
    Law(
        "codec.canonical",
        "Equal values have equal bytes, after bytes, JSON and copies.",
        "Keep dicts in one order, and lists that mean sets sorted.",
    ),
    Law(
        "codec.restored",
        "A state restored from bytes goes on like the original.",
        "Derive fields with init=False from the others in __attrs_post_init__().",
    ),
    Law(
        "codec.schema",
        "Data fit the JSON Schema that the game publishes.",
        "Fields hold what their annotations say.",
    ),
    Law(
        "notation.unique",
        "A notation leads back to its action and to no other.",
        "Name in the notation everything in which two actions differ.",
    ),
    Law(
        "picture.text",
        "The text picture is plain text of at most 80 columns.",
        "Wrap long lists; no control characters.",
    ),
    Law(
        "picture.svg",
        "The SVG picture is one well-formed document without scripts and links, and "
        "its ids share a prefix.",
        "Escape text; begin every id with the same letters and a hyphen.",
    ),
    Law(
        "picture.bytes-only",
        "Pictures show what the observation's bytes hold.",
        "A bot far away draws the same picture from what it was sent.",
    ),
    Law(
        "chance.declared",
        "Chance points occur only if GameInfo.chance says so.",
        "Set GameInfo.chance.",
    ),
    Law(
        "chance.outcomes",
        "Chance outcomes are listed once, of a declared class, and can be applied.",
        "Merge equal outcomes and add up their weights.",
    ),
    Law(
        "chance.weights",
        "The weights of chance outcomes are exact and positive.",
        "Leave out what cannot happen; write thirds as (1, 3).",
    ),
    Law(
        "chance.sampled",
        "sample_chance() draws as chance_outcomes() says.",
        "Weigh both alike.",
    ),
    Law(
        "evaluate.range",
        "Evaluations lie between -1 and 1.",
        "Divide by the largest value there is.",
    ),
    Law(
        "outcome.seats",
        "An outcome has one score and one place per seat.",
        "Count the seats of the state, not those of GameInfo.",
    ),
    Law(
        "outcome.placing",
        "No seat is placed above one with a higher score.",
        "Use Outcome.ranked().",
    ),
    Law(
        "outcome.constant-sum",
        "Scores add up to GameInfo.constant_sum.",
        "Correct the scores, or declare constant_sum=None.",
    ),
    Law(
        "outcome.reason",
        "The reason of an outcome is in GameInfo.reasons.",
        "Document every reason with a sentence.",
    ),
    Law(
        "seats.exchangeable",
        "A position with its seats renamed goes on as the position does.",
        "Rename in rotate_seats() everything that belongs to a seat.",
    ),
    Law(
        "perft.counts",
        "Counting action sequences on copies, on restored states and by playing each "
        "from the deal gives the same numbers.",
        "Something is shared between a state and its copies, or left out of bytes.",
    ),
    Law(
        "playthrough.current",
        "The golden playthrough is there and shows what the game does.",
        "Run again with --update-golden, read the difference, raise rules_version if "
        "the rules have changed.",
    ),
    Law(
        "leak.decision-point",
        "Whose turn it is depends on no hidden thing.",
        "Make a turn of what all can see.",
    ),
    Law(
        "leak.observation",
        "Observations hold nothing that the seat cannot know.",
        "Build them field by field, at the first position too.",
    ),
    Law(
        "leak.legal-actions",
        "Legality depends on what the seat knows alone.",
        "Legal actions are computed from what their seat sees.",
    ),
    Law(
        "leak.seen-actions",
        "An action is seen the same whatever is hidden.",
        "Mask face-down actions in observe_action().",
    ),
    Law(
        "leak.text",
        "The text picture shows nothing hidden.",
        "Draw from the observation alone.",
    ),
    Law(
        "leak.svg",
        "The SVG picture shows nothing hidden.",
        "Draw from the observation alone; look at titles and ids too.",
    ),
    Law(
        "leak.explanation",
        "Explanations say nothing hidden.",
        "Explain from the observation alone.",
    ),
    Law(
        "leak.vacuous",
        "shuffle_hidden() changes the truth often enough to test.",
        "Rearrange everything that the seat cannot know.",
    ),
    Law(
        "sampler.observation",
        "A sampled state observes to the same observation.",
        "Put every field of the observation back into the state.",
    ),
    Law(
        "sampler.decision-point",
        "A sampled state has the same seat to act.",
        "Whose turn it is belongs into the observation.",
    ),
    Law(
        "sampler.legal-actions",
        "A sampled state has the observer's legal actions.",
        "What decides on legality belongs into the observation.",
    ),
    Law(
        "sampler.conserved",
        "Sampled and shuffled states hold what conserved() counts.",
        "Deal hidden cards from those that are unseen, each once.",
    ),
    Law(
        "sampler.constant",
        "Samples vary as often as what is hidden does.",
        "Draw from the dealer that is given.",
    ),
    Law(
        "sampler.truth",
        "Samples equal the truth no more often than chance has it.",
        "Build from the observation alone; keep no state aside.",
    ),
    Law(
        "sampler.pure",
        "Samples follow from the observation and the dealer alone.",
        "Keep no state aside, and no generator of your own.",
    ),
    Law(
        "sampler.playable",
        "A sampled state can be played to the end.",
        "Fill in everything that later plies need, such as the deck.",
    ),
    Law(
        "sampler.distribution",
        "Samples and the witness agree in distribution.",
        "Shuffle the unseen cards and deal them; do not choose ranks.",
    ),
    Law(
        "sampler.vacuous",
        "Enough is hidden along the play to judge the sampler.",
        "Declare Information.PERFECT, or play more matches.",
    ),
    Law(
        "sampler.worlds",
        "The sampler reaches every possible world and no other.",
        "Start from all cards and take away those that are seen.",
    ),
    Law(
        "sampler.weights",
        "The sampler weighs each world as the deal does.",
        "Two equal cards count twice.",
    ),
    Law(
        "witness.worlds",
        "shuffle_hidden() reaches every possible world, no other.",
        "Mix all hidden places that can hold the same cards.",
    ),
    Law(
        "witness.weights",
        "shuffle_hidden() weighs each world as the deal does.",
        "Shuffle physical cards.",
    ),
)

#: Every law by its id.
LAWS: Final[dict[str, Law]] = {law.id: law for law in _ALL}
