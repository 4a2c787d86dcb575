package main

import (
	"bytes"
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"fritillary.example/clients/go"
)

// asked returns an ask of three actions.
func asked(id uint64, ply, attempt int) *fritillary.Ask {
	ask := &fritillary.Ask{
		DecisionID: id, Ply: ply, Attempt: attempt,
		Observation: fritillary.NewPayload([]byte("\x81\xa1b\xc4\x02\x01\xab"), fritillary.MessagePack),
		Events:      []fritillary.Event{{Number: 4}, {Number: 6}},
	}
	for index, text := range []string{"pass", "left", "right"} {
		ask.Legal = append(ask.Legal, &fritillary.LegalAction{
			Index: index, Text: text, Action: fritillary.NewPayload([]byte(`"`+text+`"`), fritillary.JSON),
		})
	}
	return ask
}

func TestTheBotAnswersByItsRule(t *testing.T) {
	resign := uint64(9)
	for name, test := range map[string]struct {
		settings settings
		ask      *fritillary.Ask
		want     fritillary.Decision
	}{
		"by index":           {settings{}, asked(2, 3, 1), fritillary.Index(2)},
		"by text":            {settings{Answer: "text"}, asked(2, 3, 1), fritillary.Text("right")},
		"by action":          {settings{Answer: "action"}, asked(1, 0, 1), fritillary.Action("left")},
		"illegally":          {settings{Illegal: []uint64{2}}, asked(2, 3, 1), fritillary.Text("no such action")},
		"legally in a retry": {settings{Illegal: []uint64{2}}, asked(2, 3, 2), fritillary.Index(2)},
		"by resigning":       {settings{ResignAt: &resign}, asked(9, 3, 1), fritillary.Resign()},
		"after a while":      {settings{DelayMS: 5}, asked(3, 0, 1), fritillary.Index(0)},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			player := &bot{settings: test.settings, diary: &diary{out: &out}, info: &fritillary.MatchInfo{MatchID: "m"}}
			began := time.Now()
			chosen, err := player.Decide(context.Background(), test.ask)
			if err != nil || !reflect.DeepEqual(chosen, test.want) {
				t.Errorf("%+v, not %+v (%v)", chosen, test.want, err)
			}
			if took := time.Since(began); took < time.Duration(test.settings.DelayMS)*time.Millisecond {
				t.Errorf("after %s", took)
			}
		})
	}
}

func TestTheBotTellsWhatHappens(t *testing.T) {
	var out bytes.Buffer
	player := &bot{settings: settings{Decline: "go"}, diary: &diary{out: &out}}
	info := &fritillary.MatchInfo{MatchID: "m", Seat: 1, Game: "nim", FullID: "nim+long", NonceWanted: true}
	if err := player.Offered(context.Background(), info); err != nil {
		t.Fatal(err)
	}
	if _, err := player.Decide(context.Background(), asked(2, 3, 1)); err != nil {
		t.Fatal(err)
	}
	player.End(fritillary.Outcome{Kind: fritillary.EndVoid, Code: "match.aborted", Deal: fritillary.DealNotRevealed})
	want := `{"event":"offered","game":"nim+long","match_id":"m","nonce_wanted":true,"resumed":false,"seat":1}
{"attempt":1,"decision_id":2,"event":"asked","first":"pass","legal":3,"match_id":"m","news":[4,6],"observation":{"b":"01ab"},"ply":3,"seat":1}
{"code":"match.aborted","deal":"not-revealed","event":"ended","kind":"void","match_id":"m","placing":[],"scores":[],"seat":1}
`
	if out.String() != want {
		t.Errorf("%s", out.String())
	}
	if err := player.Offered(context.Background(), &fritillary.MatchInfo{Game: "go"}); fritillary.CodeOf(err) != "contract.declined" {
		t.Error(err)
	}
}

func TestSettingsThatMakeNoSenseAreToldInOneLine(t *testing.T) {
	for _, argument := range []string{"{", "null", `{"capacity": "many"}`, `{"capacity": 0}`, `{"nonce": "x"}`} {
		err := play([]string{argument}, &diary{})
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.HasSuffix(err.Error(), "]") {
			t.Error(err)
		}
	}
}
