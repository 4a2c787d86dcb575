// Search plays any game by flat Monte Carlo with sequential halving: it draws worlds from
// what it sees, plays every legal action on to the end in them, drops the worse half, and
// begins anew with the better one.
//
// The rules are those of a simulator: the one at $FRITILLARY_SIMULATOR, or one that is
// started here, for which the command fritillary must be found.
//
//	go run ./examples/search -address HOST:PORT -token TOKEN
package main

import (
	"context"
	"fmt"
	"math/bits"
	"sort"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"fritillary.example/clients/go"
	pb "fritillary.example/clients/go/api/v1"
)

const (
	// playouts are spent on a decision, where there is time for them.
	playouts = 2000
	// think is the longest that a decision takes, and part of what the clock leaves: one
	// decision of so many.
	think = 2 * time.Second
	part  = 20
)

func main() {
	// Started for the first match, and then shared by all.
	simulator := sync.OnceValues(connect)
	fritillary.Main(
		func() fritillary.Bot { return &search{simulator: simulator} },
		fritillary.Config{Name: "search-go", Version: "1", Legal: fritillary.LegalIndices},
	)
}

// search plays one seat of one match.
type search struct {
	simulator func() (pb.SimulatorServiceClient, error)
	rules     pb.SimulatorServiceClient
	game      []byte
	seat      int
}

// Offered declines games that the simulator does not know.
func (s *search) Offered(ctx context.Context, info *fritillary.MatchInfo) error {
	var err error
	if s.rules, err = s.simulator(); err != nil {
		return err
	}
	opened, err := s.rules.OpenGame(ctx, &pb.OpenGameRequest{
		Game: info.FullID,
		Options: &pb.OptionsChoice{
			Choice: &pb.OptionsChoice_Options{Options: payload(info.Options)},
		},
		Seats: proto.Uint32(uint32(info.Seats)),
	})
	if err != nil {
		return fritillary.Decline("", fmt.Sprintf("the simulator: %v", err))
	}
	if string(opened.GetTable().GetHash()) != string(info.TableHash) {
		return fritillary.Decline("", "the simulator has another action table")
	}
	s.game, s.seat = opened.GetGame(), info.Seat
	return nil
}

// candidate is a legal action, with what its playouts came to.
type candidate struct {
	action *fritillary.LegalAction
	count  float64
	total  float64
}

func (c *candidate) mean() float64 { return c.total / max(c.count, 1) }

// Decide returns the action that is left when half after half has been dropped.
func (s *search) Decide(ctx context.Context, ask *fritillary.Ask) (fritillary.Decision, error) {
	left := make([]*candidate, len(ask.Legal))
	for at, action := range ask.Legal {
		left[at] = &candidate{action: action}
	}
	until := time.Now().Add(think)
	if clock, timed := ask.TimeLeft(); timed {
		until = time.Now().Add(min(think, clock/part))
	}
	random := ask.Rand()
	rounds := bits.Len(uint(len(left) - 1))
	for round := range rounds {
		within := time.Until(until) / time.Duration(rounds-round)
		if within <= 0 {
			break
		}
		worlds := max(1, playouts/rounds/len(left))
		if err := s.try(ctx, ask.Observation, left, worlds, random.Uint64(), within); err != nil {
			return fritillary.Decision{}, err
		}
		sort.SliceStable(left, func(i, j int) bool { return left[i].mean() > left[j].mean() })
		left = left[:(len(left)+1)/2]
	}
	return fritillary.Choose(left[0].action), nil
}

// try spends one round: every candidate is played in the same worlds.
func (s *search) try(
	ctx context.Context, observation fritillary.Payload, left []*candidate,
	worlds int, seed uint64, within time.Duration,
) error {
	sampled, err := s.rules.SampleWorlds(ctx, &pb.SampleWorldsRequest{
		Game:        s.game,
		Observation: payload(observation),
		Seat:        uint32(s.seat),
		Count:       uint32(worlds),
		Seed:        seed,
	})
	if err != nil {
		return err
	}
	tasks := make([]*pb.PlayOutTask, len(left))
	for at, each := range left {
		tasks[at] = &pb.PlayOutTask{Index: proto.Uint32(uint32(each.action.Index)), Count: 1}
	}
	played, err := s.rules.PlayOut(ctx, &pb.PlayOutRequest{
		Game:     s.game,
		Worlds:   sampled.GetWorlds(),
		Tasks:    tasks,
		Seed:     seed,
		WithinMs: proto.Uint32(uint32(within.Milliseconds())),
	})
	if err != nil {
		return err
	}
	for at, totals := range played.GetTotals() {
		if count := float64(totals.GetPlayouts()); count > 0 {
			left[at].count += count
			left[at].total += count * totals.GetMeanPayoffs()[s.seat]
		}
	}
	return nil
}

// payload writes a payload as it goes to a simulator.
func payload(value fritillary.Payload) *pb.Payload {
	encoding := pb.Encoding_ENCODING_MSGPACK
	if value.Encoding() == fritillary.JSON {
		encoding = pb.Encoding_ENCODING_JSON
	}
	return &pb.Payload{Encoding: encoding, Data: value.Bytes()}
}
