package fritillary

import (
	"time"

	pb "fritillary.example/clients/go/api/v1"
)

// replaced is the Goodbye to a bot whose token another program uses.
const replaced = "session.replaced"

// How a client comes to its end. All but waitFor and abandon are called with the mutex.

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
	// Those that the server sends away, it knows about; but not whether the program that has
	// taken their place is one that can play on.
	if c.goodbye == nil || c.goodbye.Code == replaced {
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
