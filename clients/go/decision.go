package fritillary

import (
	"fmt"
	"math"
	"time"

	"google.golang.org/protobuf/proto"

	pb "fritillary.example/clients/go/api/v1"
)

// A Decision is what a bot answers; made by [Choose], [Index], [Text], [Action] or
// [Resign]. Whether it is legal is for the referee to say. The zero Decision is none.
type Decision struct {
	// Note is a remark for the record. No other seat sees it while the match goes on;
	// afterwards all who may fetch the record do.
	Note string
	// Probabilities are those with which the bot chose, for each of [Ask.Legal] in order;
	// for the record, as public as the note. May be empty.
	Probabilities []float64

	choice any
}

type (
	indexChoice  int
	textChoice   string
	actionChoice struct{ value any }
	resignChoice struct{}
)

// Choose decides for one of [Ask.Legal].
func Choose(action *LegalAction) Decision {
	if action == nil {
		return Decision{}
	}
	return Index(action.Index)
}

// Index decides for the action of an index, see [LegalAction.Index].
func Index(index int) Decision { return Decision{choice: indexChoice(index)} }

// Text decides for an action in the notation of the game.
func Text(text string) Decision { return Decision{choice: textChoice(text)} }

// Action decides for an action as a value: a map, a struct with `json` tags, or a
// [Payload].
func Action(action any) Decision { return Decision{choice: actionChoice{action}} }

// Resign gives up the match.
func Resign() Decision { return Decision{choice: resignChoice{}} }

// frameBytes is what a frame adds around its only message, at most.
const frameBytes = 16

// answer returns the message that answers a request. What is wrong with the decision is
// an error of kind [ErrBot].
func answer(
	decision Decision, request *pb.DecisionRequest, encoding Encoding, limits *pb.Limits, thought time.Duration,
) (*pb.BotMessage, error) {
	if decision.choice == (resignChoice{}) {
		return &pb.BotMessage{Message: &pb.BotMessage_Resign{Resign: &pb.Resign{
			MatchId:    request.MatchId,
			Seat:       proto.Uint32(request.Seat),
			DecisionId: request.DecisionId,
		}}}, nil
	}
	message := &pb.Decision{
		MatchId:    request.MatchId,
		Seat:       proto.Uint32(request.Seat),
		DecisionId: request.DecisionId,
		ThinkMs:    proto.Uint32(uint32(min(max(thought.Milliseconds(), 0), math.MaxInt32))),
	}
	if err := choose(message, decision.choice, request, encoding); err != nil {
		return nil, err
	}
	if decision.Note != "" {
		most := len(decision.Note)
		if limits.GetMaxNoteBytes() > 0 {
			most = int(limits.GetMaxNoteBytes())
		}
		message.Note = proto.String(cut(decision.Note, most))
	}
	if count := len(decision.Probabilities); count > 0 {
		if count != len(request.Legal) {
			return nil, answerError(
				"%d probabilities for %d legal actions; give one for each of ask.Legal",
				count, len(request.Legal))
		}
		message.Probabilities = decision.Probabilities
	}
	if most := int(limits.GetMaxMessageBytes()); most > 0 && proto.Size(message)+frameBytes > most {
		// Notes and probabilities are a courtesy, the choice is not.
		message.Note, message.Probabilities = nil, nil
		if proto.Size(message)+frameBytes > most {
			return nil, answerError("an action of more than %d bytes", most)
		}
	}
	return &pb.BotMessage{Message: &pb.BotMessage_Decision{Decision: message}}, nil
}

func choose(message *pb.Decision, choice any, request *pb.DecisionRequest, encoding Encoding) error {
	switch choice := choice.(type) {
	case indexChoice:
		if choice < 0 || int64(choice) > math.MaxUint32 {
			return answerError("index %d; legal are %d indices from %d",
				choice, len(request.Legal), request.Legal[0])
		}
		message.Choice = &pb.Decision_Index{Index: uint32(choice)}
	case textChoice:
		if cut(string(choice), len(choice)) != string(choice) {
			return answerError("a text that is not UTF-8")
		}
		message.Choice = &pb.Decision_Text{Text: string(choice)}
	case actionChoice:
		raw, err := encodeAction(choice.value, encoding)
		if err != nil {
			return answerError("an action that cannot be sent: %s", shown(err.Error()))
		}
		message.Choice = &pb.Decision_Action{Action: raw}
	default:
		return answerError("no decision; return Choose, Index, Text, Action or Resign")
	}
	return nil
}

func encodeAction(action any, encoding Encoding) ([]byte, error) {
	payload, ok := action.(Payload)
	if !ok {
		return encode(action, encoding)
	}
	if payload.Encoding() == encoding && !payload.IsZero() {
		return payload.Bytes(), nil
	}
	value, err := payload.Value()
	if err != nil {
		return nil, err
	}
	return encode(value, encoding)
}

func answerError(format string, args ...any) *Error {
	return newError(ErrBot, "bot.answer", "Decide returned %s", fmt.Sprintf(format, args...))
}
