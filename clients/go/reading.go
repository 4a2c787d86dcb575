package fritillary

import (
	"strings"
	"time"

	pb "fritillary.example/clients/go/api/v1"
)

// word returns the word for an enum value, given its name; unknown ones are of a later
// version.
func word(names map[int32]string, prefix string, number int32) string {
	name, known := names[number]
	if !known {
		return "unknown"
	}
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, prefix)), "_", "-")
}

func limit(count *uint32) time.Duration {
	if count == nil {
		return Untimed
	}
	return milliseconds(*count)
}

func clockOf(reading *pb.ClockReading) Clock {
	if reading == nil {
		reading = &pb.ClockReading{}
	}
	return Clock{
		Left:     limit(reading.LeftMs),
		BaseLeft: limit(reading.BaseLeftMs),
		MoveLeft: limit(reading.MoveLeftMs),
		TurnLeft: limit(reading.TurnLeftMs),
		BankLeft: limit(reading.BankLeftMs),
		LinkLeft: limit(reading.LinkLeftMs),
	}
}

func playerOf(seat *pb.SeatInfo) Player {
	clock := seat.GetClock()
	if clock == nil {
		clock = &pb.Clock{}
	}
	return Player{
		Seat:    int(seat.GetSeat()),
		Role:    seat.GetRole(),
		Name:    seat.GetPlayer().GetName(),
		Version: seat.GetPlayer().GetVersion(),
		Author:  seat.GetPlayer().GetAuthor(),
		Clock: ClockSettings{
			Base:        limit(clock.BaseMs),
			Increment:   limit(clock.IncrementMs),
			Move:        limit(clock.MoveMs),
			Bank:        limit(clock.BankMs),
			Turn:        limit(clock.TurnMs),
			Preparation: limit(clock.PreparationMs),
		},
	}
}

// matchInfo returns what an offer tells about a match.
func matchInfo(offer *pb.MatchOffer, encoding Encoding) (*MatchInfo, error) {
	seats := offer.GetSeats()
	if offer.GetMatchId() == "" || int(offer.GetSeat()) >= len(seats) {
		return nil, protocolError("the server offered seat %d of %d in match %q",
			offer.GetSeat(), len(seats), shown(offer.GetMatchId()))
	}
	options := NewPayload(offer.GetOptions(), encoding)
	if options.IsZero() {
		options = NewPayload([]byte{0x80}, MessagePack)
	}
	info := &MatchInfo{
		MatchID:      offer.GetMatchId(),
		Game:         offer.GetGame().GetId(),
		FullID:       fullID(offer.GetGame()),
		RulesVersion: int(offer.GetGame().GetRulesVersion()),
		Seat:         int(offer.GetSeat()),
		Seats:        len(seats),
		Options:      options,
		Seed:         offer.GetBotSeed(),
		TableSize:    int(offer.GetTable().GetSize()),
		TableHash:    offer.GetTable().GetHash(),
		SchemasHash:  offer.GetSchemasHash(),
		Margin:       milliseconds(offer.GetTerms().GetMarginMs()),
		Ceiling:      Untimed,
		NonceWanted:  offer.GetNonceWanted(),
		Resumed:      offer.GetResumed(),
	}
	if terms := offer.GetTerms(); terms != nil {
		info.Ceiling = limit(terms.CeilingMs)
	}
	for _, variant := range offer.GetGame().GetVariants() {
		info.Variants = append(info.Variants,
			Variant{ID: variant.GetId(), Version: int(variant.GetVersion())})
	}
	for _, seat := range seats {
		info.Players = append(info.Players, playerOf(seat))
	}
	return info, nil
}

func fullID(game *pb.GameRef) string {
	id := game.GetId()
	for _, variant := range game.GetVariants() {
		id += "+" + variant.GetId()
	}
	return id
}

func outcomeOf(result *pb.MatchResult, seat int) Outcome {
	outcome := Outcome{
		Seat:    seat,
		Kind:    EndKind(word(pb.MatchEndKind_name, "MATCH_END_KIND_", int32(result.GetKind()))),
		Code:    result.GetCode(),
		Message: result.GetMessage(),
		Reason:  result.GetOutcome().GetReason(),
		Scores:  result.GetOutcome().GetScores(),
		Deal:    DealNotRevealed,
	}
	for _, place := range result.GetOutcome().GetPlacing() {
		outcome.Placing = append(outcome.Placing, int(place))
	}
	return outcome
}

func eventOf(message *pb.Event, encoding Encoding) Event {
	event := Event{
		Number: int(message.GetNumber()),
		Ply:    int(message.GetPly()),
		Kind:   EventUnknown,
		Seat:   None,
		Index:  None,
	}
	switch body := message.GetBody().(type) {
	case *pb.Event_Action:
		acted := body.Action
		event.Kind = EventAction
		event.Seat = int(acted.GetSeat())
		event.Action = NewPayload(acted.GetAction(), encoding)
		event.Text = acted.GetText()
		if acted.Index != nil {
			event.Index = int(acted.GetIndex())
		}
		event.Source = word(pb.ActionSource_name, "ACTION_SOURCE_", int32(acted.GetSource()))
	case *pb.Event_Chance:
		event.Kind = EventChance
		event.Action = NewPayload(body.Chance.GetAction(), encoding)
		event.Text = body.Chance.GetText()
	case *pb.Event_Ruling:
		ruling := body.Ruling
		event.Kind = EventRuling
		if ruling.Seat != nil {
			event.Seat = int(ruling.GetSeat())
		}
		event.Fault = word(pb.Fault_name, "FAULT_", int32(ruling.GetFault()))
		event.Consequence = word(pb.Consequence_name, "CONSEQUENCE_", int32(ruling.GetConsequence()))
		event.Code = ruling.GetError().GetCode()
		event.Message = ruling.GetError().GetMessage()
	case *pb.Event_Resigned:
		event.Kind = EventResigned
		event.Seat = int(body.Resigned.GetSeat())
	case *pb.Event_Paused:
		event.Kind = EventPaused
		event.Message = body.Paused.GetMessage()
	case *pb.Event_Resumed:
		event.Kind = EventResumed
	case *pb.Event_Ended:
		event.Kind = EventEnded
		event.Code = body.Ended.GetCode()
		event.Message = body.Ended.GetMessage()
	}
	return event
}
