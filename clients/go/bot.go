package fritillary

import "context"

// A Bot decides. It may have the methods of [Considerer], [Starter] and [Ender] besides.
//
// The methods for one seat of a match are called one after the other; those of different
// matches run at the same time. A bot that panics has failed, as one that returns an
// error, see [Config.OnError].
type Bot interface {
	// Decide answers an ask: with one of ask.Legal, its index, its text, its action, or
	// [Resign]. The context ends when nobody waits for the answer any more; what is
	// returned then does not matter.
	Decide(ctx context.Context, ask *Ask) (Decision, error)
}

// A Considerer looks at a match before its seat is taken; the answer is due within
// seconds. It refuses with the error of [Decline].
type Considerer interface {
	Offered(ctx context.Context, info *MatchInfo) error
}

// A Starter prepares itself for a match. It begins when all seats have done so.
type Starter interface {
	Start(ctx context.Context, info *MatchInfo) error
}

// An Ender hears how a match ended.
type Ender interface {
	End(outcome Outcome)
}

// A Factory makes a bot for one seat of one match.
type Factory func() Bot

// Func returns the factory of a bot that is a function. It may be called for several
// matches at the same time.
func Func(decide func(ctx context.Context, ask *Ask) (Decision, error)) Factory {
	return Shared(decideFunc(decide))
}

// Shared returns the factory of one bot for all matches. Where [Config.Capacity] is above
// 1 its methods run at the same time.
func Shared(bot Bot) Factory {
	return func() Bot { return bot }
}

type decideFunc func(ctx context.Context, ask *Ask) (Decision, error)

func (f decideFunc) Decide(ctx context.Context, ask *Ask) (Decision, error) {
	return f(ctx, ask)
}
