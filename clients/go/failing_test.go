package fritillary

import (
	"context"
	"errors"
	"strings"
	"testing"

	pb "fritillary.example/clients/go/api/v1"
)

func TestABotThatFailsStopsTheClientAndTheServerIsTold(t *testing.T) {
	boom := errors.New("boom")
	type decide = func(context.Context, *Ask) (Decision, error)
	for name, failing := range map[string]struct {
		decide decide
		code   string
		says   string
	}{
		"an error":       {func(context.Context, *Ask) (Decision, error) { return Decision{}, boom }, "bot.failed", "Decide returned an error: boom"},
		"a panic":        {func(context.Context, *Ask) (Decision, error) { panic("boom") }, "bot.failed", "Decide panicked: boom"},
		"no decision":    {func(context.Context, *Ask) (Decision, error) { return Decision{}, nil }, "bot.answer", "Decide returned no decision"},
		"below 0":        {func(context.Context, *Ask) (Decision, error) { return Index(-1), nil }, "bot.answer", "index -1"},
		"no text":        {func(context.Context, *Ask) (Decision, error) { return Text("\xff"), nil }, "bot.answer", "not UTF-8"},
		"no action":      {func(context.Context, *Ask) (Decision, error) { return Action(func() {}), nil }, "bot.answer", "cannot be sent"},
		"a large action": {func(context.Context, *Ask) (Decision, error) { return Text(strings.Repeat("a", 5000)), nil }, "bot.answer", "more than 4096 bytes"},
		"wrong probabilities": {func(context.Context, *Ask) (Decision, error) {
			return Decision{Probabilities: []float64{1}, choice: indexChoice(0)}, nil
		}, "bot.answer", "1 probabilities for 2"},
	} {
		t.Run(name, func(t *testing.T) {
			client, _, session := seated(t, Func(failing.decide), Config{})
			session.send(ask("m", 1))
			told := "the bot failed: what it answered is no decision"
			if failing.code == "bot.failed" {
				told = "the bot failed: " + strings.TrimSuffix(failing.says, ": boom")
			}
			if bye := expect[*pb.BotMessage_Goodbye](session).Goodbye; bye.GetCode() != "bot.failed" || bye.GetMessage() != told {
				t.Errorf("%v", bye)
			}
			session.closed()
			err := client.result()
			if !errors.Is(err, ErrBot) || CodeOf(err) != failing.code || !strings.Contains(err.Error(), failing.says) {
				t.Errorf("%v", err)
			}
			if name == "an error" && !errors.Is(err, boom) {
				t.Error("the cause is lost")
			}
		})
	}
}

func TestAnActionThatHoldsItselfIsNoDecision(t *testing.T) {
	self := map[string]any{}
	self["x"] = self
	list := []any{nil}
	list[0] = list
	typed := map[string][]map[string]any{"x": {self}}
	for name, action := range map[string]any{"map": self, "list": list, "other types": typed} {
		for _, encoding := range []Encoding{MessagePack, JSON} {
			_, err := answer(Action(action), &pb.DecisionRequest{}, encoding, &pb.Limits{}, 0)
			if !errors.Is(err, ErrBot) || CodeOf(err) != "bot.answer" || !strings.Contains(err.Error(), "cannot be sent") {
				t.Errorf("%s, %s: %v", name, encoding, err)
			}
		}
	}
}

func TestABotThatFailsMayResignAndPlayOn(t *testing.T) {
	decide := func(_ context.Context, ask *Ask) (Decision, error) {
		if ask.DecisionID == 1 {
			panic("boom")
		}
		return Choose(ask.Legal[0]), nil
	}
	_, _, session := seated(t, Func(decide), Config{OnError: ResignOnError})
	session.send(ask("m", 1))
	if resign := expect[*pb.BotMessage_Resign](session).Resign; resign.GetDecisionId() != 1 {
		t.Errorf("%v", resign)
	}
	session.send(ask("m", 2))
	expect[*pb.BotMessage_Decision](session)
}

type failing struct {
	witness
	in string
}

func (f *failing) Offered(context.Context, *MatchInfo) error { return f.fail("Offered") }
func (f *failing) Start(context.Context, *MatchInfo) error   { return f.fail("Start") }
func (f *failing) End(Outcome)                               { _ = f.fail("End") }

func (f *failing) fail(method string) error {
	if f.in == method {
		panic("boom")
	}
	return nil
}

func TestABotThatPanicsWhenItPreparesStopsTheClient(t *testing.T) {
	for _, in := range []string{"Offered", "Start", "Factory", "nothing"} {
		arena := newArena(t)
		client := start(t, arena, func() Bot {
			switch in {
			case "Factory":
				panic("boom")
			case "nothing":
				return nil
			}
			return &failing{in: in}
		}, Config{})
		session, _ := arena.welcomed(t)
		session.send(offer("m"))
		if in == "Start" {
			expect[*pb.BotMessage_Accept](session)
		}
		expect[*pb.BotMessage_Goodbye](session)
		session.closed()
		if err := client.result(); !errors.Is(err, ErrBot) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func TestABotThatPanicsAtTheEndHurtsNobody(t *testing.T) {
	client, _, session := seated(t, Shared(&failing{in: "End"}), Config{})
	client.Drain()
	expect[*pb.BotMessage_Capacity](session)
	session.send(ended("m"))
	expect[*pb.BotMessage_Ack](session)
	expect[*pb.BotMessage_Goodbye](session)
	session.closed()
	if err := client.result(); err != nil {
		t.Error(err)
	}
}
