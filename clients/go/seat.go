package fritillary

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"google.golang.org/protobuf/proto"

	pb "fritillary.example/clients/go/api/v1"
)

const (
	// tableTries is how often a table is asked for before the seat is declined.
	tableTries = 3
	// tablePause lies between the tries.
	tablePause = 200 * time.Millisecond
	// nonceBytes is how long a nonce is that the client draws.
	nonceBytes = 16
)

// A seat is one seat of a match, from the offer to the end. Its bot is called by one
// goroutine; all that changes is guarded by the mutex of the client, which the methods in
// the first half are called with.
type seat struct {
	client *Client
	offer  *pb.MatchOffer
	info   *MatchInfo
	key    seatKey
	// nonce that was sent; nil if that is not known.
	nonce []byte
	// bot and table are the goroutine's alone.
	bot   Bot
	table *table

	ctx    context.Context
	cancel context.CancelFunc
	// bell tells the goroutine that there is something to do.
	bell chan struct{}
	// done is closed when the goroutine has ended.
	done chan struct{}

	news       []*pb.Event
	lastEvent  uint32
	lastClosed *uint64
	accepted   bool
	ready      bool
	// mail holds the requests that the bot has not yet been asked.
	mail []*pb.DecisionRequest
	// request is the one that the bot thinks about.
	request  *pb.DecisionRequest
	ask      *Ask
	giveUp   context.CancelFunc
	answered uint64
	answer   *pb.BotMessage
	outcome  *Outcome
}

func newSeat(client *Client, offer *pb.MatchOffer, info *MatchInfo) *seat {
	s := &seat{
		client: client,
		offer:  offer,
		info:   info,
		key:    seatKey{offer.GetMatchId(), offer.GetSeat()},
		bell:   make(chan struct{}, 1),
		done:   make(chan struct{}),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	go s.play()
	return s
}

// ack returns what has arrived so far.
func (s *seat) ack(ended bool) *pb.Ack {
	return &pb.Ack{
		MatchId:          s.key.matchID,
		Seat:             proto.Uint32(s.key.seat),
		EventNumber:      s.lastEvent,
		ClosedDecisionId: s.lastClosed,
		Ended:            ended,
	}
}

// --------------------------------------------------------------- what the server says

// offeredAgain answers an offer again that was answered before.
func (s *seat) offeredAgain() {
	if s.accepted {
		s.sayAccept()
	}
	if s.ready {
		s.sayReady()
	}
}

// status sends again what the server seems not to have heard.
func (s *seat) status(status *pb.MatchStatus) {
	switch status.GetPhase() {
	case pb.MatchPhase_MATCH_PHASE_OFFERED:
		s.offeredAgain()
	case pb.MatchPhase_MATCH_PHASE_PREPARING:
		if s.ready {
			s.sayReady()
		}
	}
}

// happened keeps an event for the next ask; those sent again are known.
func (s *seat) happened(event *pb.Event) {
	if event.GetNumber() > s.lastEvent {
		s.lastEvent = event.GetNumber()
		s.news = append(s.news, event)
	}
}

// asked takes a request; one that is sent again is answered again.
func (s *seat) asked(request *pb.DecisionRequest) {
	id := request.GetDecisionId()
	if s.answer != nil && s.answered >= id {
		if s.answered == id {
			s.client.send(s.answer)
		}
		return
	}
	newest := s.request
	if len(s.mail) > 0 {
		newest = s.mail[len(s.mail)-1]
	}
	if newest != nil && newest.GetDecisionId() >= id {
		return
	}
	s.mail = append(s.mail, request)
	s.client.owe(s)
	ring(s.bell)
}

// closed tells the bot that its answer is no longer waited for.
func (s *seat) closed(closed *pb.DecisionClosed) {
	id := closed.GetDecisionId()
	if s.lastClosed == nil || *s.lastClosed < id {
		s.lastClosed = proto.Uint64(id)
	}
	for len(s.mail) > 0 && s.mail[0].GetDecisionId() <= id {
		s.mail = s.mail[1:]
	}
	if s.request != nil && s.request.GetDecisionId() <= id {
		s.close()
	}
	s.client.owe(s)
}

// end ends the match; the bot is told as soon as it is back from Decide.
func (s *seat) end(outcome Outcome) {
	s.outcome = &outcome
	s.mail = nil
	s.close()
	s.client.owe(s)
	ring(s.bell)
}

// abandon stops at once; the bot is not told.
func (s *seat) abandon() {
	s.close()
	s.cancel()
}

// owes tells whether the server waits for an answer of the seat.
func (s *seat) owes() bool {
	return len(s.mail) > 0 || s.ask != nil && !s.ask.Closed()
}

func (s *seat) close() {
	if s.ask != nil {
		s.ask.closed.Store(true)
		s.giveUp()
	}
}

func (s *seat) sayAccept() {
	s.client.send(&pb.BotMessage{Message: &pb.BotMessage_Accept{Accept: &pb.Accept{
		MatchId: s.key.matchID, Seat: proto.Uint32(s.key.seat), Nonce: s.nonce,
	}}})
}

func (s *seat) sayReady() {
	s.client.send(&pb.BotMessage{Message: &pb.BotMessage_Ready{Ready: &pb.Ready{
		MatchId: s.key.matchID, Seat: proto.Uint32(s.key.seat),
	}}})
}

// ---------------------------------------------------------------------- what is played

func (s *seat) play() {
	defer func() {
		s.cancel()
		s.client.mutex.Lock()
		delete(s.client.ending, s)
		s.client.mutex.Unlock()
		close(s.done)
	}()
	if s.take() {
		s.answerAll()
	}
}

// take accepts and prepares; it tells whether there is a match to play.
func (s *seat) take() bool {
	err := s.prepare()
	client := s.client
	client.mutex.Lock()
	defer client.mutex.Unlock()
	switch {
	case err == nil:
	case errors.Is(err, ErrLink):
		// The server offers the seat again when the link is back.
		client.drop(s)
		return false
	case errors.Is(err, ErrBot):
		client.fail(s.logged(err))
		return false
	default:
		if !errors.Is(err, ErrDeclined) {
			client.setup.Logger.Error(fmt.Sprintf("match %s is declined: %v", s.key.matchID, err))
		}
		client.send(decline(s.key, asError(err)))
		client.drop(s)
		return false
	}
	s.accepted = true
	s.sayAccept()
	if starter, ok := s.bot.(Starter); ok && s.outcome == nil {
		client.mutex.Unlock()
		err = s.call("Start", func() error { return starter.Start(s.ctx, s.info) })
		client.mutex.Lock()
		if err != nil {
			client.fail(s.logged(err))
			return false
		}
	}
	s.ready = true
	s.sayReady()
	return true
}

// prepare makes the bot, fetches the table, and asks the bot whether it wants the seat.
func (s *seat) prepare() error {
	err := s.call("Factory", func() error {
		if s.bot = s.client.bot(); s.bot == nil {
			return errors.New("there is no bot")
		}
		return nil
	})
	if err == nil {
		err = s.fetchTable()
	}
	if considerer, ok := s.bot.(Considerer); ok && err == nil {
		err = s.call("Offered", func() error { return considerer.Offered(s.ctx, s.info) })
	}
	if err == nil {
		err = s.drawNonce()
	}
	return err
}

func (s *seat) fetchTable() error {
	for try := 1; ; try++ {
		var err error
		s.table, err = s.client.table(s.ctx, s.offer)
		if !errors.Is(err, ErrLink) || try == tableTries {
			return err
		}
		select {
		case <-time.After(tablePause):
		case <-s.ctx.Done():
			return err
		}
	}
}

func (s *seat) drawNonce() error {
	// What is sent for a seat that is taken up again is ignored, and what was sent before
	// may be another process's secret.
	if s.info.Resumed && s.info.NonceWanted {
		return nil
	}
	nonce := []byte{}
	switch {
	case !s.info.NonceWanted:
	case s.client.setup.Nonce != nil:
		err := s.call("Config.Nonce", func() error {
			nonce = append(nonce, s.client.setup.Nonce(s.info)...)
			return nil
		})
		if err != nil {
			return err
		}
		if len(nonce) > MaxNonceBytes {
			return newError(ErrBot, "usage.nonce", "Config.Nonce returned %d bytes, more than %d",
				len(nonce), MaxNonceBytes)
		}
	default:
		nonce = make([]byte, nonceBytes)
		if _, err := rand.Read(nonce); err != nil {
			return fmt.Errorf("no random bytes: %w", err)
		}
	}
	s.client.mutex.Lock()
	s.nonce = nonce
	s.client.mutex.Unlock()
	return nil
}

func (s *seat) answerAll() {
	for {
		select {
		case <-s.bell:
		case <-s.ctx.Done():
			return
		}
		for s.decideNext() {
		}
		s.client.mutex.Lock()
		outcome := s.outcome
		s.client.mutex.Unlock()
		if outcome == nil {
			continue
		}
		if ender, ok := s.bot.(Ender); ok {
			err := s.call("End", func() error { ender.End(*outcome); return nil })
			if err != nil {
				// The match is over: this can hurt nobody any more.
				_ = s.logged(err)
			}
		}
		return
	}
}

// decideNext asks the bot the next question; it tells whether there was one.
func (s *seat) decideNext() bool {
	client := s.client
	client.mutex.Lock()
	defer client.mutex.Unlock()
	if len(s.mail) == 0 || s.ctx.Err() != nil {
		return false
	}
	request := s.mail[0]
	s.mail = s.mail[1:]
	news := s.news
	s.news = nil
	ask, err := newAsk(s.info, request, news, client.encoding, s.table)
	if err != nil {
		client.fail(err)
		return false
	}
	ctx, giveUp := context.WithCancel(s.ctx)
	defer giveUp()
	s.request, s.ask, s.giveUp = request, ask, giveUp
	client.mutex.Unlock()

	started := time.Now()
	var decision Decision
	err = s.call("Decide", func() error {
		var err error
		decision, err = s.bot.Decide(ctx, ask)
		return err
	})

	client.mutex.Lock()
	s.request, s.ask, s.giveUp = nil, nil, nil
	if ask.Closed() {
		client.owe(s)
		if err != nil && ctx.Err() == nil {
			_ = s.logged(err)
		}
		return true
	}
	thought := time.Since(started)
	var message *pb.BotMessage
	if err == nil {
		message, err = answer(decision, request, client.encoding, client.limits, thought)
	}
	if err != nil {
		err = s.logged(err)
		if client.setup.OnError != ResignOnError {
			client.fail(err)
			return false
		}
		client.setup.Logger.Error(fmt.Sprintf("match %s is resigned", s.key.matchID))
		message, _ = answer(Resign(), request, client.encoding, client.limits, thought)
	}
	s.answered, s.answer = request.GetDecisionId(), message
	client.answer(s, message)
	return true
}

// call calls the bot. Whatever it returns is an error of kind [ErrBot], unless it
// declines; so is a panic.
func (s *seat) call(method string, function func() error) (err error) {
	defer rescue(method, &err)
	err = function()
	if err == nil || errors.Is(err, ErrDeclined) && method == "Offered" {
		return err
	}
	return &Error{
		Code:    "bot.failed",
		Message: shown(fmt.Sprintf("%s returned an error: %v", method, err)),
		Err:     err,
		kind:    ErrBot,
		how:     method + " returned an error",
	}
}

// A panicked is what a bot threw, and where.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprint(p.value) }

// rescue turns a panic into an error; to be deferred.
func rescue(method string, err *error) {
	if value := recover(); value != nil {
		cause := &panicked{value: value, stack: debug.Stack()}
		*err = &Error{
			Code:    "bot.failed",
			Message: shown(fmt.Sprintf("%s panicked: %v", method, value)),
			Err:     cause,
			kind:    ErrBot,
			how:     method + " panicked",
		}
	}
}

// logged tells an error of the bot, with the stack if it panicked, and returns it.
func (s *seat) logged(err error) error {
	told := fmt.Sprintf("match %s: %v", s.key.matchID, err)
	var cause *panicked
	if errors.As(err, &cause) {
		told += "\n" + string(cause.stack)
	}
	s.client.setup.Logger.Error(told)
	return err
}

// decline returns the message that refuses a seat, with the code of an error.
func decline(key seatKey, err *Error) *pb.BotMessage {
	return &pb.BotMessage{Message: &pb.BotMessage_Decline{Decline: &pb.Decline{
		MatchId: key.matchID,
		Seat:    proto.Uint32(key.seat),
		Code:    err.Code,
		Message: cutRunes(err.Message, 500),
	}}}
}
