// Contract is the bot with which the contract of all clients is tested. Its only argument
// is a JSON object of settings; it plays by a fixed rule, and writes one line of JSON for
// each thing that happens.
package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"fritillary.example/clients/go"
)

// settings are all optional.
type settings struct {
	Encoding    string   `json:"encoding"`
	Legal       string   `json:"legal"`
	Answer      string   `json:"answer"`
	Capacity    *int     `json:"capacity"`
	Matches     *int     `json:"matches"`
	Games       []string `json:"games"`
	Name        string   `json:"name"`
	Build       string   `json:"build"`
	GiveUpAfter *float64 `json:"give_up_after"`
	CA          string   `json:"ca"`
	Cert        string   `json:"cert"`
	Key         string   `json:"key"`
	Nonce       *string  `json:"nonce"`
	Decline     string   `json:"decline"`
	Illegal     []uint64 `json:"illegal"`
	DelayMS     int      `json:"delay_ms"`
	ResignAt    *uint64  `json:"resign_at"`
}

func main() {
	if err := play(os.Args[1:], &diary{out: os.Stdout}); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

func play(args []string, diary *diary) error {
	given, err := read(args)
	if err != nil {
		return err
	}
	config, err := given.config(diary)
	if err != nil {
		return err
	}
	client, err := fritillary.NewClient(
		func() fritillary.Bot { return &bot{settings: *given, diary: diary} }, config)
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		client.Drain()
		<-signals
		client.Stop()
	}()
	if err := client.Run(context.Background()); err != nil {
		return err
	}
	diary.tell("stopped", nil)
	return nil
}

// read returns what the argument says.
func read(args []string) (*settings, error) {
	given := &settings{}
	if len(args) > 0 {
		if err := json.Unmarshal([]byte(args[0]), &given); err != nil {
			return nil, fmt.Errorf("the argument: %w [usage.argument]", err)
		}
	}
	if given == nil {
		return nil, errors.New("the argument is null [usage.argument]")
	}
	return given, nil
}

func (s *settings) config(diary *diary) (fritillary.Config, error) {
	config := fritillary.Config{
		Name:    s.Name,
		Version: "1",
		Build:   s.Build,
		CA:      s.CA,
		Cert:    s.Cert,
		Key:     s.Key,
		Games:   fritillary.Games(s.Games...),
		OnConnect: func(session fritillary.Session) {
			diary.tell("connected", fields{"bot": session.Bot, "resumed": session.Resumed})
		},
		OnLost: func(err error) { diary.tell("lost", fields{"code": fritillary.CodeOf(err)}) },
	}
	if s.Name == "" {
		config.Name = "contract"
	}
	var err error
	if config.Capacity, err = count("capacity", s.Capacity); err != nil {
		return config, err
	}
	if config.Matches, err = count("matches", s.Matches); err != nil {
		return config, err
	}
	switch s.Encoding {
	case "", "msgpack":
	case "json":
		config.Encoding = fritillary.JSON
	default:
		return config, fmt.Errorf("no encoding %q; say msgpack or json [usage.encoding]", s.Encoding)
	}
	switch s.Legal {
	case "", "packed":
	case "expanded":
		config.Legal = fritillary.LegalExpanded
	default:
		return config, fmt.Errorf("no legal form %q; say packed or expanded [usage.legal]", s.Legal)
	}
	if !slices.Contains([]string{"", "index", "text", "action"}, s.Answer) {
		return config, fmt.Errorf("no form of answers %q; say index, text or action [usage.answer]", s.Answer)
	}
	if s.GiveUpAfter != nil {
		config.GiveUpAfter = time.Duration(*s.GiveUpAfter * float64(time.Second))
		if config.GiveUpAfter == 0 {
			config.GiveUpAfter = -1
		}
	}
	if s.Nonce != nil {
		nonce, err := hex.DecodeString(*s.Nonce)
		if err != nil {
			return config, fmt.Errorf("nonce: %w [usage.nonce]", err)
		}
		if len(nonce) > fritillary.MaxNonceBytes {
			return config, fmt.Errorf("a nonce has at most %d bytes [usage.nonce]", fritillary.MaxNonceBytes)
		}
		config.Nonce = func(*fritillary.MatchInfo) []byte { return nonce }
	}
	return config, nil
}

// count returns a number of at least 1, or 0 where there is none.
func count(name string, number *int) (int, error) {
	if number == nil {
		return 0, nil
	}
	if *number < 1 {
		return 0, fmt.Errorf("%s must be at least 1 [usage.capacity]", name)
	}
	return *number, nil
}

// bot plays one seat.
type bot struct {
	settings
	diary *diary
	info  *fritillary.MatchInfo
}

// Offered tells, and may decline.
func (b *bot) Offered(_ context.Context, info *fritillary.MatchInfo) error {
	b.info = info
	b.tell("offered", fields{
		"resumed": info.Resumed, "game": info.FullID, "nonce_wanted": info.NonceWanted,
	})
	if b.Decline != "" && (b.Decline == info.Game || b.Decline == info.FullID) {
		return fritillary.Decline("contract.declined", "the contract says so")
	}
	return nil
}

// Decide answers by the rule that all languages share.
func (b *bot) Decide(ctx context.Context, ask *fritillary.Ask) (fritillary.Decision, error) {
	seen, err := ask.Observation.Value()
	if err != nil {
		return fritillary.Decision{}, err
	}
	news := []int{}
	for _, event := range ask.Events {
		news = append(news, event.Number)
	}
	b.tell("asked", fields{
		"decision_id": ask.DecisionID, "ply": ask.Ply, "legal": len(ask.Legal),
		"first": ask.Legal[0].Text, "observation": readable(seen), "news": news,
		"attempt": ask.Attempt,
	})
	if b.DelayMS > 0 {
		select {
		case <-time.After(time.Duration(b.DelayMS) * time.Millisecond):
		case <-ctx.Done():
		}
	}
	if b.ResignAt != nil && *b.ResignAt == ask.DecisionID {
		return fritillary.Resign(), nil
	}
	if ask.Attempt == 1 && slices.Contains(b.Illegal, ask.DecisionID) {
		return fritillary.Text("no such action"), nil
	}
	chosen := ask.Legal[(ask.DecisionID*7+uint64(ask.Ply))%uint64(len(ask.Legal))]
	switch b.Answer {
	case "text":
		return fritillary.Text(chosen.Text), nil
	case "action":
		value, err := chosen.Action.Value()
		return fritillary.Action(value), err
	default:
		return fritillary.Choose(chosen), nil
	}
}

// End tells how the match ended.
func (b *bot) End(outcome fritillary.Outcome) {
	b.tell("ended", fields{
		"kind": outcome.Kind, "code": outcome.Code, "scores": list(outcome.Scores),
		"placing": list(outcome.Placing), "deal": outcome.Deal,
	})
}

func (b *bot) tell(event string, more fields) {
	more["match_id"], more["seat"] = b.info.MatchID, b.info.Seat
	b.diary.tell(event, more)
}

// A diary is where it is written what happens.
type diary struct {
	mutex sync.Mutex
	out   io.Writer
}

type fields map[string]any

// tell writes one line.
func (d *diary) tell(event string, more fields) {
	line := fields{"event": event}
	for key, value := range more {
		line[key] = value
	}
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	_, _ = d.out.Write(append(text, '\n'))
}

// list returns a list that is not null in JSON.
func list[T any](values []T) []T {
	if values == nil {
		return []T{}
	}
	return values
}

// readable returns a value with bytes as hex.
func readable(value any) any {
	switch value := value.(type) {
	case []byte:
		return hex.EncodeToString(value)
	case []any:
		made := make([]any, len(value))
		for at, each := range value {
			made[at] = readable(each)
		}
		return made
	case map[string]any:
		made := map[string]any{}
		for key, each := range value {
			made[key] = readable(each)
		}
		return made
	default:
		return value
	}
}
