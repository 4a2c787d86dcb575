// Package fritillary connects bots written in Go to an arena of board games.
//
// The shortest bot there is:
//
//	package main
//
//	import (
//		"context"
//
//		"fritillary.example/clients/go"
//	)
//
//	func decide(_ context.Context, ask *fritillary.Ask) (fritillary.Decision, error) {
//		return fritillary.Choose(ask.Legal[ask.Rand().IntN(len(ask.Legal))]), nil
//	}
//
//	func main() {
//		fritillary.Main(fritillary.Func(decide), fritillary.Config{})
//	}
//
// [Main] reads flags and the environment, plays, and ends the program; [Run] does the
// same inside of a larger program, and a [Client] can be told to drain or to stop.
//
// A bot is asked, by [Bot.Decide], and answers with a [Decision]. It may have any of the
// methods of [Starter], [Ender] and [Considerer] besides. The client keeps the bot
// connected: it dials in again when the link was lost and goes on with all matches.
//
// Errors are of type [*Error] and carry the stable dotted codes of the server.
package fritillary

// Version of this client.
const Version = "0.1.0"
