package fritillary

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	pb "fritillary.example/clients/go/api/v1"
)

// What a client does with what the server says. The link calls onWelcome and onMessage;
// the others are called with the mutex.

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
	if err := c.setup.consider(offer.GetGame()); err != nil {
		c.setup.Logger.Warn(fmt.Sprintf("match %s is declined: %v", shown(key.matchID), err))
		c.send(decline(key, asError(err)))
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
