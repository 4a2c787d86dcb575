package fritillary

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	pb "fritillary.example/clients/go/api/v1"
)

// How a link sends: what is ready together travels together, within the limits of the
// server.

const (
	// answersTogether is how long an answer waits at most for those of other matches.
	answersTogether = time.Millisecond

	// leastFrame is the most bytes in a frame before Welcome has told the limits.
	leastFrame = 16 << 10
	// mostMessages in one frame.
	mostMessages = 256
)

// ------------------------------------------------------------------------- outgoing

// send sends a message; what is sent together travels together.
func (l *link) send(message *pb.BotMessage) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.put(message)
}

// answer sends a message and is told how many bots think about an answer now.
func (l *link) answer(message *pb.BotMessage, asked int) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.asked = asked
	l.put(message)
}

// put appends a message to the outbox; to be called with the mutex.
func (l *link) put(message *pb.BotMessage) {
	if l.leaving {
		return
	}
	l.outbox = append(l.outbox, message)
	if _, pong := message.GetMessage().(*pb.BotMessage_Pong); pong {
		// The server measures how long it takes.
		l.urgent = true
	}
	l.settle()
	ring(l.wake)
}

// expect is told how many bots think about an answer.
func (l *link) expect(asked int) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.asked = asked
	l.settle()
}

// reads is told whether more messages of a frame are to be handled after the next.
func (l *link) reads(more bool) {
	if more == l.reading {
		return // nobody else writes it
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.reading = more
	l.settle()
}

// settle lets the writer go on if nothing is about to be sent; to be called with the mutex.
func (l *link) settle() {
	if !l.gathers() {
		ring(l.settled)
	}
}

// gathers tells whether there are messages that may wait for others which are about to be
// sent; to be called with the mutex.
func (l *link) gathers() bool {
	return (l.reading || l.asked > 0) && !l.urgent && !l.leaving
}

// write sends what is in the outbox, until this side has left or the stream has ended.
func (l *link) write(ctx context.Context, stream grpc.BidiStreamingClient[pb.ConnectRequest, pb.ConnectResponse]) {
	pace := pacer{credit: 1, at: time.Now()}
	for {
		l.gather(ctx)
		frame, done := l.nextFrame()
		if frame == nil {
			if done {
				_ = stream.CloseSend()
				return
			}
			select {
			case <-l.wake:
				continue
			case <-ctx.Done():
				return
			}
		}
		l.mutex.Lock()
		rate := l.limits.GetMaxMessagesPerSecond()
		l.mutex.Unlock()
		if wait := pace.take(len(frame.Messages), rate, time.Now()); wait > 0 {
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return
			}
		}
		if stream.Send(frame) != nil {
			return // the reader learns why
		}
	}
}

// gather waits until all that is about to be sent can travel together, but not for long.
func (l *link) gather(ctx context.Context) {
	var late <-chan time.Time
	for {
		l.mutex.Lock()
		waits, most := len(l.outbox) > 0 && l.gathers(), l.together
		l.mutex.Unlock()
		if !waits {
			return
		}
		if late == nil {
			late = time.After(most)
		}
		select {
		case <-l.settled:
		case <-late:
			return
		case <-ctx.Done():
			return
		}
	}
}

// nextFrame takes as many messages as one frame holds, nil if there are none; done tells
// whether there will be no more.
func (l *link) nextFrame() (frame *pb.ConnectRequest, done bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if len(l.outbox) == 0 {
		return nil, l.leaving
	}
	left, most := leastFrame, mostMessages
	if bytes := l.limits.GetMaxMessageBytes(); bytes > 0 {
		left = int(bytes)
	}
	if rate := l.limits.GetMaxMessagesPerSecond(); rate > 0 {
		most = min(most, int(rate))
	}
	count := 0
	for count < len(l.outbox) && count < most {
		// Each message costs a tag and its length besides.
		left -= proto.Size(l.outbox[count]) + 6
		if left < 0 && count > 0 {
			break
		}
		count++
	}
	frame = &pb.ConnectRequest{Messages: l.outbox[:count:count]}
	l.outbox = l.outbox[count:]
	l.urgent = l.urgent && len(l.outbox) > 0
	return frame, false
}

// A pacer spreads messages where more than a second's worth would be sent at once.
type pacer struct {
	// credit is how many messages may be sent at once, as counted at a moment.
	credit float64
	at     time.Time
}

// take returns how long to wait before so many messages are sent; rate is per second, 0
// for no limit.
func (p *pacer) take(count int, rate uint32, now time.Time) time.Duration {
	if rate == 0 {
		return 0
	}
	p.credit += now.Sub(p.at).Seconds() * float64(rate)
	p.credit = min(p.credit, float64(rate)) - float64(count)
	p.at = now
	if p.credit >= 0 {
		return 0
	}
	return time.Duration(-p.credit / float64(rate) * float64(time.Second))
}
