package fritillary

import (
	"encoding/binary"
	"math/rand/v2"
	"sync/atomic"
	"time"

	pb "fritillary.example/clients/go/api/v1"
)

// An Ask is the question to a bot whose seat has to decide.
type Ask struct {
	// Info is about the match: game, options, seat, players.
	Info *MatchInfo
	// DecisionID identifies the question within match and seat.
	DecisionID uint64
	// Ply is how many plies were played so far.
	Ply int
	// Attempt is 1 for the first time of asking; more after a fault.
	Attempt int
	// Problem is what was wrong with the attempt before; nil at the first.
	Problem *Problem
	// Observation is all that the seat may know, without the options.
	Observation Payload
	// Legal are the actions among which to choose, in order of their indices, never empty.
	Legal []*LegalAction
	// Events are what has happened since the bot was last asked. After a lost link some
	// may be missing; the observation never lacks anything.
	Events []Event
	// Clock is what was left when the server asked.
	Clock Clock

	arrived time.Time
	rng     *rand.Rand
	closed  atomic.Bool
}

// Closed tells whether the server no longer waits for an answer; so does the context that
// the bot was given.
func (a *Ask) Closed() bool { return a.closed.Load() }

// TimeLeft returns what is left now by this computer's clock, and whether the seat has a
// clock at all. It may be below 0.
func (a *Ask) TimeLeft() (time.Duration, bool) {
	if a.Clock.Left == Untimed {
		return 0, false
	}
	return a.Clock.Left - time.Since(a.arrived), true
}

// Rand returns a generator that is seeded with the seed of the match and the id of the
// decision: a bot that takes its chances from here alone chooses the same when it is
// started again.
func (a *Ask) Rand() *rand.Rand {
	if a.rng == nil {
		a.rng = seeded(a.Info.Seed, a.DecisionID)
	}
	return a.rng
}

func seeded(seed, decisionID uint64) *rand.Rand {
	key := [32]byte{}
	copy(key[16:], "fritillary")
	binary.BigEndian.PutUint64(key[0:], seed)
	binary.BigEndian.PutUint64(key[8:], decisionID)
	return rand.New(rand.NewChaCha8(key))
}

// newAsk returns the ask of a request.
func newAsk(
	info *MatchInfo, request *pb.DecisionRequest, news []*pb.Event, encoding Encoding, table *table,
) (*Ask, error) {
	ask := &Ask{
		Info:        info,
		DecisionID:  request.GetDecisionId(),
		Ply:         int(request.GetPly()),
		Attempt:     max(int(request.GetAttempt()), 1),
		Observation: NewPayload(request.GetObservation(), encoding),
		Clock:       clockOf(request.GetClock()),
		arrived:     time.Now(),
	}
	if problem := request.GetError(); problem != nil {
		ask.Problem = &Problem{Code: problem.GetCode(), Message: problem.GetMessage()}
	}
	for _, event := range news {
		ask.Events = append(ask.Events, eventOf(event, encoding))
	}
	var err error
	ask.Legal, err = legalOf(request, encoding, table)
	return ask, err
}

func legalOf(request *pb.DecisionRequest, encoding Encoding, table *table) ([]*LegalAction, error) {
	indices, written := request.GetLegal(), request.GetLegalActions()
	if len(indices) == 0 {
		return nil, protocolError("the server asked, but no action is legal")
	}
	if len(written) > 0 && len(written) != len(indices) {
		return nil, protocolError("the server wrote out %d of %d actions", len(written), len(indices))
	}
	legal := make([]*LegalAction, len(indices))
	for at, index := range indices {
		switch {
		case len(written) > 0:
			legal[at] = &LegalAction{
				Index:  int(written[at].GetIndex()),
				Text:   written[at].GetText(),
				Action: NewPayload(written[at].GetAction(), encoding),
			}
		case table == nil:
			legal[at] = &LegalAction{Index: int(index)}
		case int(index) < len(table.actions):
			legal[at] = table.actions[index]
		default:
			return nil, protocolError("the server sent index %d of a table of %d actions",
				index, len(table.actions))
		}
	}
	return legal, nil
}
