package fritillary

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	pb "fritillary.example/clients/go/api/v1"
)

const (
	// Back-off after a lost link: the first wait and the longest. Each is cut by a random
	// part of up to one half.
	firstWait   = 200 * time.Millisecond
	longestWait = 10 * time.Second

	// goodLink: a link that held for so long was a good one; back-off begins anew.
	goodLink = 5 * time.Second

	// endWithin is how long a bot may take to hear the end of its last match before the
	// client leaves.
	endWithin = 5 * time.Second
	// abandonWithin is how long a bot may take to notice that nobody listens any more.
	abandonWithin = time.Second
)

// A Client keeps a bot connected to a server, and plays its matches. It runs once.
type Client struct {
	setup *setup
	bot   Factory

	tables tables
	// left is closed when this side leaves.
	left chan struct{}

	mutex     sync.Mutex
	encoding  Encoding
	limits    *pb.Limits
	seats     map[seatKey]*seat
	ending    map[*seat]bool
	owing     map[*seat]bool
	link      *link
	session   string
	botName   string
	goodbye   *Problem
	said      int
	ended     int
	abandoned int
	draining  bool
	farewell  bool
	leaving   bool
	failure   error
	welcomed  time.Time
}

type seatKey struct {
	matchID string
	seat    uint32
}

// NewClient returns a client that is not yet connected. What is wrong with the Config is
// an error of kind [ErrUsage].
func NewClient(bot Factory, config Config) (*Client, error) {
	setup, err := config.resolve(bot)
	if err != nil {
		return nil, err
	}
	return &Client{
		setup:    setup,
		bot:      bot,
		left:     make(chan struct{}),
		encoding: setup.Encoding,
		seats:    map[seatKey]*seat{},
		ending:   map[*seat]bool{},
		owing:    map[*seat]bool{},
	}, nil
}

// Run connects, plays and reconnects until there is a reason to stop: [Config.Matches]
// were played, [Client.Drain] or [Client.Stop] was called, the context has ended, or the
// server said goodbye without asking to come back.
//
// Its error is of kind [ErrLink] (no server, or the link was lost for too long),
// [ErrRefused], [ErrProtocol], [ErrBot], or [ErrUnfinished] if matches were left, also to
// another program with the same token.
func (c *Client) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, c.Stop)
	defer stop()
	err := c.stayConnected()
	c.abandon()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	switch {
	case c.failure != nil:
		return c.failure
	case err != nil:
		return err
	case c.abandoned > 0:
		what := "1 match"
		if c.abandoned > 1 {
			what = fmt.Sprintf("%d matches", c.abandoned)
		}
		return newError(ErrUnfinished, "bot.unfinished", "left %s unfinished", what)
	}
	return nil
}

// Drain takes no new matches, and leaves when those in play have ended.
func (c *Client) Drain() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !c.draining {
		c.draining = true
		c.sayCapacity()
		c.leaveWhenDone()
	}
}

// Stop leaves at once; matches in play count as a lost link.
func (c *Client) Stop() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.leave("bot.stopping", "the bot was stopped")
}

// Ended returns how many matches have ended.
func (c *Client) Ended() int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.ended
}

// BotName returns the name under which the server knows the bot; empty before it is
// connected.
func (c *Client) BotName() string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.botName
}

// Goodbye returns why the server has sent the bot away; nil if it has not.
func (c *Client) Goodbye() *Problem {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.goodbye
}

// -------------------------------------------------------------------- staying there

func (c *Client) stayConnected() error {
	first, tries := true, 0
	var since time.Time
	for !c.hasLeft() {
		goodbye, err := c.oneLink()
		var asked time.Duration
		welcomed := c.welcomedAt()
		switch {
		case err != nil && !errors.Is(err, ErrLink) && !errors.Is(err, ErrRefused):
			return err
		case err != nil:
			told := asError(err)
			now := time.Now()
			if !welcomed.IsZero() {
				first, since = false, now
				if now.Sub(welcomed) > goodLink {
					tries = 0
				}
			} else if since.IsZero() {
				since = now
			}
			if c.hasLeft() {
				return nil
			}
			if errors.Is(err, ErrRefused) && !told.Retry {
				if c.forgetSession(told) {
					continue
				}
				return err
			}
			asked = told.RetryAfter
			patience := c.setup.GiveUpAfter
			if first {
				patience = c.setup.Wait
			}
			if spent := now.Sub(since); spent >= patience {
				return givenUp(told, spent)
			}
			c.setup.Logger.Warn(told.Message + "; trying again")
			if !welcomed.IsZero() {
				c.lost(told)
			}
		case goodbye == nil:
			return nil
		default:
			told := &Error{Code: shown(goodbye.GetCode()), Message: shown(goodbye.GetMessage()), kind: ErrLink}
			c.setup.Logger.Info("the server says goodbye: " + told.Error())
			if goodbye.ReconnectAfterMs == nil {
				c.mutex.Lock()
				c.goodbye = &Problem{Code: told.Code, Message: told.Message}
				c.mutex.Unlock()
				if isBlame(told.Code) {
					told.kind = ErrRefused
					return told
				}
				return nil
			}
			first, since, tries = false, time.Now(), 0
			asked = milliseconds(goodbye.GetReconnectAfterMs())
			c.lost(told)
		}
		c.pause(tries, asked)
		tries++
	}
	return nil
}

// isBlame tells whether a Goodbye says that the bot did something wrong.
func isBlame(code string) bool {
	return strings.HasPrefix(code, "auth.") || strings.HasPrefix(code, "limit.")
}

func givenUp(err *Error, spent time.Duration) error {
	if spent < time.Second {
		return err
	}
	more := *err
	more.Message = fmt.Sprintf("%s; gave up after %.0f s", err.Message, spent.Seconds())
	return &more
}

func (c *Client) lost(err *Error) {
	if c.setup.OnLost != nil {
		c.setup.OnLost(err)
	}
}

func (c *Client) oneLink() (*pb.Goodbye, error) {
	link := newLink(c.setup.endpoint, c.onWelcome, c.onMessage)
	c.mutex.Lock()
	if c.leaving {
		c.mutex.Unlock()
		return nil, nil
	}
	c.link = link
	c.welcomed = time.Time{}
	hello := c.hello()
	c.mutex.Unlock()
	defer func() {
		c.mutex.Lock()
		c.link = nil
		c.mutex.Unlock()
	}()
	return link.run(hello)
}

func (c *Client) welcomedAt() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.welcomed
}

func (c *Client) hasLeft() bool {
	select {
	case <-c.left:
		return true
	default:
		return false
	}
}

func (c *Client) pause(tries int, asked time.Duration) {
	timer := time.NewTimer(backOff(tries, asked, rand.Float64))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.left:
	}
}

// backOff returns how long to wait before the next try. What the server asks for is the
// least; the rest spreads those who come.
func backOff(tries int, asked time.Duration, random func() float64) time.Duration {
	wait := min(firstWait<<min(tries, 10), longestWait)
	wait = time.Duration(float64(wait) * (0.5 + random()/2))
	return wait + time.Duration(float64(asked)*(1+random()/2))
}

// forgetSession begins a new session if the server refuses to resume the old one.
func (c *Client) forgetSession(err *Error) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.session == "" || !strings.HasPrefix(err.Code, "session.") {
		return false
	}
	c.setup.Logger.Warn(err.Error() + "; beginning a new session")
	c.session = ""
	c.loseSeats()
	return true
}

func (c *Client) hello() *pb.Hello {
	c.said = c.wantedCapacity()
	hello := &pb.Hello{
		Bot:          c.setup.info,
		Games:        c.setup.games,
		Encoding:     c.setup.Encoding.wire(),
		LegalForm:    c.setup.legalForm(),
		Capacity:     proto.Uint32(uint32(c.said)),
		SessionToken: c.session,
	}
	if c.session != "" {
		for _, seat := range c.seats {
			hello.Acks = append(hello.Acks, seat.ack(false))
		}
	}
	return hello
}

// -------------------------------------------------------------------- what seats need

// send sends a message if there is a link; else the seats send it after the next.
func (c *Client) send(message *pb.BotMessage) {
	if c.link != nil && c.link.isOpen() {
		c.link.send(message)
	}
}

// owe notes whether a seat owes an answer: what others send may wait for it.
func (c *Client) owe(seat *seat) {
	if c.count(seat) && c.link != nil {
		c.link.expect(len(c.owing))
	}
}

// answer sends the answer of a seat, as send does.
func (c *Client) answer(seat *seat, message *pb.BotMessage) {
	c.count(seat)
	if c.link != nil && c.link.isOpen() {
		c.link.answer(message, len(c.owing))
	}
}

// count counts a seat among those that owe an answer, or not; it tells whether that is new.
func (c *Client) count(seat *seat) bool {
	owes := seat.owes()
	if owes == c.owing[seat] {
		return false
	}
	if owes {
		c.owing[seat] = true
	} else {
		delete(c.owing, seat)
	}
	return true
}

// table returns the action table of an offer, nil where none is needed.
func (c *Client) table(ctx context.Context, offer *pb.MatchOffer) (*table, error) {
	if c.setup.Legal != LegalPacked || offer.GetTable() == nil {
		return nil, nil
	}
	c.mutex.Lock()
	encoding := c.encoding
	c.mutex.Unlock()
	return c.tables.get(ctx, offer, encoding, func(
		ctx context.Context, request *pb.ListActionsRequest,
	) (*pb.ListActionsResponse, error) {
		c.mutex.Lock()
		link := c.link
		c.mutex.Unlock()
		if link == nil || !link.isOpen() {
			return nil, newError(ErrLink, "link.lost", "the link was lost while an action table was fetched")
		}
		return link.listActions(ctx, request)
	})
}

// drop forgets a seat that was not taken.
func (c *Client) drop(seat *seat) {
	if c.seats[seat.key] == seat {
		delete(c.seats, seat.key)
		c.sayCapacity()
		c.leaveWhenDone()
	}
}

// fail stops because of an error; the server is told if it is the bot's.
func (c *Client) fail(err error) {
	if c.failure != nil || c.leaving {
		return
	}
	c.failure = err
	if errors.Is(err, ErrBot) {
		c.leave("bot.failed", howItFailed(err))
	} else {
		c.leave("bot.stopping", "the client stops because of an error")
	}
}
