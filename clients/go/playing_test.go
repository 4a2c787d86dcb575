package fritillary

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "fritillary.example/clients/go/api/v1"
)

// A witness is a bot that remembers what it was told, and decides as it is told.
type witness struct {
	mutex    sync.Mutex
	told     []string
	asks     chan *Ask
	answers  chan Decision
	offered  func(*MatchInfo) error
	outcomes chan Outcome
}

func newWitness() *witness {
	return &witness{
		asks: make(chan *Ask, 16), answers: make(chan Decision, 16), outcomes: make(chan Outcome, 16),
	}
}

func (w *witness) tell(what string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.told = append(w.told, what)
}

func (w *witness) Offered(_ context.Context, info *MatchInfo) error {
	w.tell("offered " + info.MatchID)
	if w.offered != nil {
		return w.offered(info)
	}
	return nil
}

func (w *witness) Start(_ context.Context, info *MatchInfo) error {
	w.tell("start " + info.MatchID)
	return nil
}

func (w *witness) Decide(ctx context.Context, ask *Ask) (Decision, error) {
	w.tell(fmt.Sprintf("decide %d", ask.DecisionID))
	w.asks <- ask
	select {
	case decision := <-w.answers:
		return decision, nil
	case <-ctx.Done():
		return Decision{}, ctx.Err()
	}
}

func (w *witness) End(outcome Outcome) {
	w.tell("end " + string(outcome.Kind))
	w.outcomes <- outcome
}

// nextAsk returns the next question to the bot.
func (w *witness) nextAsk(t *testing.T) *Ask {
	t.Helper()
	select {
	case ask := <-w.asks:
		return ask
	case <-time.After(patience):
		t.Fatal("the bot was not asked")
		return nil
	}
}

func (w *witness) outcome(t *testing.T) Outcome {
	t.Helper()
	select {
	case outcome := <-w.outcomes:
		return outcome
	case <-time.After(patience):
		t.Fatal("the bot did not hear the end")
		return Outcome{}
	}
}

func TestAMatchIsPlayed(t *testing.T) {
	bot := newWitness()
	arena := newArena(t)
	client := start(t, arena, Shared(bot), Config{
		Name: "a name", Version: "7", Author: "me", Games: Games("nim+long", "go"), Matches: 1,
	})
	session, hello := arena.welcomed(t)
	if want := []string{"Bearer the-token"}; !slices.Equal(session.authorization, want) {
		t.Errorf("authorization %q", session.authorization)
	}
	want := &pb.Hello{
		Bot: &pb.PlayerInfo{Name: "a name", Version: "7", Author: "me", Build: "the build"},
		Games: []*pb.GameSupport{
			{Game: "nim", Variants: []string{"long"}}, {Game: "go"},
		},
		Encoding:  pb.Encoding_ENCODING_MSGPACK,
		LegalForm: pb.LegalForm_LEGAL_FORM_PACKED,
		Capacity:  proto.Uint32(1),
	}
	if !proto.Equal(hello, want) {
		t.Errorf("%v, not %v", hello, want)
	}

	session.send(offer("m"))
	// It is the last: no more are wanted.
	if capacity := expect[*pb.BotMessage_Capacity](session).Capacity; capacity.GetMatches() != 0 {
		t.Errorf("%v", capacity)
	}
	accept := expect[*pb.BotMessage_Accept](session).Accept
	if accept.GetMatchId() != "m" || accept.GetSeat() != 1 || len(accept.GetNonce()) != 0 {
		t.Errorf("%v", accept)
	}
	expect[*pb.BotMessage_Ready](session)
	session.send(resigned("m", 1), ask("m", 5))
	asked := bot.nextAsk(t)
	info := asked.Info
	if info.FullID != "nim+long" || info.Game != "nim" || info.Seats != 2 || info.Seat != 1 ||
		info.RulesVersion != 3 || info.Margin != 50*time.Millisecond || info.Ceiling != Untimed ||
		info.Players[0].Name != "other" || info.Players[0].Clock.Base != Untimed || info.TableSize != 3 {
		t.Errorf("%+v", info)
	}
	var options struct{ Heaps []int }
	if err := info.Options.Decode(&options); err != nil || !slices.Equal(options.Heaps, []int{3, 4}) {
		t.Errorf("%v %v", options, err)
	}
	if asked.Ply != 5 || asked.Attempt != 1 || asked.Problem != nil || asked.Clock.Left != time.Minute ||
		asked.Clock.BankLeft != Untimed || len(asked.Events) != 1 || asked.Events[0].Kind != EventResigned {
		t.Errorf("%+v", asked)
	}
	if left, timed := asked.TimeLeft(); !timed || left > time.Minute || left < 50*time.Second {
		t.Errorf("%s left", left)
	}
	seen, err := asked.Observation.Value()
	if err != nil || !reflect.DeepEqual(seen, map[string]any{"heaps": []any{int64(2), int64(300)}}) {
		t.Errorf("%v %v", seen, err)
	}
	if len(asked.Legal) != 2 || asked.Legal[1].Index != 2 || asked.Legal[1].Text != "right" {
		t.Errorf("%v", asked.Legal)
	}
	var action struct{ Type string }
	if err := asked.Legal[1].Action.Decode(&action); err != nil || action.Type != "right" {
		t.Errorf("%v %v", action, err)
	}
	chosen := Choose(asked.Legal[1])
	chosen.Note, chosen.Probabilities = "why not, eh", []float64{0.25, 0.75}
	bot.answers <- chosen
	decision := expect[*pb.BotMessage_Decision](session).Decision
	if decision.GetIndex() != 2 || decision.GetDecisionId() != 5 || decision.GetSeat() != 1 ||
		decision.GetNote() != "why not," || !slices.Equal(decision.GetProbabilities(), []float64{0.25, 0.75}) ||
		decision.ThinkMs == nil {
		t.Errorf("%v", decision)
	}
	session.send(closedAs("m", 5, pb.DecisionClosure_DECISION_CLOSURE_ACCEPTED), ended("m"))
	ack := expect[*pb.BotMessage_Ack](session).Ack
	if !ack.GetEnded() || ack.GetEventNumber() != 1 || ack.GetClosedDecisionId() != 5 {
		t.Errorf("%v", ack)
	}
	outcome := bot.outcome(t)
	place, counts := outcome.Place()
	score, _ := outcome.Score()
	if outcome.Kind != EndPlayed || place != 1 || score != 1 || !counts || outcome.Deal != DealNotRevealed {
		t.Errorf("%+v", outcome)
	}
	bye := expect[*pb.BotMessage_Goodbye](session).Goodbye
	if bye.GetCode() != "bot.stopping" {
		t.Errorf("%v", bye)
	}
	session.closed()
	if err := client.result(); err != nil || client.Ended() != 1 || client.BotName() != "my-bot" {
		t.Errorf("%v after %d", err, client.Ended())
	}
	if want := "[offered m start m decide 5 end played]"; fmt.Sprint(bot.told) != want {
		t.Errorf("%v", bot.told)
	}
}

func TestTheActionTableIsFetchedOnceAndPagedAndOnlyIfItIsWanted(t *testing.T) {
	for form, pages := range map[LegalForm]int32{LegalPacked: 2, LegalExpanded: 0, LegalIndices: 0} {
		arena := newArena(t)
		start(t, arena, Func(first), Config{Legal: form, Capacity: 4})
		session, hello := arena.welcomed(t)
		if expanded := hello.GetLegalForm() == pb.LegalForm_LEGAL_FORM_EXPANDED; expanded != (form == LegalExpanded) {
			t.Errorf("%v for %d", hello.GetLegalForm(), form)
		}
		session.send(offer("a"), offer("b"), offer("c"))
		for range 6 {
			select {
			case <-session.in:
			case <-time.After(patience):
				t.Fatal("the seats were not taken")
			}
		}
		if arena.pages.Load() != pages {
			t.Errorf("%d pages for form %d", arena.pages.Load(), form)
		}
	}
}

func TestLegalActionsThatAreWrittenOutNeedNoTable(t *testing.T) {
	bot := newWitness()
	_, _, session := seated(t, Shared(bot), Config{Legal: LegalExpanded, Encoding: JSON})
	session.send(ask("m", 1, func(request *pb.DecisionRequest) {
		request.Legal = []uint32{0, 1}
		request.Observation = []byte(`{"heaps":[9]}`)
		request.LegalActions = []*pb.LegalAction{
			{Index: 0, Text: "pass", Action: []byte(`{"type":"pass"}`)},
			{Index: 1, Text: "go", Action: []byte(`{"type":"go"}`)},
		}
	}))
	asked := bot.nextAsk(t)
	if asked.Legal[1].Text != "go" || asked.Legal[1].Action.String() != `{"type":"go"}` {
		t.Errorf("%v", asked.Legal[1])
	}
	bot.answers <- Action(asked.Legal[1].Action)
	if decision := expect[*pb.BotMessage_Decision](session).Decision; string(decision.GetAction()) != `{"type":"go"}` {
		t.Errorf("%v", decision)
	}
}

func TestTheEndTellsWhetherTheDealIsAsPromised(t *testing.T) {
	seed, salt := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	mine := []byte{0xAB}
	sealed := func(offer *pb.MatchOffer) {
		offer.NonceWanted = true
		offer.BotSeed = botSeed(seed, 1)
		offer.Commitment.Hash = commitment("m", offer.GetOptions(), seed, salt)
	}
	for want, nonces := range map[Deal][][]byte{DealVerified: {nil, mine}, DealBroken: {mine, nil}} {
		bot := newWitness()
		arena := newArena(t)
		start(t, arena, Shared(bot), Config{Nonce: func(*MatchInfo) []byte { return mine }})
		session, _ := arena.welcomed(t)
		session.send(offer("m", sealed))
		if nonce := expect[*pb.BotMessage_Accept](session).Accept.GetNonce(); !bytes.Equal(nonce, mine) {
			t.Errorf("%x", nonce)
		}
		expect[*pb.BotMessage_Ready](session)
		session.send(ended("m", func(result *pb.MatchResult) {
			result.Reveal = &pb.Reveal{Seed: seed, Salt: salt, Nonces: nonces}
		}))
		if outcome := bot.outcome(t); outcome.Deal != want {
			t.Errorf("%s, not %s", outcome.Deal, want)
		}
	}
}

func TestABotThatThinksLongIsNotAskedAgainAndDoesNotHoldUpTheLink(t *testing.T) {
	bot := newWitness()
	_, _, session := seated(t, Shared(bot), Config{})
	session.send(ask("m", 1))
	bot.nextAsk(t)
	session.send(ask("m", 1), &pb.ServerMessage{Message: &pb.ServerMessage_Ping{Ping: &pb.Ping{Id: 9}}})
	if pong := expect[*pb.BotMessage_Pong](session).Pong; pong.GetId() != 9 {
		t.Errorf("%v", pong)
	}
	bot.answers <- Index(0)
	expect[*pb.BotMessage_Decision](session)
	session.nothing()
	if want := "[offered m start m decide 1]"; fmt.Sprint(bot.told) != want {
		t.Errorf("%v", bot.told)
	}
}

func TestADecisionThatIsClosedEndsTheContextAndIsNotAnswered(t *testing.T) {
	bot := newWitness()
	_, _, session := seated(t, Shared(bot), Config{})
	session.send(ask("m", 1), closedAs("m", 1, pb.DecisionClosure_DECISION_CLOSURE_RULED))
	session.send(ask("m", 2, func(request *pb.DecisionRequest) {
		request.Attempt = 2
		request.Error = &pb.ErrorInfo{Code: "decision.late", Message: "too late"}
	}))
	for asked := range bot.asks {
		if asked.DecisionID == 1 {
			continue // it may have been closed before it was asked
		}
		if asked.Attempt != 2 || *asked.Problem != (Problem{Code: "decision.late", Message: "too late"}) || asked.Closed() {
			t.Errorf("%+v", asked)
		}
		break
	}
	bot.answers <- Index(2)
	if decision := expect[*pb.BotMessage_Decision](session).Decision; decision.GetDecisionId() != 2 {
		t.Errorf("%v", decision)
	}
}

func TestAThinkingBotSeesThatTheMatchHasEnded(t *testing.T) {
	bot := newWitness()
	_, _, session := seated(t, Shared(bot), Config{})
	session.send(ask("m", 1))
	asked := bot.nextAsk(t)
	if asked.Closed() {
		t.Error("it is closed")
	}
	session.send(ended("m"))
	expect[*pb.BotMessage_Ack](session)
	bot.outcome(t)
	if !asked.Closed() {
		t.Error("it is not closed")
	}
	session.nothing()
}

func TestManyMatchesAreThoughtAboutAtTheSameTime(t *testing.T) {
	const many = 32
	var thinking atomic.Int32
	all := make(chan struct{})
	decide := func(ctx context.Context, ask *Ask) (Decision, error) {
		if thinking.Add(1) == many {
			close(all)
		}
		select {
		case <-all:
		case <-ctx.Done():
		}
		return Choose(ask.Legal[ask.Rand().IntN(2)]), nil
	}
	arena := newArena(t)
	start(t, arena, Func(decide), Config{Capacity: many})
	session, _ := arena.welcomed(t)
	for number := range many {
		session.send(offer(fmt.Sprint("m", number)))
	}
	for ready, decided := 0, 0; decided < many; {
		select {
		case message := <-session.in:
			switch body := message.GetMessage().(type) {
			case *pb.BotMessage_Ready:
				ready++
				session.send(ask(body.Ready.GetMatchId(), 1))
			case *pb.BotMessage_Decision:
				decided++
			}
		case <-time.After(patience):
			t.Fatalf("%d ready, %d decided", ready, decided)
		}
	}
}

func TestEachSeatHasABotOfItsOwn(t *testing.T) {
	var made atomic.Int32
	arena := newArena(t)
	start(t, arena, func() Bot { made.Add(1); return newWitness() }, Config{Capacity: 2})
	session, _ := arena.welcomed(t)
	other := func(offer *pb.MatchOffer) { offer.Seat = 0 }
	session.send(offer("m"), offer("m", other))
	seats := map[uint32]bool{}
	for range 4 {
		switch body := (<-session.in).GetMessage().(type) {
		case *pb.BotMessage_Accept:
			seats[body.Accept.GetSeat()] = true
		}
	}
	if made.Load() != 2 || len(seats) != 2 {
		t.Errorf("%d bots for %v", made.Load(), seats)
	}
}

func TestTheGeneratorDependsOnSeedAndDecisionAlone(t *testing.T) {
	draw := func(seed, id uint64) int {
		return (&Ask{Info: &MatchInfo{Seed: seed}, DecisionID: id}).Rand().IntN(1 << 30)
	}
	one, again := draw(1, 1), draw(1, 1)
	if one != again || one == draw(1, 2) || one == draw(2, 1) {
		t.Error("it does not")
	}
	// Matches that were begun with an older version go on with this one.
	if got := [2]int{draw(77, 1), draw(77, 2)}; got != [2]int{860888796, 24003187} {
		t.Errorf("%v", got)
	}
}
