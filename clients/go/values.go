package fritillary

import "time"

// Untimed stands for a part that a clock does not have.
const Untimed time.Duration = -1

// None stands for a seat or an index that there is not.
const None = -1

// A GameSupport is a game that a bot can play.
type GameSupport struct {
	// Game is the id of the game, without variants.
	Game string
	// RulesVersions are those that the bot knows; empty: any.
	RulesVersions []int
	// Variants are those that the bot knows, in any combination. The plain game is
	// always included.
	Variants []string
	// AnyVariant takes any variant.
	AnyVariant bool
}

// A Clock is what is left to a seat when it was asked; [Untimed] where there is no limit.
type Clock struct {
	// Left is how long until this decision is late, all parts together: the one to watch.
	Left time.Duration
	// BaseLeft is what is left of the time for the whole match.
	BaseLeft time.Duration
	// MoveLeft is for this decision, without bank.
	MoveLeft time.Duration
	// TurnLeft is for this turn, without bank.
	TurnLeft time.Duration
	// BankLeft is what is left of the bank.
	BankLeft time.Duration
	// LinkLeft is what may be spent on lost links yet.
	LinkLeft time.Duration
}

// ClockSettings is the time that a seat is given; [Untimed] for parts that it lacks.
type ClockSettings struct {
	// Base is for the whole match, preparation not counted.
	Base time.Duration
	// Increment is added to the base after each decision.
	Increment time.Duration
	// Move is for one decision.
	Move time.Duration
	// Bank is a reserve for the whole match, taken when a move or turn is over time.
	Bank time.Duration
	// Turn is for all decisions of the seat in a row.
	Turn time.Duration
	// Preparation is for getting ready.
	Preparation time.Duration
}

// A Player is who sits where, as it describes itself; all is empty where the event keeps
// it secret.
type Player struct {
	// Seat counts from 0.
	Seat int
	// Role is the game's own name for the seat, such as `white`; may be empty.
	Role string
	// Name, Version and Author are as the player says.
	Name, Version, Author string
	// Clock is the time that the seat is given.
	Clock ClockSettings
}

// A Variant is a set of house rules, and its version.
type Variant struct {
	ID      string
	Version int
}

// A MatchInfo is what a bot is told before a match. Do not change it.
type MatchInfo struct {
	// MatchID identifies the match.
	MatchID string
	// Game is the id of the game, without variants.
	Game string
	// FullID is the game with its variants, such as `lepidoptery+no-pass`.
	FullID string
	// RulesVersion is that of the game.
	RulesVersion int
	// Variants are applied in this order.
	Variants []Variant
	// Seat is where the bot sits, from 0.
	Seat int
	// Seats is how many there are.
	Seats int
	// Players are by seat.
	Players []Player
	// Options of the game, complete.
	Options Payload
	// Seed is a number below 2^53 of the bot's own; [Ask.Rand] is seeded with it.
	Seed uint64
	// TableSize is how many actions the action table has; 0 if the game has none.
	TableSize int
	// TableHash identifies the action table; empty if there is none.
	TableHash []byte
	// SchemasHash identifies the JSON Schemas of the game.
	SchemasHash []byte
	// Margin is added to every deadline to absorb the link.
	Margin time.Duration
	// Ceiling is for the whole match; [Untimed] if not told.
	Ceiling time.Duration
	// NonceWanted tells whether the deal is mixed with a nonce of the bot, see
	// [Config.Nonce].
	NonceWanted bool
	// Resumed tells whether the seat had been taken before and the match goes on, as
	// after a restart of the server or of this program.
	Resumed bool
}

// A Problem is why something was refused or ruled.
type Problem struct {
	// Code is a stable dotted string.
	Code string
	// Message is one sentence for people.
	Message string
}

// An EventKind is what happened.
type EventKind string

// Kinds of events.
const (
	// EventAction: a seat, the bot's own included, has acted.
	EventAction EventKind = "action"
	// EventChance: chance has had its part.
	EventChance EventKind = "chance"
	// EventRuling: the referee has ruled on a fault.
	EventRuling EventKind = "ruling"
	// EventResigned: a seat has given up.
	EventResigned EventKind = "resigned"
	// EventPaused: the match was stopped.
	EventPaused EventKind = "paused"
	// EventResumed: the match goes on.
	EventResumed EventKind = "resumed"
	// EventEnded: play is over.
	EventEnded EventKind = "ended"
	// EventUnknown is what later versions of the protocol add.
	EventUnknown EventKind = "unknown"
)

// An Event is one thing that happened, as the bot's seat may see it.
type Event struct {
	// Number counts in the seat's own sequence, from 1.
	Number int
	// Ply is how many plies the match had, with this event.
	Ply int
	// Kind tells which of the fields below have a meaning.
	Kind EventKind
	// Seat acted, resigned or is at fault; [None] for all else.
	Seat int
	// Action of the seat or of chance, as the bot's seat may see it.
	Action Payload
	// Text is the same in the notation of the game.
	Text string
	// Index is the same in the action table; [None] if it is not there.
	Index int
	// Source is whose choice an action was: `player`, `substitute`, `stand-in`.
	Source string
	// Fault of a ruling, such as `late`.
	Fault string
	// Consequence of a ruling: `forfeit`, `retry`, `substitute` or `void`.
	Consequence string
	// Code of a ruling or an end.
	Code string
	// Message of a ruling, a pause or an end, for people.
	Message string
}

// A LegalAction is one of the actions among which a bot decides. Do not change it.
type LegalAction struct {
	// Index in the action table; without a table, in the list of its request.
	Index int
	// Text is the action in the notation of the game; empty with [LegalIndices].
	Text string
	// Action is the action as a value; nothing with [LegalIndices].
	Action Payload
}

// String returns the action in the notation of the game.
func (a *LegalAction) String() string { return a.Text }

// An EndKind is how a match ended.
type EndKind string

// How a match can end.
const (
	// EndPlayed: the rules of the game ended it.
	EndPlayed EndKind = "played"
	// EndForfeited: a seat lost by a fault or resigned.
	EndForfeited EndKind = "forfeited"
	// EndAdjudicated: somebody settled it.
	EndAdjudicated EndKind = "adjudicated"
	// EndVoid: it does not count and may be replayed.
	EndVoid EndKind = "void"
	// EndWithdrawn: it was called off.
	EndWithdrawn EndKind = "withdrawn"
	// EndUnknown: the link was lost, and the server has forgotten the match.
	EndUnknown EndKind = "unknown"
)

// A Deal tells whether the host dealt as it had promised.
type Deal string

// What can be known of a deal.
const (
	// DealVerified: seed and salt open the commitment, and the bot's nonce was used.
	DealVerified Deal = "verified"
	// DealNotRevealed: nothing was promised or nothing revealed.
	DealNotRevealed Deal = "not-revealed"
	// DealBroken: what was revealed is not what was promised.
	DealBroken Deal = "broken"
)

// An Outcome is how a match ended, for one of its seats.
type Outcome struct {
	// Seat is where the bot sat.
	Seat int
	// Kind tells how it ended.
	Kind EndKind
	// Code tells why, unless it was played to its end, such as `fault.late`.
	Code string
	// Message is the same for people.
	Message string
	// Reason is the game's word for its end; empty if the match does not count.
	Reason string
	// Scores are by seat; empty if the match does not count.
	Scores []int64
	// Placing is by seat, 1 is best; empty if the match does not count.
	Placing []int
	// Deal tells whether the deal is as promised.
	Deal Deal
}

// Counts tells whether there is a result.
func (o Outcome) Counts() bool { return len(o.Placing) > 0 }

// Score returns the bot's own score, and whether the match counts.
func (o Outcome) Score() (int64, bool) {
	if o.Seat >= len(o.Scores) {
		return 0, false
	}
	return o.Scores[o.Seat], true
}

// Place returns the bot's own place, 1 is best, and whether the match counts.
func (o Outcome) Place() (int, bool) {
	if o.Seat >= len(o.Placing) {
		return 0, false
	}
	return o.Placing[o.Seat], true
}
