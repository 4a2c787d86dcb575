package fritillary

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	pb "fritillary.example/clients/go/api/v1"
)

// What an [Error] is about; compare with [errors.Is].
var (
	// ErrUsage: the client was told too little, or something that cannot be.
	ErrUsage = errors.New("wrong usage")
	// ErrLink: there is no server at the address, or the link to it was lost.
	ErrLink = errors.New("link lost")
	// ErrRefused: the server will not have this bot, such as `auth.unknown-token`.
	ErrRefused = errors.New("refused")
	// ErrProtocol: the server sent what cannot be understood, or what makes no sense.
	ErrProtocol = errors.New("protocol")
	// ErrBot: the bot returned an error, panicked, or decided on something that is no
	// decision.
	ErrBot = errors.New("bot failed")
	// ErrDeclined: the bot does not want a seat, see [Decline].
	ErrDeclined = errors.New("declined")
	// ErrUnfinished: the bot left while matches were being played, or was sent away since
	// another program has dialled in with its token.
	ErrUnfinished = errors.New("unfinished")
)

// An Error is what can go wrong between a bot and a server.
type Error struct {
	// Code is a stable dotted string, such as `auth.unknown-token`; the server's own
	// where the server sent it.
	Code string
	// Message is one sentence for people.
	Message string
	// RetryAfter is when trying again makes sense, if Retry is set.
	RetryAfter time.Duration
	// Retry tells whether time mends it.
	Retry bool
	// Err is the cause, if there is one.
	Err error

	kind error
	// how a bot failed, without anything of its own; the server is told this much.
	how string
}

// howItFailed returns what the server is told of a bot that failed, as one sentence.
func howItFailed(err error) string {
	var known *Error
	switch errors.As(err, &known); {
	case known != nil && known.how != "":
		return "the bot failed: " + known.how
	case known != nil && known.Code == "bot.answer":
		return "the bot failed: what it answered is no decision"
	}
	return "the bot failed and has been stopped"
}

// Error returns sentence and code in one line.
func (e *Error) Error() string { return fmt.Sprintf("%s [%s]", e.Message, e.Code) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is tells whether the error is of a kind, such as [ErrLink].
func (e *Error) Is(target error) bool { return target == e.kind }

// CodeOf returns the stable code of an error of this package, empty for others.
func CodeOf(err error) string {
	var known *Error
	if errors.As(err, &known) {
		return known.Code
	}
	return ""
}

// Decline returns the error with which [Considerer.Offered] refuses a seat. The server is
// told code and sentence; the referee rules on a refusal as on a fault.
func Decline(code, message string) error {
	if code == "" {
		code = "bot.declined"
	}
	return &Error{Code: code, Message: message, kind: ErrDeclined}
}

func newError(kind error, code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), kind: kind}
}

func usageError(code, format string, args ...any) *Error {
	return newError(ErrUsage, "usage."+code, format, args...)
}

func protocolError(format string, args ...any) *Error {
	return newError(ErrProtocol, "protocol.garbage", format, args...)
}

// refusedError returns the error that the server has told.
func refusedError(info *pb.ErrorInfo) *Error {
	message := shown(info.GetMessage())
	if message == "" {
		message = "the server refused"
	}
	return &Error{
		Code:       or(shown(info.GetCode()), "refused"),
		Message:    message,
		RetryAfter: milliseconds(info.GetRetryAfterMs()),
		Retry:      info != nil && info.RetryAfterMs != nil,
		kind:       ErrRefused,
	}
}

// asError returns an error as one of the client, whatever it is.
func asError(err error) *Error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	return &Error{Code: "internal", Message: shown(err.Error()), Err: err, kind: ErrProtocol}
}

// mostShown is how much of a text from elsewhere is shown in one line, in characters.
const mostShown = 300

// shown returns text from elsewhere as it may be shown in one line of a terminal.
func shown(text string) string {
	var line strings.Builder
	count := 0
	for _, char := range text {
		if count++; count > mostShown {
			line.WriteString("...")
			break
		}
		if !unicode.IsPrint(char) {
			char = unicode.ReplacementChar
		}
		line.WriteRune(char)
	}
	return line.String()
}

// cut returns as many whole characters of a text as fit in so many bytes of UTF-8.
func cut(text string, most int) string {
	text = strings.ToValidUTF8(text, string(unicode.ReplacementChar))
	if len(text) <= most {
		return text
	}
	for most > 0 && !isStart(text[most]) {
		most--
	}
	return text[:most]
}

// cutRunes returns the first characters of a text, at most so many.
func cutRunes(text string, most int) string {
	text = strings.ToValidUTF8(text, string(unicode.ReplacementChar))
	count := 0
	for at := range text {
		if count++; count > most {
			return text[:at]
		}
	}
	return text
}

func isStart(b byte) bool { return b&0xC0 != 0x80 }

func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func milliseconds(count uint32) time.Duration {
	return time.Duration(count) * time.Millisecond
}
