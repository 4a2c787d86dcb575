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
	}, nil
}

// Run connects, plays and reconnects until there is a reason to stop: [Config.Matches]
// were played, [Client.Drain] or [Client.Stop] was called, the context has ended, or the
// server said goodbye without asking to come back.
//
// Its error is of kind [ErrLink] (no server, or the link was lost for too long),
// [ErrRefused], [ErrProtocol], [ErrBot], or [ErrUnfinished] if matches were left.
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
		return newError(ErrUnfinished, "bot.unfinished", "left %d matches unfinished", c.abandoned)
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
			c.lost(told)
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

// -------------------------------------------------------------- what the server says

func (c *Client) onWelcome(welcome *pb.Welcome) error {
	encoding, err := encodingOf(welcome.GetEncoding())
	if err != nil {
		return err
	}
	c.mutex.Lock()
	again := c.session != ""
	c.welcomed = time.Now()
	c.session = welcome.GetSessionToken()
	c.botName = welcome.GetBotName()
	c.limits = welcome.GetLimits()
	c.encoding = encoding
	if again && !welcome.GetResumed() {
		c.loseSeats()
	}
	c.mutex.Unlock()
	how := "connected to"
	if again {
		how = "back at"
	}
	c.setup.Logger.Info(fmt.Sprintf("%s %s as %s (server %s)", how, c.setup.endpoint.address,
		shown(welcome.GetBotName()), shown(welcome.GetServerVersion())))
	if c.setup.OnConnect != nil {
		c.setup.OnConnect(Session{
			Bot:     welcome.GetBotName(),
			Resumed: welcome.GetResumed(),
			Server:  welcome.GetServerVersion(),
		})
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.sayCapacity()
	c.leaveWhenDone()
	return nil
}

func (c *Client) onMessage(message *pb.ServerMessage) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.leaving {
		return nil
	}
	switch body := message.GetMessage().(type) {
	case *pb.ServerMessage_DecisionRequest:
		request := body.DecisionRequest
		if seat := c.seats[seatKey{request.GetMatchId(), request.GetSeat()}]; seat != nil {
			seat.asked(request)
		}
	case *pb.ServerMessage_Event:
		event := body.Event
		if seat := c.seats[seatKey{event.GetMatchId(), event.GetSeat()}]; seat != nil {
			seat.happened(event)
		}
	case *pb.ServerMessage_DecisionClosed:
		closed := body.DecisionClosed
		if seat := c.seats[seatKey{closed.GetMatchId(), closed.GetSeat()}]; seat != nil {
			seat.closed(closed)
		}
	case *pb.ServerMessage_MatchStatus:
		status := body.MatchStatus
		if seat := c.seats[seatKey{status.GetMatchId(), status.GetSeat()}]; seat != nil {
			seat.status(status)
		}
	case *pb.ServerMessage_MatchOffer:
		return c.onOffer(body.MatchOffer)
	case *pb.ServerMessage_MatchEnded:
		c.onEnded(body.MatchEnded)
	case *pb.ServerMessage_Error:
		c.onError(body.Error)
	}
	return nil
}

func (c *Client) onOffer(offer *pb.MatchOffer) error {
	key := seatKey{offer.GetMatchId(), offer.GetSeat()}
	if known := c.seats[key]; known != nil {
		known.offeredAgain()
		return nil
	}
	info, err := matchInfo(offer, c.encoding)
	if err != nil {
		return err
	}
	c.seats[key] = newSeat(c, offer, info)
	c.sayCapacity()
	return nil
}

func (c *Client) onEnded(ended *pb.MatchEnded) {
	seat := c.seats[seatKey{ended.GetMatchId(), ended.GetSeat()}]
	if seat == nil {
		// Our Ack was lost, or the seat was never taken.
		c.send(&pb.BotMessage{Message: &pb.BotMessage_Ack{Ack: &pb.Ack{
			MatchId: ended.GetMatchId(), Seat: proto.Uint32(ended.GetSeat()), Ended: true,
		}}})
		return
	}
	c.send(&pb.BotMessage{Message: &pb.BotMessage_Ack{Ack: seat.ack(true)}})
	outcome := outcomeOf(ended.GetResult(), int(ended.GetSeat()))
	outcome.Deal = sealedBy(seat.offer, seat.info.Options, seat.nonce).check(ended.GetResult().GetReveal())
	c.end(seat, outcome)
}

func (c *Client) end(seat *seat, outcome Outcome) {
	delete(c.seats, seat.key)
	c.ending[seat] = true
	seat.end(outcome)
	if !c.playing()[seat.key.matchID] {
		c.ended++
	}
	c.setup.Logger.Info(report(seat.info, outcome))
	c.sayCapacity()
	c.leaveWhenDone()
}

func report(info *MatchInfo, outcome Outcome) string {
	line := fmt.Sprintf("match %s, %s, seat %d: %s", info.MatchID, info.FullID, info.Seat, outcome.Kind)
	if place, counts := outcome.Place(); counts {
		line += fmt.Sprintf(", place %d of %d, %s", place, info.Seats, outcome.Reason)
	}
	if outcome.Code != "" {
		line += fmt.Sprintf(": %s [%s]", outcome.Message, outcome.Code)
	}
	if outcome.Deal == DealBroken {
		line += "; the deal is not the one that was promised"
	}
	return shown(line)
}

// loseSeats ends the matches that the server does not know any more.
func (c *Client) loseSeats() {
	for _, seat := range c.seats {
		c.end(seat, Outcome{
			Seat: seat.info.Seat, Kind: EndUnknown, Code: "link.lost", Deal: DealNotRevealed,
			Message: "the server does not know the match any more",
		})
	}
}

func (c *Client) onError(notice *pb.ErrorNotice) {
	code := notice.GetError().GetCode()
	if code == "decision.stale" || code == "decision.unknown" {
		// The answer came too late; how the decision was closed is told anyway.
		return
	}
	about := ""
	if notice.GetMatchId() != "" {
		about = " about match " + shown(notice.GetMatchId())
	}
	c.setup.Logger.Warn(fmt.Sprintf("the server could not use a message%s: %s [%s]",
		about, shown(notice.GetError().GetMessage()), shown(code)))
	if code != "match.unknown" {
		return
	}
	for key, seat := range c.seats {
		if key.matchID == notice.GetMatchId() {
			c.end(seat, Outcome{
				Seat: seat.info.Seat, Kind: EndUnknown, Code: code, Deal: DealNotRevealed,
				Message: notice.GetError().GetMessage(),
			})
		}
	}
}

// -------------------------------------------------------------------- what seats need

// send sends a message if there is a link; else the seats send it after the next.
func (c *Client) send(message *pb.BotMessage) {
	if c.link != nil && c.link.isOpen() {
		c.link.send(message)
	}
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
		c.leave("bot.failed", "the bot failed and has been stopped")
	} else {
		c.leave("bot.stopping", "the client stops because of an error")
	}
}

// ---------------------------------------------------------------------------- leaving

// playing returns the matches in play.
func (c *Client) playing() map[string]bool {
	playing := map[string]bool{}
	for key := range c.seats {
		playing[key.matchID] = true
	}
	return playing
}

func (c *Client) wantedCapacity() int {
	if c.draining {
		return 0
	}
	if c.setup.Matches == 0 {
		return c.setup.Capacity
	}
	playing := len(c.playing())
	more := c.setup.Matches - c.ended - playing
	if more <= 0 {
		return 0
	}
	return min(c.setup.Capacity, playing+more)
}

func (c *Client) sayCapacity() {
	wanted := c.wantedCapacity()
	if wanted != c.said && c.link != nil && c.link.isOpen() {
		c.said = wanted
		c.send(&pb.BotMessage{Message: &pb.BotMessage_Capacity{
			Capacity: &pb.Capacity{Matches: uint32(wanted)},
		}})
	}
}

func (c *Client) leaveWhenDone() {
	done := c.draining || c.setup.Matches > 0 && c.ended >= c.setup.Matches
	if !done || len(c.seats) > 0 || c.farewell {
		return
	}
	c.farewell = true
	var ending []*seat
	for seat := range c.ending {
		ending = append(ending, seat)
	}
	go func() {
		waitFor(ending, endWithin)
		c.mutex.Lock()
		defer c.mutex.Unlock()
		if len(c.seats) > 0 {
			// A match was offered meanwhile; it is played like any other.
			c.farewell = false
		} else {
			c.leave("bot.stopping", "the bot has played its matches")
		}
	}()
}

// waitFor waits until seats are done, at most for so long.
func waitFor(seats []*seat, most time.Duration) {
	deadline := time.NewTimer(most)
	defer deadline.Stop()
	for _, seat := range seats {
		select {
		case <-seat.done:
		case <-deadline.C:
			return
		}
	}
}

func (c *Client) leave(code, message string) {
	if c.leaving {
		return
	}
	c.leaving = true
	close(c.left)
	if c.link != nil {
		c.link.leave(code, message)
	}
}

// abandon stops all seats at once; their bots are not told.
func (c *Client) abandon() {
	c.mutex.Lock()
	if !c.leaving {
		c.leaving = true
		close(c.left)
	}
	// Those that the server sends away, it knows about.
	if c.goodbye == nil {
		c.abandoned = len(c.playing())
	}
	var seats []*seat
	for _, seat := range c.seats {
		seats = append(seats, seat)
	}
	for seat := range c.ending {
		seats = append(seats, seat)
	}
	for _, seat := range seats {
		seat.abandon()
	}
	c.mutex.Unlock()
	waitFor(seats, abandonWithin)
}
