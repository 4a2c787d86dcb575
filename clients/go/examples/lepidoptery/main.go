// Lepidoptery plays the game of that name: it wins if it can, blocks if it must, and
// sheds what it can.
//
// It shows how to read observations and actions into structs. What each field means
// stands in the JSON Schemas of the game (`fritillary game lepidoptery`).
//
//	go run ./examples/lepidoptery -address HOST:PORT -token TOKEN
package main

import (
	"context"

	"fritillary.example/clients/go"
)

func main() {
	fritillary.Main(
		func() fritillary.Bot { return &greedy{} },
		fritillary.Config{
			Name: "lepidoptery-go", Version: "1",
			Games: fritillary.Games("lepidoptery"),
		},
	)
}

// cards is how many cards a type of combination has, the joker included.
var cards = map[string]int{"single": 1, "pair": 2, "triple": 3, "run2": 2, "run3": 3}

// options are those of the game that matter here.
type options struct {
	// Order of the types, from the left column to the right.
	Order []string `json:"order"`
	// Heights of the columns.
	Heights []int `json:"heights"`
}

// seen is what matters of an observation.
type seen struct {
	// Columns list the seats whose tokens lie in them, from the bottom up.
	Columns [][]int `json:"columns"`
	// Markers are the types that lie on the seats' markers; nil where there is none.
	Markers   []*string `json:"markers"`
	HandSizes []int     `json:"hand_sizes"`
	DeckSizes []int     `json:"deck_sizes"`
}

// move is an action.
type move struct {
	Type  string `json:"type"`
	Combo string `json:"combo"`
	Rank  int    `json:"rank"`
	Joker int    `json:"joker"`
}

// greedy looks one move ahead and one answer, at the board alone.
type greedy struct {
	me      int
	heights []int
	place   map[string]int
	moves   map[int]move
}

// Start keeps what stays the same for the whole match.
func (g *greedy) Start(_ context.Context, info *fritillary.MatchInfo) error {
	var rules options
	if err := info.Options.Decode(&rules); err != nil {
		return err
	}
	g.me, g.heights = info.Seat, rules.Heights
	g.place, g.moves = map[string]int{}, map[int]move{}
	for column, combo := range rules.Order {
		g.place[combo] = column
	}
	return nil
}

// Decide returns the legal action that is liked best; of equals, one at random.
func (g *greedy) Decide(_ context.Context, ask *fritillary.Ask) (fritillary.Decision, error) {
	var now seen
	if err := ask.Observation.Decode(&now); err != nil {
		return fritillary.Decision{}, err
	}
	best, err := g.best(now, ask.Legal)
	if err != nil {
		return fritillary.Decision{}, err
	}
	return fritillary.Choose(best[ask.Rand().IntN(len(best))]), nil
}

// best returns the actions that are liked best.
func (g *greedy) best(now seen, legal []*fritillary.LegalAction) ([]*fritillary.LegalAction, error) {
	var best []*fritillary.LegalAction
	var most liking
	for _, action := range legal {
		tried, known := g.moves[action.Index]
		if !known {
			if err := action.Action.Decode(&tried); err != nil {
				return nil, err
			}
			g.moves[action.Index] = tried
		}
		switch liked := g.like(now, tried); {
		case len(best) == 0 || most.below(liked):
			best, most = []*fritillary.LegalAction{action}, liked
		case liked == most:
			best = append(best, action)
		}
	}
	return best, nil
}

// liking says how good an action looks: does it win, what is risked, what is gained.
type liking struct {
	wins bool
	risk int
	gain float64
}

func (l liking) below(other liking) bool {
	if l.wins != other.wins {
		return other.wins
	}
	if l.risk != other.risk {
		return l.risk > other.risk
	}
	return l.gain < other.gain
}

func (g *greedy) like(now seen, action move) liking {
	columns := make([][]int, len(now.Columns))
	for place, column := range now.Columns {
		columns[place] = append([]int(nil), column...)
	}
	opponent := 1 - g.me
	// Nobody may play the type that lies on his own marker.
	barred := -1
	if marker := now.Markers[opponent]; marker != nil {
		barred = g.place[*marker]
	}
	if action.Type == "pass" {
		return liking{risk: g.threats(columns, opponent, barred)}
	}
	place := g.place[action.Combo]
	columns[place] = append(columns[place], g.me)
	shed := float64(cards[action.Combo])
	if action.Joker > 0 {
		shed--
	}
	left := float64(now.HandSizes[g.me]+now.DeckSizes[g.me]) - shed
	wins := left == 0 || fourAt(columns, place)
	if len(columns[place]) == g.heights[place] {
		// A column that fills up empties the other full one.
		for other, height := range g.heights {
			if other != place && len(columns[other]) == height {
				columns[other] = nil
			}
		}
	}
	// Many cards, low ones first, for they beat least. The joker is worth almost a card,
	// and a cell that would complete four is worth two.
	gain := shed - 0.05*float64(action.Rank)
	if action.Joker > 0 {
		gain -= 0.8
	}
	gain += 2 * float64(g.threats(columns, g.me, place))
	return liking{wins: wins, risk: g.threats(columns, opponent, barred), gain: gain}
}

// threats counts the columns in which a seat's next token would complete four.
func (g *greedy) threats(columns [][]int, seat, barred int) int {
	count := 0
	for place, column := range columns {
		if place == barred || len(column) >= g.heights[place] {
			continue
		}
		columns[place] = append(column, seat)
		if fourAt(columns, place) {
			count++
		}
		columns[place] = column
	}
	return count
}

// fourAt tells whether the top token of a column lies in a line of four.
func fourAt(columns [][]int, place int) bool {
	row := len(columns[place]) - 1
	seat := columns[place][row]
	for _, step := range [][2]int{{0, 1}, {1, 0}, {1, 1}, {1, -1}} {
		count := 1
		for _, way := range []int{1, -1} {
			x, y := place+way*step[0], row+way*step[1]
			for x >= 0 && x < len(columns) && y >= 0 && y < len(columns[x]) && columns[x][y] == seat {
				count++
				x, y = x+way*step[0], y+way*step[1]
			}
		}
		if count >= 4 {
			return true
		}
	}
	return false
}
