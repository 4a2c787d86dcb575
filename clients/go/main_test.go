package fritillary

import (
	"context"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	pb "fritillary.example/clients/go/api/v1"
)

// A log is what a program writes.
type log struct {
	mutex sync.Mutex
	text  strings.Builder
}

func (l *log) Write(raw []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.Write(raw)
}

func (l *log) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.String()
}

// program runs a bot as a program; it returns what it writes and its exit status.
func program(arena *fakeArena, args ...string) (*log, chan int) {
	written, status := &log{}, make(chan int, 1)
	args = append([]string{"my-bot", "-address", arena.address, "--token", "the-token"}, args...)
	go func() { status <- run(Func(first), Config{Name: "coded", Capacity: 3}, args, written) }()
	return written, status
}

func exits(t *testing.T, status chan int, want int) {
	t.Helper()
	select {
	case got := <-status:
		if got != want {
			t.Errorf("status %d, not %d", got, want)
		}
	case <-time.After(patience):
		t.Fatal("the program goes on")
	}
}

func TestAProgramPlaysItsMatches(t *testing.T) {
	arena := newArena(t)
	written, status := program(arena, "-matches", "1", "-name", "told")
	session, hello := arena.welcomed(t)
	if hello.GetBot().GetName() != "told" || hello.GetCapacity() != 1 || hello.GetBot().GetBuild() == "" {
		t.Errorf("%v", hello)
	}
	session.send(offer("m"))
	expect[*pb.BotMessage_Capacity](session)
	expect[*pb.BotMessage_Accept](session)
	expect[*pb.BotMessage_Ready](session)
	session.send(ended("m"))
	expect[*pb.BotMessage_Ack](session)
	expect[*pb.BotMessage_Goodbye](session)
	session.closed()
	exits(t, status, 0)
	want := "connected to " + arena.address + " as my-bot (server )\n" +
		"match m, nim+long, seat 1: played, place 1 of 2, last\n"
	if written.String() != want {
		t.Errorf("%q", written)
	}
}

func TestARefusedTokenIsOneLine(t *testing.T) {
	arena := newArena(t, func(arena *fakeArena) {
		arena.refuse = refusing(codes.Unauthenticated, &pb.ErrorInfo{
			Code: "auth.unknown-token", Message: "this token is not known",
		})
	})
	written, status := program(arena)
	exits(t, status, 1)
	if want := "error: this token is not known [auth.unknown-token]\n"; written.String() != want {
		t.Errorf("%q", written)
	}
}

func TestWrongFlagsAreToldAndSecretsAreNot(t *testing.T) {
	for _, args := range [][]string{{"-capacity", "many"}, {"-nonsense"}, {"more"}} {
		written, status := program(&fakeArena{address: "127.0.0.1:1"}, args...)
		exits(t, status, 2)
		if !strings.Contains(written.String(), "usage: my-bot [flags]") || strings.Contains(written.String(), "the-token") {
			t.Errorf("%q", written)
		}
	}
	written, status := program(&fakeArena{}, "-help")
	exits(t, status, 0)
	if !strings.Contains(written.String(), "$FRITILLARY_TOKEN") {
		t.Errorf("%q", written)
	}
}

func TestTheFirstSignalDrainsTheSecondLeaves(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		arena := newArena(t)
		_, status := program(arena)
		session, _ := arena.welcomed(t)
		session.send(offer("m"))
		expect[*pb.BotMessage_Accept](session)
		expect[*pb.BotMessage_Ready](session)
		interrupt(t, signal)
		if capacity := expect[*pb.BotMessage_Capacity](session).Capacity; capacity.GetMatches() != 0 {
			t.Errorf("%v: %v", signal, capacity)
		}
		session.nothing()
		interrupt(t, signal)
		expect[*pb.BotMessage_Goodbye](session)
		session.closed()
		exits(t, status, 1)
	}
}

func TestASignalEndsABotThatPlaysNoMatch(t *testing.T) {
	arena := newArena(t)
	_, status := program(arena)
	session, _ := arena.welcomed(t)
	session.send(&pb.ServerMessage{Message: &pb.ServerMessage_Ping{Ping: &pb.Ping{Id: 1}}})
	expect[*pb.BotMessage_Pong](session)
	interrupt(t, syscall.SIGTERM)
	expect[*pb.BotMessage_Capacity](session)
	expect[*pb.BotMessage_Goodbye](session)
	session.closed()
	exits(t, status, 0)
}

func interrupt(t *testing.T, signal os.Signal) {
	t.Helper()
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Signal(signal)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestRunCountsTheMatches(t *testing.T) {
	if _, err := Run(context.Background(), Func(first), Config{}); CodeOf(err) != "usage.address" {
		t.Error(err)
	}
}

func TestTextFromElsewhereIsShownInOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb\x1b[31mc": "a\ufffdb\ufffd[31mc",
		"蝶 é":           "蝶 é",
		"\xff":          "\ufffd",
	} {
		if got := shown(text); got != want {
			t.Errorf("%q", got)
		}
	}
	if long := shown(strings.Repeat("é", 400)); long != strings.Repeat("é", 300)+"..." {
		t.Errorf("%q", long)
	}
	if cut("aé", 2) != "a" || cut("aé", 3) != "aé" || cut("\xff", 9) != "\ufffd" {
		t.Error("cut in the midst of a character")
	}
}
