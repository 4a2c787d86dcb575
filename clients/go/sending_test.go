package fritillary

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "fritillary.example/clients/go/api/v1"
)

func TestAnswersThatAreAboutToComeTravelTogether(t *testing.T) {
	decision := &pb.BotMessage{Message: &pb.BotMessage_Decision{Decision: &pb.Decision{}}}
	pong := &pb.BotMessage{Message: &pb.BotMessage_Pong{Pong: &pb.Pong{}}}
	for name, test := range map[string]struct {
		then func(*link)
		sent int
	}{
		"until all have answered":           {func(l *link) { l.answer(decision, 1); l.answer(decision, 0) }, 3},
		"until nobody is asked any more":    {func(l *link) { l.expect(0) }, 1},
		"until all of a frame is handled":   {func(l *link) { l.reads(true); l.answer(decision, 0); l.reads(false) }, 2},
		"unless the server measures":        {func(l *link) { l.send(pong) }, 2},
		"unless this side leaves":           {func(l *link) { l.leave("bot.stopping", "") }, 2},
		"unless one of the bots takes long": {func(l *link) { l.together = 0 }, 1},
	} {
		l := newLink(endpoint{}, nil, nil)
		l.together = patience
		l.expect(2)
		l.send(decision)
		if !l.gathers() {
			t.Errorf("%s: nothing is waited for", name)
		}
		test.then(l)
		began := time.Now()
		l.gather(context.Background())
		if waited := time.Since(began); waited >= patience {
			t.Errorf("%s: waited for %s", name, waited)
		}
		if frame, _ := l.nextFrame(); len(frame.GetMessages()) != test.sent {
			t.Errorf("%s: %d messages", name, len(frame.GetMessages()))
		}
	}
}

func TestManyAnswersTravelInOneFrame(t *testing.T) {
	const matches = 20
	arena := newArena(t)
	gate := make(chan struct{})
	var asked sync.WaitGroup
	asked.Add(matches)
	bot := func(_ context.Context, ask *Ask) (Decision, error) {
		asked.Done()
		<-gate
		return Choose(ask.Legal[0]), nil
	}
	client := start(t, arena, Func(bot), Config{Capacity: matches})
	session, _ := arena.welcomed(t)
	var asks []*pb.ServerMessage
	for number := range matches {
		id := fmt.Sprint("m", number)
		session.send(offer(id))
		expect[*pb.BotMessage_Accept](session)
		expect[*pb.BotMessage_Ready](session)
		asks = append(asks, ask(id, 1))
	}
	client.mutex.Lock()
	client.link.mutex.Lock()
	client.link.together = patience
	client.link.mutex.Unlock()
	client.mutex.Unlock()
	session.send(asks...)
	asked.Wait()
	before := session.frames.Load()
	close(gate)
	for range matches {
		expect[*pb.BotMessage_Decision](session)
	}
	if frames := session.frames.Load() - before; frames != 1 {
		t.Errorf("%d frames", frames)
	}
}

// ---------------------------------------------------------------------- small parts

func TestFramesStayWithinTheLimits(t *testing.T) {
	link := newLink(endpoint{}, nil, nil)
	link.limits = &pb.Limits{MaxMessageBytes: 100, MaxMessagesPerSecond: 3}
	text := func(size int) *pb.BotMessage {
		return &pb.BotMessage{Message: &pb.BotMessage_Decision{Decision: &pb.Decision{
			Choice: &pb.Decision_Text{Text: strings.Repeat("a", size)},
		}}}
	}
	for _, size := range []int{1, 1, 1, 1, 60, 60, 200, 1} {
		link.send(text(size))
	}
	var counts []int
	for {
		frame, _ := link.nextFrame()
		if frame == nil {
			break
		}
		counts = append(counts, len(frame.GetMessages()))
		if size := proto.Size(frame); size > 100 && len(frame.GetMessages()) > 1 {
			t.Errorf("%d bytes", size)
		}
	}
	if want := []int{3, 2, 1, 1, 1}; !slices.Equal(counts, want) {
		t.Errorf("%v, not %v", counts, want)
	}
}

func TestMessagesAreSpreadOverTime(t *testing.T) {
	now := time.Now()
	pace := pacer{credit: 1, at: now}
	if wait := pace.take(1000, 0, now); wait != 0 {
		t.Errorf("%s without a limit", wait)
	}
	if wait := pace.take(6, 10, now); wait != 500*time.Millisecond {
		t.Errorf("%s", wait)
	}
	if wait := pace.take(1, 10, now.Add(500*time.Millisecond)); wait != 100*time.Millisecond {
		t.Errorf("%s", wait)
	}
	// No more than a second's worth is saved up.
	if wait := pace.take(10, 10, now.Add(time.Hour)); wait != 0 {
		t.Errorf("%s", wait)
	}
	if wait := pace.take(1, 10, now.Add(time.Hour)); wait != 100*time.Millisecond {
		t.Errorf("%s", wait)
	}
}
