package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"fritillary.example/clients/go"
)

const rules = `{"order": ["run3", "pair", "single", "triple", "run2"], "heights": [4, 5, 6, 5, 4]}`

// play writes a card of a type that is played.
func play(combo string, rank, joker int) string {
	return fmt.Sprintf(`{"type": "play", "combo": %q, "rank": %d, "joker": %d}`, combo, rank, joker)
}

const pass = `{"type": "pass"}`

// best returns which of some actions seat 0 likes best.
func best(t *testing.T, observation string, actions ...string) []int {
	t.Helper()
	bot := &greedy{}
	err := bot.Start(context.Background(), &fritillary.MatchInfo{
		Options: fritillary.NewPayload([]byte(rules), fritillary.JSON),
	})
	if err != nil {
		t.Fatal(err)
	}
	var now seen
	if err := json.Unmarshal([]byte(observation), &now); err != nil {
		t.Fatal(err)
	}
	var legal []*fritillary.LegalAction
	for index, action := range actions {
		legal = append(legal, &fritillary.LegalAction{
			Index: index, Action: fritillary.NewPayload([]byte(action), fritillary.JSON),
		})
	}
	liked, err := bot.best(now, legal)
	if err != nil {
		t.Fatal(err)
	}
	var indices []int
	for _, action := range liked {
		indices = append(indices, action.Index)
	}
	return indices
}

func TestTheBotPlays(t *testing.T) {
	const empty = `"markers": [null, null], "hand_sizes": [9, 9], "deck_sizes": [9, 9]}`
	for name, test := range map[string]struct {
		observation string
		actions     []string
		want        []int
	}{
		"many cards before few": {
			`{"columns": [[], [], [], [], []], ` + empty,
			[]string{play("single", 3, 0), play("triple", 3, 0), play("pair", 3, 0), pass}, []int{1},
		},
		"low ranks before high ones, the joker last": {
			`{"columns": [[], [], [], [], []], ` + empty,
			[]string{play("pair", 9, 0), play("pair", 2, 0), play("pair", 2, 1)}, []int{1},
		},
		"four in a row before all else": {
			`{"columns": [[], [0], [0], [0], []], ` + empty,
			[]string{play("triple", 3, 0), play("run3", 3, 0), play("run2", 9, 1)}, []int{1},
		},
		"four in a column": {
			`{"columns": [[], [], [0, 0, 0], [], []], ` + empty,
			[]string{play("run3", 3, 0), play("single", 9, 0)}, []int{1},
		},
		"the last card": {
			`{"columns": [[], [], [], [], []], "markers": [null, null], "hand_sizes": [2, 9], "deck_sizes": [0, 9]}`,
			[]string{play("single", 3, 0), play("pair", 9, 0)}, []int{1},
		},
		"a block before many cards": {
			`{"columns": [[], [], [1, 1, 1], [], []], ` + empty,
			[]string{play("run3", 3, 0), play("single", 9, 0)}, []int{1},
		},
		"no block where the marker bars the opponent": {
			`{"columns": [[], [], [1, 1, 1], [], []], "markers": [null, "single"], "hand_sizes": [9, 9], "deck_sizes": [9, 9]}`,
			[]string{play("run3", 3, 0), play("single", 9, 0)}, []int{0},
		},
		"what is as good": {
			`{"columns": [[], [], [], [], []], ` + empty,
			[]string{play("pair", 2, 0), play("run2", 2, 0), pass}, []int{0, 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := best(t, test.observation, test.actions...); !slices.Equal(got, test.want) {
				t.Errorf("%v, not %v", got, test.want)
			}
		})
	}
}

func TestAnotherGameIsAnError(t *testing.T) {
	bot := &greedy{}
	err := bot.Start(context.Background(), &fritillary.MatchInfo{
		Options: fritillary.NewPayload([]byte(`{"order": 1}`), fritillary.JSON),
	})
	if err == nil {
		t.Error("it began")
	}
}
