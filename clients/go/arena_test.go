package fritillary

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "fritillary.example/clients/go/api/v1"
)

// patience is how long a test waits for what must come.
const patience = time.Minute

func TestMain(m *testing.M) {
	for _, name := range []string{AddressVariable, TokenVariable, CAVariable, CertVariable, KeyVariable} {
		os.Unsetenv(name)
	}
	os.Exit(m.Run())
}

// A fakeArena is a server whose side of the conversation is told by the test.
type fakeArena struct {
	pb.UnimplementedBotServiceServer
	pb.UnimplementedCatalogServiceServer

	address  string
	sessions chan *fakeSession
	// refuse is what every stream is refused with, if set.
	refuse func(stream grpc.ServerStream) error
	// actions are the action table; pages counts how often one was asked for.
	actions []*pb.ActionEntry
	hash    []byte
	pages   atomic.Int32
}

// newArena starts a server, which is stopped by the end of the test.
func newArena(t testing.TB, options ...func(*fakeArena)) *fakeArena {
	t.Helper()
	return newSecretArena(t, nil, options...)
}

func newSecretArena(t testing.TB, secrecy credentials.TransportCredentials, options ...func(*fakeArena)) *fakeArena {
	t.Helper()
	arena := newTable()
	for _, option := range options {
		option(arena)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	arena.address = listener.Addr().String()
	var serving []grpc.ServerOption
	if secrecy != nil {
		serving = append(serving, grpc.Creds(secrecy))
	}
	server := grpc.NewServer(serving...)
	pb.RegisterBotServiceServer(server, arena)
	pb.RegisterCatalogServiceServer(server, arena)
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	return arena
}

// newTable returns a server that has a table of three actions and does not yet run.
func newTable() *fakeArena {
	arena := &fakeArena{
		sessions: make(chan *fakeSession, 16),
		hash:     []byte("the table"),
	}
	for index, text := range []string{"pass", "left", "right"} {
		arena.actions = append(arena.actions, &pb.ActionEntry{
			Index: uint32(index), Text: text, Msgpack: pack(map[string]any{"type": text}),
		})
	}
	return arena
}

func (a *fakeArena) Connect(stream grpc.BidiStreamingServer[pb.ConnectRequest, pb.ConnectResponse]) error {
	if a.refuse != nil {
		return a.refuse(stream)
	}
	session := &fakeSession{
		stream: stream,
		in:     make(chan *pb.BotMessage, 256),
		end:    make(chan error, 1),
	}
	told, _ := metadata.FromIncomingContext(stream.Context())
	session.authorization = told.Get("authorization")
	go func() {
		defer close(session.in)
		for {
			frame, err := stream.Recv()
			if err != nil {
				return
			}
			session.frames.Add(1)
			for _, message := range frame.GetMessages() {
				session.in <- message
			}
		}
	}()
	a.sessions <- session
	select {
	case err := <-session.end:
		return err
	case <-stream.Context().Done():
		return stream.Context().Err()
	}
}

func (a *fakeArena) ListActions(_ context.Context, request *pb.ListActionsRequest) (*pb.ListActionsResponse, error) {
	a.pages.Add(1)
	at := 0
	if request.GetPageToken() != "" {
		fmt.Sscan(request.GetPageToken(), &at)
	}
	answer := &pb.ListActionsResponse{
		Actions: a.actions[at:min(at+2, len(a.actions))],
		Table:   &pb.ActionTable{Size: uint32(len(a.actions)), Hash: a.hash},
	}
	if at+2 < len(a.actions) {
		answer.NextPageToken = fmt.Sprint(at + 2)
	}
	return answer, nil
}

// next returns the next stream that a client opens.
func (a *fakeArena) next(t testing.TB) *fakeSession {
	t.Helper()
	select {
	case session := <-a.sessions:
		session.t = t
		return session
	case <-time.After(patience):
		t.Fatal("no stream was opened")
		return nil
	}
}

// welcomed returns the next stream, after Hello and Welcome.
func (a *fakeArena) welcomed(t testing.TB, options ...func(*pb.Welcome)) (*fakeSession, *pb.Hello) {
	t.Helper()
	session := a.next(t)
	hello := expect[*pb.BotMessage_Hello](session).Hello
	welcome := &pb.Welcome{
		SessionToken: "the session",
		Resumed:      hello.GetSessionToken() != "",
		BotName:      "my-bot",
		Encoding:     hello.GetEncoding(),
		LegalForm:    hello.GetLegalForm(),
		Capacity:     hello.GetCapacity(),
		Limits:       &pb.Limits{MaxMessageBytes: 4096, MaxNoteBytes: 8},
	}
	for _, option := range options {
		option(welcome)
	}
	session.send(&pb.ServerMessage{Message: &pb.ServerMessage_Welcome{Welcome: welcome}})
	return session, hello
}

// A fakeSession is one stream, seen from the server.
type fakeSession struct {
	t             testing.TB
	stream        grpc.BidiStreamingServer[pb.ConnectRequest, pb.ConnectResponse]
	in            chan *pb.BotMessage
	end           chan error
	authorization []string
	// frames counts those that the client has sent.
	frames atomic.Int32
}

func (s *fakeSession) send(messages ...*pb.ServerMessage) {
	s.t.Helper()
	if err := s.stream.Send(&pb.ConnectResponse{Messages: messages}); err != nil {
		s.t.Fatal(err)
	}
}

// cut ends the stream as a lost link does.
func (s *fakeSession) cut() { s.end <- status.Error(codes.Unavailable, "the link was cut") }

// close ends the stream as the server does after its last word.
func (s *fakeSession) close() { s.end <- nil }

// expect returns the next message, which must be of a kind.
func expect[T any](s *fakeSession) T {
	s.t.Helper()
	select {
	case message, open := <-s.in:
		if !open {
			s.t.Fatal("the client closed the stream")
		}
		if body, ok := message.GetMessage().(T); ok {
			return body
		}
		s.t.Fatalf("unexpected %v", message)
	case <-time.After(patience):
		s.t.Fatalf("no %T came", *new(T))
	}
	panic("unreachable")
}

// nothing asserts that nothing comes for a while.
func (s *fakeSession) nothing() {
	s.t.Helper()
	select {
	case message, open := <-s.in:
		if open {
			s.t.Fatalf("unexpected %v", message)
		}
	case <-time.After(50 * time.Millisecond):
	}
}

// closed asserts that the client has closed the stream.
func (s *fakeSession) closed() {
	s.t.Helper()
	select {
	case message, open := <-s.in:
		if open {
			s.t.Fatalf("unexpected %v", message)
		}
	case <-time.After(patience):
		s.t.Fatal("the client did not close the stream")
	}
	s.close()
}

// ------------------------------------------------------------------- what is said

func pack(value any) []byte {
	raw, err := encode(value, MessagePack)
	if err != nil {
		panic(err)
	}
	return raw
}

func offer(matchID string, options ...func(*pb.MatchOffer)) *pb.ServerMessage {
	offer := &pb.MatchOffer{
		MatchId: matchID,
		Seat:    1,
		Game: &pb.GameRef{
			Id: "nim", RulesVersion: 3,
			Variants: []*pb.VariantRef{{Id: "long", Version: 2}},
		},
		Table:      &pb.ActionTable{Size: 3, Hash: []byte("the table")},
		Options:    pack(map[string]any{"heaps": []any{3, 4}}),
		Seats:      []*pb.SeatInfo{{Seat: 0, Player: &pb.PlayerInfo{Name: "other"}}, {Seat: 1}},
		Terms:      &pb.MatchTerms{MarginMs: proto.Uint32(50)},
		BotSeed:    77,
		Commitment: &pb.Commitment{Algorithm: sealedDeal, Hash: []byte("hash")},
	}
	for _, option := range options {
		option(offer)
	}
	return &pb.ServerMessage{Message: &pb.ServerMessage_MatchOffer{MatchOffer: offer}}
}

func ask(matchID string, id uint64, options ...func(*pb.DecisionRequest)) *pb.ServerMessage {
	request := &pb.DecisionRequest{
		MatchId: matchID, Seat: 1, DecisionId: id, Ply: uint32(id), Attempt: 1,
		Observation: pack(map[string]any{"heaps": []any{2, 300}}),
		Legal:       []uint32{0, 2},
		Clock:       &pb.ClockReading{LeftMs: proto.Uint32(60_000)},
	}
	for _, option := range options {
		option(request)
	}
	return &pb.ServerMessage{Message: &pb.ServerMessage_DecisionRequest{DecisionRequest: request}}
}

func closedAs(matchID string, id uint64, closure pb.DecisionClosure) *pb.ServerMessage {
	return &pb.ServerMessage{Message: &pb.ServerMessage_DecisionClosed{DecisionClosed: &pb.DecisionClosed{
		MatchId: matchID, Seat: 1, DecisionId: id, Closure: closure,
	}}}
}

func resigned(matchID string, number uint32) *pb.ServerMessage {
	return &pb.ServerMessage{Message: &pb.ServerMessage_Event{Event: &pb.Event{
		MatchId: matchID, Seat: proto.Uint32(1), Number: number, Ply: number,
		Body: &pb.Event_Resigned{Resigned: &pb.Resigned{Seat: 0}},
	}}}
}

func ended(matchID string, options ...func(*pb.MatchResult)) *pb.ServerMessage {
	result := &pb.MatchResult{
		Kind:    pb.MatchEndKind_MATCH_END_KIND_PLAYED,
		Outcome: &pb.Outcome{Reason: "last", Scores: []int64{-1, 1}, Placing: []uint32{2, 1}},
	}
	for _, option := range options {
		option(result)
	}
	return &pb.ServerMessage{Message: &pb.ServerMessage_MatchEnded{MatchEnded: &pb.MatchEnded{
		MatchId: matchID, Seat: proto.Uint32(1), Result: result,
	}}}
}

func goodbye(code string, reconnect *uint32) *pb.ServerMessage {
	return &pb.ServerMessage{Message: &pb.ServerMessage_Goodbye{Goodbye: &pb.Goodbye{
		Code: code, Message: "it is time", ReconnectAfterMs: reconnect,
	}}}
}

// refusing refuses every stream with a status and the server's own word.
func refusing(code codes.Code, info *pb.ErrorInfo) func(grpc.ServerStream) error {
	return func(stream grpc.ServerStream) error {
		if info != nil {
			raw, _ := proto.Marshal(info)
			stream.SetTrailer(metadata.Pairs(errorKey, string(raw)))
		}
		return status.Error(code, "no")
	}
}

// -------------------------------------------------------------------- the client

// first chooses the first legal action.
func first(_ context.Context, ask *Ask) (Decision, error) { return Choose(ask.Legal[0]), nil }

// A running client, with what it returned.
type running struct {
	*Client
	t    testing.TB
	done chan error
}

// start runs a client of an arena; it is stopped by the end of the test.
func start(t testing.TB, arena *fakeArena, bot Factory, config Config) *running {
	t.Helper()
	config.Address, config.Token = arena.address, "the-token"
	if config.Build == "" {
		config.Build = "the build"
	}
	client, err := NewClient(bot, config)
	if err != nil {
		t.Fatal(err)
	}
	started := &running{Client: client, t: t, done: make(chan error, 1)}
	go func() { started.done <- client.Run(context.Background()) }()
	t.Cleanup(client.Stop)
	return started
}

// result returns what Run returned.
func (r *running) result() error {
	r.t.Helper()
	select {
	case err := <-r.done:
		r.done <- err
		return err
	case <-time.After(patience):
		r.t.Fatal("the client did not stop")
		return nil
	}
}

// seated starts a client and brings it into the match `m`.
func seated(t testing.TB, bot Factory, config Config) (*running, *fakeArena, *fakeSession) {
	t.Helper()
	arena := newArena(t)
	client := start(t, arena, bot, config)
	session, _ := arena.welcomed(t)
	session.send(offer("m"))
	expect[*pb.BotMessage_Accept](session)
	expect[*pb.BotMessage_Ready](session)
	return client, arena, session
}
