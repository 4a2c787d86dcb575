package main

import (
	"context"
	"reflect"
	"testing"

	"fritillary.example/clients/go"
)

func TestEveryActionIsChosenAndTheSameSeedChoosesTheSame(t *testing.T) {
	legal := []*fritillary.LegalAction{{Index: 3}, {Index: 5}, {Index: 8}}
	choose := func(id uint64) fritillary.Decision {
		ask := &fritillary.Ask{Info: &fritillary.MatchInfo{Seed: 1}, DecisionID: id, Legal: legal}
		chosen, err := decide(context.Background(), ask)
		if err != nil {
			t.Fatal(err)
		}
		return chosen
	}
	counts := map[int]int{}
	for id := range uint64(300) {
		chosen := choose(id)
		if !reflect.DeepEqual(chosen, choose(id)) {
			t.Fatalf("decision %d is not repeated", id)
		}
		for _, action := range legal {
			if reflect.DeepEqual(chosen, fritillary.Choose(action)) {
				counts[action.Index]++
			}
		}
	}
	if counts[3]+counts[5]+counts[8] != 300 || min(counts[3], counts[5], counts[8]) < 70 {
		t.Errorf("%v", counts)
	}
}
