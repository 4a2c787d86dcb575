"""The laws that every game must keep, and the error of one that is broken."""

from __future__ import annotations

from typing import Final

from attrs import frozen

from fritillary.core.errors import FritillaryError


@frozen
class Law:
    """One law.

    Args:
        id: stable dotted string, such as ``codec.round-trip``.
        sentence: what must hold, for people.
    """

    id: str
    sentence: str


class LawError(FritillaryError, AssertionError):
    """A game breaks a law; the message tells where and how to see it again.

    An ``AssertionError`` as well, so that test runners report a failure and not a
    crash.

    Attributes:
        law: the law.
    """

    def __init__(self, law: Law, message: str) -> None:
        super().__init__(message, code=f"law.{law.id}")
        self.law = law


_ALL: Final = (
    Law("seed.same-bytes", "The same seed gives the same match, byte for byte."),
    Law("state.options", "States, copies and observations refer to the options given."),
    Law("turn.seat", "The seat to act is one of the seats."),
    Law("turn.max-plies", "No match has more plies than GameInfo.max_plies."),
    Law("legal.some", "At an Act there is a legal action."),
    Law("legal.table-order", "Legal actions are table entries, in order, each once."),
    Law("play.refuses-illegal", "What is not legal is refused, with a sentence."),
    Law("play.refusal-harmless", "A refused action leaves the state untouched."),
    Law("copy.independent", "Playing on leaves a copy, and playing a copy the rest."),
    Law("observe.harmless", "Looking at a state does not change it."),
    Law("codec.round-trip", "Values that went through bytes are equal, bytes too."),
    Law("codec.schema", "Data fit the JSON Schema that the game publishes."),
    Law("notation.unique", "A notation leads back to its action and to no other."),
    Law("picture.text", "The text picture is text of at most 80 columns."),
    Law("picture.svg", "The SVG picture is one complete SVG document."),
    Law("picture.bytes-only", "Pictures show what the observation's bytes hold."),
    Law("chance.declared", "Chance points occur only if GameInfo.chance says so."),
    Law("chance.outcomes", "Chance outcomes are listed once, of a declared class."),
    Law("evaluate.range", "Evaluations lie between -1 and 1."),
    Law("outcome.seats", "An outcome has one score and one place per seat."),
    Law("outcome.placing", "No seat is placed above one with a higher score."),
    Law("outcome.constant-sum", "Scores add up to GameInfo.constant_sum."),
    Law("outcome.reason", "The reason of an outcome is in GameInfo.reasons."),
    Law("leak.decision-point", "Whose turn it is depends on no hidden thing."),
    Law("leak.observation", "Observations hold nothing that the seat cannot know."),
    Law("leak.legal-actions", "Legality depends on what the seat knows alone."),
    Law("leak.seen-actions", "An action is seen the same whatever is hidden."),
    Law("leak.text", "The text picture shows nothing hidden."),
    Law("leak.svg", "The SVG picture shows nothing hidden."),
    Law("leak.explanation", "Explanations say nothing hidden."),
    Law("leak.vacuous", "shuffle_hidden changes the truth often enough to test."),
    Law("sampler.observation", "A sampled state observes to the same observation."),
    Law("sampler.decision-point", "A sampled state has the same seat to act."),
    Law("sampler.legal-actions", "A sampled state has the observer's legal actions."),
    Law("sampler.constant", "Samples vary as often as what is hidden does."),
    Law("sampler.truth", "Samples equal the truth no more often than chance has it."),
    Law("sampler.pure", "Samples follow from the observation and the dealer alone."),
    Law("sampler.playable", "A sampled state can be played to the end."),
    Law("sampler.distribution", "Samples and the witness agree in distribution."),
    Law("sampler.vacuous", "Enough is hidden along the play to judge the sampler."),
    Law("sampler.worlds", "The sampler reaches every possible world and no other."),
    Law("sampler.weights", "The sampler weighs each world as the deal does."),
    Law("witness.worlds", "shuffle_hidden reaches every possible world, no other."),
    Law("witness.weights", "shuffle_hidden weighs each world as the deal does."),
)

#: Every law by its id.
LAWS: Final[dict[str, Law]] = {law.id: law for law in _ALL}
