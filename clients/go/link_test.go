package fritillary

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	pb "fritillary.example/clients/go/api/v1"
)

func TestAfterALostLinkTheSessionGoesOn(t *testing.T) {
	bot := newWitness()
	var lost []string
	var sessions []Session
	client, arena, session := seated(t, Shared(bot), Config{
		OnLost:    func(err error) { lost = append(lost, CodeOf(err)) },
		OnConnect: func(session Session) { sessions = append(sessions, session) },
	})
	session.send(resigned("m", 1), resigned("m", 2), ask("m", 4))
	bot.nextAsk(t)
	bot.answers <- Index(2)
	answer := expect[*pb.BotMessage_Decision](session).Decision
	session.cut()

	session, hello := arena.welcomed(t)
	if hello.GetSessionToken() != "the session" || len(hello.GetAcks()) != 1 ||
		hello.GetAcks()[0].GetEventNumber() != 2 || hello.GetAcks()[0].ClosedDecisionId != nil {
		t.Errorf("%v", hello)
	}
	// The answer is sent again, not computed again; known events are dropped.
	session.send(resigned("m", 2), resigned("m", 3), ask("m", 4))
	if again := expect[*pb.BotMessage_Decision](session).Decision; !proto.Equal(again, answer) {
		t.Errorf("%v, not %v", again, answer)
	}
	session.send(closedAs("m", 4, pb.DecisionClosure_DECISION_CLOSURE_ACCEPTED), ask("m", 6))
	asked := bot.nextAsk(t)
	if len(asked.Events) != 1 || asked.Events[0].Number != 3 {
		t.Errorf("%v", asked.Events)
	}
	bot.answers <- Resign()
	expect[*pb.BotMessage_Resign](session)
	// An older request is of no interest.
	session.send(ask("m", 4))
	session.nothing()
	client.Stop()
	expect[*pb.BotMessage_Goodbye](session)
	session.closed()
	if err := client.result(); !errors.Is(err, ErrUnfinished) || CodeOf(err) != "bot.unfinished" {
		t.Error(err)
	}
	if !slices.Equal(lost, []string{"link.lost"}) ||
		!slices.Equal(sessions, []Session{{Bot: "my-bot"}, {Bot: "my-bot", Resumed: true}}) {
		t.Errorf("%v %v", lost, sessions)
	}
	if want := "[offered m start m decide 4 decide 6]"; fmt.Sprint(bot.told) != want {
		t.Errorf("%v", bot.told)
	}
}

func TestWhatIsDecidedWhileThereIsNoLinkIsSentAfterTheNext(t *testing.T) {
	bot := newWitness()
	_, arena, session := seated(t, Shared(bot), Config{})
	session.send(ask("m", 1))
	bot.nextAsk(t)
	session.cut()
	again := arena.next(t)
	bot.answers <- Index(0)
	time.Sleep(20 * time.Millisecond)
	hello := expect[*pb.BotMessage_Hello](again).Hello
	again.send(&pb.ServerMessage{Message: &pb.ServerMessage_Welcome{Welcome: &pb.Welcome{
		SessionToken: hello.GetSessionToken(), Resumed: true, Encoding: hello.GetEncoding(),
	}}})
	again.send(ask("m", 1))
	expect[*pb.BotMessage_Decision](again)
}

func TestStatusMakesTheSeatSayAgainWhatWasNotHeard(t *testing.T) {
	_, _, session := seated(t, Func(first), Config{})
	status := func(phase pb.MatchPhase) *pb.ServerMessage {
		return &pb.ServerMessage{Message: &pb.ServerMessage_MatchStatus{MatchStatus: &pb.MatchStatus{
			MatchId: "m", Seat: proto.Uint32(1), Phase: phase,
		}}}
	}
	session.send(status(pb.MatchPhase_MATCH_PHASE_OFFERED))
	expect[*pb.BotMessage_Accept](session)
	expect[*pb.BotMessage_Ready](session)
	session.send(status(pb.MatchPhase_MATCH_PHASE_PREPARING))
	expect[*pb.BotMessage_Ready](session)
	session.send(status(pb.MatchPhase_MATCH_PHASE_RUNNING))
	session.nothing()
}

func TestMatchesThatTheServerHasForgottenEnd(t *testing.T) {
	bot := newWitness()
	_, arena, session := seated(t, Shared(bot), Config{})
	session.cut()
	session, _ = arena.welcomed(t, func(welcome *pb.Welcome) { welcome.Resumed = false })
	if outcome := bot.outcome(t); outcome.Kind != EndUnknown || outcome.Code != "link.lost" {
		t.Errorf("%+v", outcome)
	}
	session.send(offer("n"))
	expect[*pb.BotMessage_Accept](session)
	expect[*pb.BotMessage_Ready](session)
	session.send(&pb.ServerMessage{Message: &pb.ServerMessage_Error{Error: &pb.ErrorNotice{
		MatchId: "n", Error: &pb.ErrorInfo{Code: "match.unknown", Message: "there is none"},
	}}})
	if outcome := bot.outcome(t); outcome.Kind != EndUnknown || outcome.Code != "match.unknown" {
		t.Errorf("%+v", outcome)
	}
}

func TestTheEndOfAMatchThatIsNotKnownIsAcknowledged(t *testing.T) {
	arena := newArena(t)
	start(t, arena, Func(first), Config{})
	session, _ := arena.welcomed(t)
	session.send(ended("old"))
	if ack := expect[*pb.BotMessage_Ack](session).Ack; ack.GetMatchId() != "old" || !ack.GetEnded() {
		t.Errorf("%v", ack)
	}
}

func TestGoodbyes(t *testing.T) {
	for _, goodbyes := range []struct {
		code string
		kind error
	}{
		{"session.replaced", ErrUnfinished}, {"server.stopping", nil},
		{"auth.revoked-token", ErrRefused}, {"limit.message-rate", ErrRefused},
	} {
		client, _, session := seated(t, Func(first), Config{})
		session.send(goodbye(goodbyes.code, nil))
		session.close()
		err := client.result()
		if goodbyes.kind == nil && err != nil || !errors.Is(err, goodbyes.kind) {
			t.Errorf("%s: %v", goodbyes.code, err)
		}
		if told := client.Goodbye(); told.Code != goodbyes.code || told.Message != "it is time" {
			t.Errorf("%v", told)
		}
	}
}

func TestAGoodbyeMayAskToComeBack(t *testing.T) {
	client, arena, session := seated(t, Func(first), Config{GiveUpAfter: -1})
	began := time.Now()
	session.send(goodbye("server.stopping", proto.Uint32(300)))
	session.close()
	_, hello := arena.welcomed(t)
	if waited := time.Since(began); waited < 300*time.Millisecond || hello.GetSessionToken() == "" {
		t.Errorf("after %s: %v", waited, hello)
	}
	if client.Goodbye() != nil {
		t.Error("it is still sent away")
	}
}

func TestAStreamThatDoesNotEndAfterAGoodbyeIsLeft(t *testing.T) {
	client, arena, session := seated(t, Func(first), Config{GiveUpAfter: -1})
	session.send(goodbye("server.stopping", proto.Uint32(0)))
	again, hello := arena.welcomed(t)
	if hello.GetSessionToken() == "" {
		t.Errorf("%v", hello)
	}
	again.send(goodbye("session.replaced", nil))
	if err := client.result(); !errors.Is(err, ErrUnfinished) || client.Goodbye().Code != "session.replaced" {
		t.Errorf("%v, %v", err, client.Goodbye())
	}
}

func TestARefusedTokenIsFinal(t *testing.T) {
	for _, refused := range []struct {
		status codes.Code
		info   *pb.ErrorInfo
		code   string
		says   string
	}{
		{codes.Unauthenticated, &pb.ErrorInfo{Code: "auth.revoked-token", Message: "it was\nrevoked"}, "auth.revoked-token", "it was\ufffdrevoked"},
		{codes.Unauthenticated, nil, "auth.unknown-token", "no"},
		{codes.Unimplemented, nil, "link.no-arena", "no arena"},
		{codes.PermissionDenied, nil, "status.permission_denied", "no"},
	} {
		arena := newArena(t, func(arena *fakeArena) { arena.refuse = refusing(refused.status, refused.info) })
		client := start(t, arena, Func(first), Config{Wait: time.Minute})
		err := client.result()
		if !errors.Is(err, ErrRefused) || CodeOf(err) != refused.code || !strings.Contains(err.Error(), refused.says) {
			t.Errorf("%v", err)
		}
	}
}

func TestWhatTimeMendsIsTriedAgain(t *testing.T) {
	arena := newArena(t)
	start(t, arena, Func(first), Config{Wait: time.Minute})
	session := arena.next(t)
	expect[*pb.BotMessage_Hello](session)
	began := time.Now()
	session.send(&pb.ServerMessage{Message: &pb.ServerMessage_Refusal{Refusal: &pb.Refusal{
		Error: &pb.ErrorInfo{Code: "server.full", Message: "later", RetryAfterMs: proto.Uint32(200)},
	}}})
	session.close()
	arena.welcomed(t)
	if waited := time.Since(began); waited < 200*time.Millisecond {
		t.Errorf("after %s", waited)
	}
}

func TestASessionThatCannotBeResumedIsFollowedByANewOne(t *testing.T) {
	bot := newWitness()
	_, arena, session := seated(t, Shared(bot), Config{})
	session.cut()
	session = arena.next(t)
	expect[*pb.BotMessage_Hello](session)
	session.send(&pb.ServerMessage{Message: &pb.ServerMessage_Refusal{Refusal: &pb.Refusal{
		Error: &pb.ErrorInfo{Code: "session.other-build", Message: "another program"},
	}}})
	session.close()
	if outcome := bot.outcome(t); outcome.Kind != EndUnknown {
		t.Errorf("%+v", outcome)
	}
	if _, hello := arena.welcomed(t); hello.GetSessionToken() != "" || len(hello.GetAcks()) > 0 {
		t.Errorf("%v", hello)
	}
}

func TestNoServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	client, err := NewClient(Func(first), Config{Address: address, Token: "t"})
	if err != nil {
		t.Fatal(err)
	}
	err = client.Run(context.Background())
	want := "no server answers at " + address + " (connection refused) [link.unreachable]"
	if !errors.Is(err, ErrLink) || err.Error() != want {
		t.Errorf("%v", err)
	}
}

func TestALinkThatStaysLostIsGivenUp(t *testing.T) {
	arena := newArena(t)
	client := start(t, arena, Func(first), Config{GiveUpAfter: 1200 * time.Millisecond})
	session, _ := arena.welcomed(t)
	arena.refuse = refusing(codes.Unavailable, nil)
	session.cut()
	if err := client.result(); !errors.Is(err, ErrLink) || !strings.Contains(err.Error(), "gave up after") {
		t.Error(err)
	}
}

func TestTheContextStopsTheClientWhileItWaits(t *testing.T) {
	client, err := NewClient(Func(first), Config{Address: "127.0.0.1:1", Token: "t", Wait: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := client.Run(ctx); err != nil {
		t.Error(err)
	}
}

func TestASilentServerIsPingedThenLost(t *testing.T) {
	quick := func(welcome *pb.Welcome) {
		welcome.Limits.Keepalive = &pb.Keepalive{PingAfterMs: 50, PongWithinMs: 2_000}
	}
	arena := newArena(t)
	start(t, arena, Func(first), Config{})
	session, _ := arena.welcomed(t, quick)
	for range 3 {
		ping := expect[*pb.BotMessage_Ping](session).Ping
		session.send(&pb.ServerMessage{Message: &pb.ServerMessage_Pong{Pong: &pb.Pong{Id: ping.GetId()}}})
	}
	expect[*pb.BotMessage_Ping](session)
	if _, hello := arena.welcomed(t, quick); hello.GetSessionToken() == "" {
		t.Errorf("%v", hello)
	}
}

func TestAServerThatMakesNoSense(t *testing.T) {
	welcome := &pb.ServerMessage{Message: &pb.ServerMessage_Welcome{Welcome: &pb.Welcome{Encoding: 1}}}
	for name, messages := range map[string][]*pb.ServerMessage{
		"no welcome":            {ended("m")},
		"two welcomes":          {welcome, welcome},
		"an unknown encoding":   {{Message: &pb.ServerMessage_Welcome{Welcome: &pb.Welcome{Encoding: 9}}}},
		"a seat there is not":   {welcome, offer("m", func(offer *pb.MatchOffer) { offer.Seat = 2 })},
		"a match without an id": {welcome, offer("")},
	} {
		t.Run(name, func(t *testing.T) {
			arena := newArena(t)
			client := start(t, arena, Func(first), Config{})
			session := arena.next(t)
			expect[*pb.BotMessage_Hello](session)
			session.send(messages...)
			if err := client.result(); !errors.Is(err, ErrProtocol) {
				t.Error(err)
			}
		})
	}
	for name, request := range map[string]func(*pb.DecisionRequest){
		"an index there is not": func(request *pb.DecisionRequest) { request.Legal = []uint32{3} },
		"nothing is legal":      func(request *pb.DecisionRequest) { request.Legal = nil },
		"half written out": func(request *pb.DecisionRequest) {
			request.LegalActions = []*pb.LegalAction{{Text: "pass"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			client, _, session := seated(t, Func(first), Config{})
			session.send(ask("m", 1, request))
			expect[*pb.BotMessage_Goodbye](session)
			session.closed()
			if err := client.result(); !errors.Is(err, ErrProtocol) {
				t.Error(err)
			}
		})
	}
}

func TestMessagesOfLaterVersionsAreIgnored(t *testing.T) {
	_, _, session := seated(t, Func(first), Config{})
	later := &pb.ServerMessage{}
	later.ProtoReflect().SetUnknown([]byte{0xF2, 0x01, 0x01, 0x61})
	session.send(later, ask("m", 1))
	expect[*pb.BotMessage_Decision](session)
}

// rawCodec lets a server send any bytes.
type rawCodec struct{}

func (rawCodec) Marshal(message any) ([]byte, error) { return *message.(*[]byte), nil }
func (rawCodec) Unmarshal(raw []byte, message any) error {
	*message.(*[]byte) = raw
	return nil
}
func (rawCodec) Name() string { return "proto" }

func TestAFrameThatIsGarbage(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.ForceServerCodec(rawCodec{}), grpc.UnknownServiceHandler(
		func(_ any, stream grpc.ServerStream) error {
			garbage := []byte{0x0A, 0x7F}
			_ = stream.SendMsg(&garbage)
			<-stream.Context().Done()
			return nil
		}))
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	client, err := NewClient(Func(first), Config{Address: listener.Addr().String(), Token: "t"})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Run(context.Background()); CodeOf(err) != "protocol.garbage" {
		t.Error(err)
	}
}

// ------------------------------------------------------------------ drain and capacity

func TestDrainingPlaysTheMatchesOnThenLeaves(t *testing.T) {
	client, _, session := seated(t, Func(first), Config{Capacity: 3})
	client.Drain()
	if capacity := expect[*pb.BotMessage_Capacity](session).Capacity; capacity.GetMatches() != 0 {
		t.Errorf("%v", capacity)
	}
	session.send(ask("m", 1))
	expect[*pb.BotMessage_Decision](session)
	session.send(ended("m"))
	expect[*pb.BotMessage_Ack](session)
	expect[*pb.BotMessage_Goodbye](session)
	session.closed()
	if err := client.result(); err != nil {
		t.Error(err)
	}
}

func TestCapacityShrinksAsTheMatchesAreUsedUp(t *testing.T) {
	arena := newArena(t)
	client := start(t, arena, Func(first), Config{Capacity: 4, Matches: 2})
	session, hello := arena.welcomed(t)
	if hello.GetCapacity() != 2 {
		t.Errorf("%d", hello.GetCapacity())
	}
	says := func(want uint32) {
		t.Helper()
		if capacity := expect[*pb.BotMessage_Capacity](session).Capacity; capacity.GetMatches() != want {
			t.Errorf("%v", capacity)
		}
	}
	play := func(match string) {
		t.Helper()
		expect[*pb.BotMessage_Accept](session)
		expect[*pb.BotMessage_Ready](session)
		session.send(ended(match))
		expect[*pb.BotMessage_Ack](session)
	}
	session.send(offer("a"))
	play("a")
	says(1)
	session.send(offer("b"))
	says(0)
	play("b")
	expect[*pb.BotMessage_Goodbye](session)
	session.closed()
	if err := client.result(); err != nil || client.Ended() != 2 {
		t.Error(err)
	}
}

func TestBackOffGrowsAndIsPartlyRandom(t *testing.T) {
	least, most := func() float64 { return 0 }, func() float64 { return 1 }
	for tries, want := range map[int]time.Duration{
		0: 200 * time.Millisecond, 1: 400 * time.Millisecond, 5: 6400 * time.Millisecond,
		6: 10 * time.Second, 1000: 10 * time.Second,
	} {
		if short, long := backOff(tries, 0, least), backOff(tries, 0, most); short != want/2 || long != want {
			t.Errorf("%d: %s to %s", tries, short, long)
		}
	}
	if short, long := backOff(0, time.Second, least), backOff(0, time.Second, most); short != 1100*time.Millisecond || long != 1700*time.Millisecond {
		t.Errorf("%s to %s", short, long)
	}
}
