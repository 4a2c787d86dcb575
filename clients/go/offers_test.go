package fritillary

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	pb "fritillary.example/clients/go/api/v1"
)

func TestATableThatIsNotTheOneOfTheOfferDeclinesTheSeat(t *testing.T) {
	for name, change := range map[string]func(*fakeArena){
		"another hash":    func(arena *fakeArena) { arena.hash = []byte("another") },
		"a missing entry": func(arena *fakeArena) { arena.actions = arena.actions[:2] },
		"a wrong index":   func(arena *fakeArena) { arena.actions[1].Index = 7 },
	} {
		t.Run(name, func(t *testing.T) {
			arena := newArena(t, change)
			start(t, arena, Func(first), Config{})
			session, _ := arena.welcomed(t)
			session.send(offer("m"))
			if decline := expect[*pb.BotMessage_Decline](session).Decline; decline.GetCode() != "game.other-table" {
				t.Errorf("%v", decline)
			}
		})
	}
}

func TestABotMayDecline(t *testing.T) {
	bot := newWitness()
	bot.offered = func(*MatchInfo) error {
		return fmt.Errorf("wrapped: %w", Decline("taste.bad", strings.Repeat("ä", 600)))
	}
	arena := newArena(t)
	start(t, arena, Shared(bot), Config{})
	session, _ := arena.welcomed(t)
	session.send(offer("m"))
	decline := expect[*pb.BotMessage_Decline](session).Decline
	if decline.GetCode() != "taste.bad" || decline.GetMessage() != strings.Repeat("ä", 500) {
		t.Errorf("%v", decline)
	}
	// It goes on with others.
	bot.offered = nil
	session.send(offer("n"))
	expect[*pb.BotMessage_Accept](session)
}

func TestOnlyWhatWasAnnouncedIsPlayed(t *testing.T) {
	somewhat := func(versions ...int) []GameSupport {
		return []GameSupport{{Game: "nim", RulesVersions: versions, AnyVariant: true}}
	}
	for _, test := range []struct {
		announced []GameSupport
		fullID    string
		covered   bool
	}{
		{nil, "nim+long", true},
		{Games("nim"), "nim", true},
		{Games("nim"), "go", false},
		{Games("go", "nim"), "nim", true},
		{Games("nim"), "nim+long", false},
		{Games("nim+long"), "nim", true},
		{Games("nim+long"), "nim+long", true},
		{Games("nim+long"), "nim+long+short", false},
		{somewhat(), "nim+long", true},
		{somewhat(1, 3), "nim", true},
		{somewhat(1, 2), "nim", false},
		{Games("somebody:nim"), "nim", true},
		{Games("nim"), "somebody:nim", true},
	} {
		made, err := Config{Address: "localhost:1", Token: "t", Games: test.announced}.resolve(Func(first))
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(test.fullID, "+")
		game := &pb.GameRef{Id: parts[0], RulesVersion: 3}
		for _, variant := range parts[1:] {
			game.Variants = append(game.Variants, &pb.VariantRef{Id: variant, Version: 1})
		}
		err = made.consider(game)
		if test.covered && err != nil || !test.covered && CodeOf(err) != "game.not-announced" {
			t.Errorf("%v, %s: %v", test.announced, test.fullID, err)
		}
	}
}

func TestAGameThatWasNotAnnouncedMakesNoBotAndIsDeclined(t *testing.T) {
	arena := newArena(t)
	made := 0
	start(t, arena, func() Bot { made++; return decideFunc(first) }, Config{Games: Games("nim+long")})
	session, _ := arena.welcomed(t)
	session.send(offer("m", func(offer *pb.MatchOffer) { offer.Game.Id = "go" }))
	decline := expect[*pb.BotMessage_Decline](session).Decline
	if decline.GetCode() != "game.not-announced" || decline.GetMatchId() != "m" || decline.GetSeat() != 1 {
		t.Errorf("%v", decline)
	}
	session.send(offer("n"))
	expect[*pb.BotMessage_Accept](session)
	expect[*pb.BotMessage_Ready](session)
	if made != 1 {
		t.Errorf("%d bots were made", made)
	}
}

func TestANonceIsDrawnWhereItIsWantedAndStaysTheSame(t *testing.T) {
	wanted := func(offer *pb.MatchOffer) { offer.NonceWanted = true }
	arena := newArena(t)
	start(t, arena, Func(first), Config{Capacity: 2})
	session, _ := arena.welcomed(t)
	session.send(offer("m", wanted))
	nonce := expect[*pb.BotMessage_Accept](session).Accept.GetNonce()
	expect[*pb.BotMessage_Ready](session)
	session.send(offer("m", wanted))
	again := expect[*pb.BotMessage_Accept](session).Accept.GetNonce()
	expect[*pb.BotMessage_Ready](session)
	session.send(offer("n", wanted))
	other := expect[*pb.BotMessage_Accept](session).Accept.GetNonce()
	if len(nonce) != 16 || !bytes.Equal(nonce, again) || bytes.Equal(nonce, other) {
		t.Errorf("%x %x %x", nonce, again, other)
	}
}

func TestANonceThatIsTooLongStopsTheClient(t *testing.T) {
	arena := newArena(t)
	nonce := func(*MatchInfo) []byte { return make([]byte, MaxNonceBytes+1) }
	client := start(t, arena, Func(first), Config{Nonce: nonce})
	session, _ := arena.welcomed(t)
	session.send(offer("m", func(offer *pb.MatchOffer) { offer.NonceWanted = true }))
	expect[*pb.BotMessage_Goodbye](session)
	session.closed()
	if err := client.result(); CodeOf(err) != "usage.nonce" {
		t.Error(err)
	}
}

func TestASeatThatIsTakenUpAgainSendsNoNonce(t *testing.T) {
	arena := newArena(t)
	start(t, arena, Func(first), Config{})
	session, _ := arena.welcomed(t)
	session.send(offer("m", func(offer *pb.MatchOffer) { offer.NonceWanted, offer.Resumed = true, true }))
	if nonce := expect[*pb.BotMessage_Accept](session).Accept.GetNonce(); len(nonce) != 0 {
		t.Errorf("%x", nonce)
	}
}
