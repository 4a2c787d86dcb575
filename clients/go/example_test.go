package fritillary_test

import (
	"context"
	"errors"
	"fmt"

	"fritillary.example/clients/go"
)

// A bot that plays any game at random: the same match gives the same play again, since
// the generator is seeded by the referee.
func ExampleRun() {
	address, stop := fritillary.ArenaForExamples()
	defer stop()

	decide := func(_ context.Context, ask *fritillary.Ask) (fritillary.Decision, error) {
		return fritillary.Choose(ask.Legal[ask.Rand().IntN(len(ask.Legal))]), nil
	}
	played, err := fritillary.Run(context.Background(), fritillary.Func(decide), fritillary.Config{
		Address: address,
		Token:   "TOKEN",
		Matches: 1,
	})
	fmt.Println(played, err)
	// Output: 1 <nil>
}

// taker is a bot with all methods that a bot can have.
type taker struct {
	heaps []int
}

func (t *taker) Offered(_ context.Context, info *fritillary.MatchInfo) error {
	if info.Seats != 2 {
		return fritillary.Decline("taker.seats", "I play with two seats only.")
	}
	return nil
}

func (t *taker) Start(_ context.Context, info *fritillary.MatchInfo) error {
	var options struct {
		Heaps []int `json:"heaps"`
	}
	err := info.Options.Decode(&options)
	t.heaps = options.Heaps
	return err
}

func (t *taker) Decide(_ context.Context, ask *fritillary.Ask) (fritillary.Decision, error) {
	var seen struct {
		Heaps []int `json:"heaps"`
	}
	if err := ask.Observation.Decode(&seen); err != nil {
		return fritillary.Decision{}, err
	}
	fmt.Printf("began with %v, now %v\n", t.heaps, seen.Heaps)
	for _, action := range ask.Legal {
		if action.Text == "right" {
			return fritillary.Choose(action), nil
		}
	}
	return fritillary.Index(ask.Legal[0].Index), nil
}

func (t *taker) End(outcome fritillary.Outcome) {
	place, _ := outcome.Place()
	fmt.Printf("%s, place %d\n", outcome.Kind, place)
}

// A bot that remembers: each seat of each match has one of its own.
func ExampleFactory() {
	address, stop := fritillary.ArenaForExamples()
	defer stop()

	client, err := fritillary.NewClient(
		func() fritillary.Bot { return &taker{} },
		fritillary.Config{
			Address: address,
			Token:   "TOKEN",
			Games:   fritillary.Games("nim+long"),
			Matches: 1,
		},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(client.Run(context.Background()))
	// Output:
	// began with [3 4], now [2 300]
	// played, place 1
	// <nil>
}

func ExamplePayload_Decode() {
	observation := fritillary.NewPayload([]byte(`{"hand": [0, 2], "marker": null}`), fritillary.JSON)
	var seen struct {
		Hand   []int   `json:"hand"`
		Marker *string `json:"marker"`
	}
	err := observation.Decode(&seen)
	fmt.Println(seen.Hand, seen.Marker == nil, err)
	// Output: [0 2] true <nil>
}

func ExamplePayload_Value() {
	observation := fritillary.NewPayload([]byte{0x81, 0xA4, 'h', 'a', 'n', 'd', 0x92, 0, 2}, fritillary.MessagePack)
	value, err := observation.Value()
	fmt.Println(value, observation, err)
	// Output: map[hand:[0 2]] {"hand":[0,2]} <nil>
}

func ExampleGames() {
	for _, game := range fritillary.Games("lost-cities", "lepidoptery+no-pass") {
		fmt.Println(game.Game, game.Variants)
	}
	// Output:
	// lost-cities []
	// lepidoptery [no-pass]
}

func ExampleCodeOf() {
	_, err := fritillary.NewClient(fritillary.Func(nil), fritillary.Config{Address: "nowhere", Token: "t"})
	fmt.Println(fritillary.CodeOf(err), errors.Is(err, fritillary.ErrUsage))
	// Output: usage.address true
}
