// Uniform plays any game: it picks each legal action with equal probability.
//
// Start it by hand, or let a server start it as the player `exec:./bin/uniform`, which
// sets the two variables that stand in for the flags:
//
//	go run ./examples/uniform -address HOST:PORT -token TOKEN
//	FRITILLARY_ADDRESS=HOST:PORT FRITILLARY_TOKEN=TOKEN go run ./examples/uniform
//
// Copy it and write a better decide. What an ask holds besides: ask.Observation (all that
// the seat may know), ask.Clock (time left), ask.Events (what has happened since the last
// ask) and ask.Info (game, options, seats, players).
package main

import (
	"context"

	"fritillary.example/clients/go"
)

func main() {
	fritillary.Main(fritillary.Func(decide), fritillary.Config{Name: "uniform", Version: "1"})
}

// decide returns one of the legal actions. The generator is seeded by the referee: the
// same match gives the same play again.
func decide(_ context.Context, ask *fritillary.Ask) (fritillary.Decision, error) {
	return fritillary.Choose(ask.Legal[ask.Rand().IntN(len(ask.Legal))]), nil
}
