package fritillary

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "fritillary.example/clients/go/api/v1"
)

const (
	// The figures of the protocol; Welcome repeats those of the server.
	pingAfter  = 20 * time.Second
	pongWithin = 20 * time.Second

	// openWithin is how long a server may take from the first try to its first answer.
	openWithin = 15 * time.Second
	// closeWithin is how long it may take to close the stream after a Goodbye, whoever's.
	closeWithin = 2 * time.Second
	// pageWithin is for one page of an action table.
	pageWithin = 10 * time.Second
)

// A link is one stream, from Hello to its end. Messages are handled in order.
type link struct {
	server endpoint
	// welcome is called with Welcome, receive with every message after it. Neither may
	// block; an error ends the link.
	welcome func(*pb.Welcome) error
	receive func(*pb.ServerMessage) error

	conn *grpc.ClientConn
	// parting is closed by a Goodbye of either side.
	parting chan struct{}
	// wake tells the writer that there is something to do.
	wake chan struct{}
	// settled tells the writer that nothing more is about to be sent.
	settled chan struct{}
	// changed tells the watcher that the figures have changed.
	changed chan struct{}

	mutex sync.Mutex
	// together is how long an answer waits at most for those of other matches.
	together time.Duration
	outbox   []*pb.BotMessage
	// reading tells whether messages of a frame are yet to be handled, asked how many bots
	// think about an answer, urgent whether the outbox holds what must not wait for them.
	reading bool
	asked   int
	urgent  bool
	leaving bool
	open    bool
	limits  *pb.Limits
	heard   time.Time
	goodbye *pb.Goodbye
	err     error
}

func newLink(server endpoint, welcome func(*pb.Welcome) error, receive func(*pb.ServerMessage) error) *link {
	return &link{
		server:  server,
		welcome: welcome,
		receive: receive,
		parting: make(chan struct{}),
		wake:    make(chan struct{}, 1),
		settled: make(chan struct{}, 1),
		changed: make(chan struct{}, 1),
		heard:   time.Now(),

		together: answersTogether,
	}
}

// leave says goodbye after what was sent so far, then closes the stream.
func (l *link) leave(code, message string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.leaving {
		return
	}
	l.outbox = append(l.outbox, &pb.BotMessage{Message: &pb.BotMessage_Goodbye{
		Goodbye: &pb.Goodbye{Code: code, Message: message},
	}})
	l.part()
	l.leaving = true
	ring(l.settled)
	ring(l.wake)
}

// part lets the watcher see to the end of the link; to be called with the mutex, before it
// is noted who said goodbye.
func (l *link) part() {
	if !l.leaving && l.goodbye == nil {
		close(l.parting)
	}
}

func ring(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}

func (l *link) isOpen() bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.open
}

// listActions returns a page of an action table.
func (l *link) listActions(ctx context.Context, request *pb.ListActionsRequest) (*pb.ListActionsResponse, error) {
	ctx, cancel := context.WithTimeout(l.signed(ctx), pageWithin)
	defer cancel()
	var trailer metadata.MD
	page, err := pb.NewCatalogServiceClient(l.conn).ListActions(ctx, request, grpc.Trailer(&trailer))
	if err == nil {
		return page, nil
	}
	if ctx.Err() != nil {
		return nil, newError(ErrLink, "link.unreachable",
			"the server at %s did not answer in %s", l.server.address, pageWithin)
	}
	return nil, l.server.statusError(err, trailer)
}

func (l *link) signed(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+l.server.token)
}

// ------------------------------------------------------------------- the life of it

// run opens the stream and handles it to its end. It returns the server's Goodbye, or nil
// if this side left.
func (l *link) run(hello *pb.Hello) (*pb.Goodbye, error) {
	conn, handshake, err := l.server.dial()
	if err != nil {
		return nil, usageError("address", "address %s: %s", l.server.address, shown(err.Error()))
	}
	defer conn.Close()
	l.conn = conn
	ctx, cancel := context.WithCancel(l.signed(context.Background()))
	l.mutex.Lock()
	l.outbox = append([]*pb.BotMessage{{Message: &pb.BotMessage_Hello{Hello: hello}}}, l.outbox...)
	ring(l.wake)
	l.mutex.Unlock()

	var others sync.WaitGroup
	others.Add(1)
	go func() {
		defer others.Done()
		l.watch(ctx)
		cancel()
	}()
	defer others.Wait()
	defer cancel()

	codec := &frameCodec{}
	stream, err := pb.NewBotServiceClient(conn).Connect(ctx, grpc.ForceCodec(codec))
	if err == nil {
		others.Add(1)
		go func() {
			defer others.Done()
			l.write(ctx, stream)
		}()
		err = l.read(stream)
	}
	var trailer metadata.MD
	if stream != nil {
		trailer = stream.Trailer()
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	met := l.open
	l.open = false
	switch {
	case l.leaving:
		return nil, nil
	case l.err != nil:
		return nil, l.err
	case l.goodbye != nil:
		return l.goodbye, nil
	case codec.broken:
		return nil, protocolError("the server at %s sent a frame that cannot be read", l.server.address)
	case errors.Is(err, io.EOF):
		return nil, newError(ErrLink, "link.lost", "the server at %s closed the stream", l.server.address)
	case !met && status.Code(err) == codes.Unavailable && len(trailer.Get(errorKey)) == 0:
		return nil, l.server.unreachable(err, handshake.err())
	default:
		return nil, l.server.statusError(err, trailer)
	}
}

// read handles frames until the stream ends, and returns why it did.
func (l *link) read(stream grpc.BidiStreamingClient[pb.ConnectRequest, pb.ConnectResponse]) error {
	for {
		frame, err := stream.Recv()
		if err != nil {
			return err
		}
		messages := frame.GetMessages()
		l.mutex.Lock()
		l.heard = time.Now()
		l.mutex.Unlock()
		for at, message := range messages {
			l.reads(at+1 < len(messages))
			if err := l.handle(message); err != nil {
				l.fail(err)
				return err
			}
		}
	}
}

func (l *link) fail(err error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.err == nil {
		l.err = err
	}
}

func (l *link) handle(message *pb.ServerMessage) error {
	switch body := message.GetMessage().(type) {
	case nil: // of a later version
	case *pb.ServerMessage_Ping:
		l.send(&pb.BotMessage{Message: &pb.BotMessage_Pong{Pong: &pb.Pong{Id: body.Ping.GetId()}}})
	case *pb.ServerMessage_Pong:
	case *pb.ServerMessage_Goodbye:
		l.mutex.Lock()
		l.part()
		l.goodbye = body.Goodbye
		l.mutex.Unlock()
	case *pb.ServerMessage_Refusal:
		return refusedError(body.Refusal.GetError())
	case *pb.ServerMessage_Welcome:
		l.mutex.Lock()
		again := l.open
		l.open = true
		l.limits = body.Welcome.GetLimits()
		l.mutex.Unlock()
		if again {
			return protocolError("the server sent Welcome twice")
		}
		ring(l.changed)
		return l.welcome(body.Welcome)
	default:
		if !l.isOpen() {
			return protocolError("the server began with %T in place of Welcome", body)
		}
		return l.receive(message)
	}
	return nil
}

// watch finds out that the link is lost, and sees that a Goodbye ends it.
func (l *link) watch(ctx context.Context) {
	began := time.Now()
	var pinged time.Time
	for {
		l.mutex.Lock()
		open, heard := l.open, l.heard
		after, within := pingAfter, pongWithin
		if told := l.limits.GetKeepalive(); told.GetPingAfterMs() > 0 && told.GetPongWithinMs() > 0 {
			after, within = milliseconds(told.GetPingAfterMs()), milliseconds(told.GetPongWithinMs())
		}
		l.mutex.Unlock()

		now := time.Now()
		var due time.Time
		switch {
		case !open:
			due = began.Add(openWithin)
			if !now.Before(due) {
				l.fail(newError(ErrLink, "link.unreachable",
					"the server at %s did not answer within %s", l.server.address, openWithin))
				return
			}
		case pinged.IsZero() || heard.After(pinged):
			pinged = time.Time{}
			due = heard.Add(after)
			if !now.Before(due) {
				pinged = now
				l.send(&pb.BotMessage{Message: &pb.BotMessage_Ping{
					Ping: &pb.Ping{Id: uint64(now.Sub(began).Milliseconds())},
				}})
				due = now.Add(within)
			}
		default:
			due = pinged.Add(within)
			if !now.Before(due) {
				l.fail(newError(ErrLink, "link.lost",
					"the server at %s was silent for too long", l.server.address))
				return
			}
		}
		wait := due.Sub(now)
		select {
		case <-ctx.Done():
			return
		case <-l.changed:
		case <-time.After(wait):
			if !pinged.IsZero() && time.Since(now) > wait+time.Second {
				// This process stood still, so the Pong could not be read.
				pinged = time.Now()
			}
		case <-l.parting:
			select {
			case <-ctx.Done():
			case <-time.After(closeWithin):
			}
			return
		}
	}
}

// A frameCodec reads and writes frames as usual, and notes whether one was garbage: gRPC
// tells that with a status that a server could have sent as well.
type frameCodec struct {
	broken bool
}

// Marshal returns the bytes of a message.
func (*frameCodec) Marshal(message any) ([]byte, error) {
	return proto.Marshal(message.(proto.Message))
}

// Unmarshal reads a message.
func (c *frameCodec) Unmarshal(raw []byte, message any) error {
	err := proto.Unmarshal(raw, message.(proto.Message))
	c.broken = c.broken || err != nil
	return err
}

// Name is that of the usual codec.
func (*frameCodec) Name() string { return "proto" }
