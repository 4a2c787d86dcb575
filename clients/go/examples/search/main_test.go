package main

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fritillary.example/clients/go"
	pb "fritillary.example/clients/go/api/v1"
)

// fake is a simulator of a game in which the index of the first action decides: the mean
// payoff of seat 1 is worth[index].
type fake struct {
	pb.UnimplementedSimulatorServiceServer
	worth    map[uint32]float64
	playouts int
	asked    [][]uint32
}

func (f *fake) OpenGame(_ context.Context, request *pb.OpenGameRequest) (*pb.OpenGameResponse, error) {
	if request.GetGame() != "known" {
		return nil, status.Error(codes.NotFound, "no such game")
	}
	return &pb.OpenGameResponse{
		Game:  request.GetOptions().GetOptions().GetData(),
		Table: &pb.ActionTable{Size: 9, Hash: []byte("hash")},
	}, nil
}

func (f *fake) SampleWorlds(_ context.Context, request *pb.SampleWorldsRequest) (*pb.SampleWorldsResponse, error) {
	if string(request.GetGame()) != "options" || string(request.GetObservation().GetData()) != "seen" ||
		request.GetSeat() != 1 {
		return nil, status.Error(codes.InvalidArgument, "another observation")
	}
	return &pb.SampleWorldsResponse{Worlds: make([][]byte, request.GetCount())}, nil
}

func (f *fake) PlayOut(_ context.Context, request *pb.PlayOutRequest) (*pb.PlayOutResponse, error) {
	answer := &pb.PlayOutResponse{Complete: true}
	var asked []uint32
	for _, task := range request.GetTasks() {
		count := int(task.GetCount()) * len(request.GetWorlds())
		f.playouts += count
		worth := f.worth[task.GetIndex()]
		asked = append(asked, task.GetIndex())
		answer.Totals = append(answer.Totals, &pb.PlayOutTotals{
			Playouts: uint32(count), MeanPayoffs: []float64{1 - worth, worth},
		})
	}
	f.asked = append(f.asked, asked)
	return answer, nil
}

// serve serves a fake and returns a bot that uses it.
func serve(t *testing.T, simulator *fake) *search {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	pb.RegisterSimulatorServiceServer(server, simulator)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	t.Setenv(addressVariable, listener.Addr().String())
	return &search{simulator: connect}
}

// offer returns the offer of a game.
func offer(game, hash string) *fritillary.MatchInfo {
	return &fritillary.MatchInfo{
		FullID: game, Seat: 1, Seats: 2, TableHash: []byte(hash),
		Options: fritillary.NewPayload([]byte("options"), fritillary.MessagePack),
	}
}

// ask returns an ask with some legal actions, and with so much time.
func ask(left time.Duration, legal ...int) *fritillary.Ask {
	asked := &fritillary.Ask{
		Info:        offer("known", "hash"),
		Observation: fritillary.NewPayload([]byte("seen"), fritillary.MessagePack),
		Clock:       fritillary.Clock{Left: left},
	}
	for _, index := range legal {
		asked.Legal = append(asked.Legal, &fritillary.LegalAction{Index: index})
	}
	return asked
}

func TestHalfAfterHalfIsDroppedUntilTheBestIsLeft(t *testing.T) {
	simulator := &fake{worth: map[uint32]float64{2: 0.1, 3: 0.5, 5: 0.9, 7: 0.7, 8: 0.3}}
	bot := serve(t, simulator)
	ctx := context.Background()
	if err := bot.Offered(ctx, offer("known", "hash")); err != nil {
		t.Fatal(err)
	}
	chosen, err := bot.Decide(ctx, ask(fritillary.Untimed, 2, 3, 5, 7, 8))
	if err != nil || !reflect.DeepEqual(chosen, fritillary.Index(5)) {
		t.Errorf("%v, %v", chosen, err)
	}
	want := [][]uint32{{2, 3, 5, 7, 8}, {5, 7, 3}, {5, 7}}
	if !slices.EqualFunc(simulator.asked, want, slices.Equal) {
		t.Errorf("%v", simulator.asked)
	}
	if simulator.playouts > playouts || simulator.playouts < playouts*9/10 {
		t.Errorf("%d playouts", simulator.playouts)
	}
}

func TestTheOnlyActionIsChosenWithoutASearch(t *testing.T) {
	simulator := &fake{}
	bot := serve(t, simulator)
	chosen, err := bot.Decide(context.Background(), ask(fritillary.Untimed, 4))
	if err != nil || !reflect.DeepEqual(chosen, fritillary.Index(4)) || simulator.playouts > 0 {
		t.Errorf("%v, %v, %d playouts", chosen, err, simulator.playouts)
	}
}

func TestWithoutTimeTheFirstActionIsChosen(t *testing.T) {
	simulator := &fake{}
	bot := serve(t, simulator)
	chosen, err := bot.Decide(context.Background(), ask(0, 6, 7))
	if err != nil || !reflect.DeepEqual(chosen, fritillary.Index(6)) || simulator.playouts > 0 {
		t.Errorf("%v, %v, %d playouts", chosen, err, simulator.playouts)
	}
}

func TestGamesThatTheSimulatorDoesNotKnowAreDeclined(t *testing.T) {
	bot := serve(t, &fake{})
	for _, info := range []*fritillary.MatchInfo{offer("other", "hash"), offer("known", "other")} {
		if err := bot.Offered(context.Background(), info); !errors.Is(err, fritillary.ErrDeclined) {
			t.Errorf("%s: %v", info.FullID, err)
		}
	}
}

func TestAnErrorOfTheSimulatorIsTold(t *testing.T) {
	bot := serve(t, &fake{})
	if err := bot.Offered(context.Background(), offer("known", "hash")); err != nil {
		t.Fatal(err)
	}
	bot.game = []byte("of another bot")
	_, err := bot.Decide(context.Background(), ask(fritillary.Untimed, 1, 2))
	if status.Code(err) != codes.InvalidArgument {
		t.Errorf("%v", err)
	}
}

func TestASimulatorIsStartedWhereNoneIsNamed(t *testing.T) {
	folder := t.TempDir()
	t.Setenv(addressVariable, "")
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	program := filepath.Join(folder, "fritillary")
	for _, test := range []struct{ does, address, says string }{
		{"echo listening on 127.0.0.1:1", "127.0.0.1:1", ""},
		{"echo something else", "", `said "something else\n"`},
		{"exit 1", "", `said ""`},
	} {
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+test.does+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		address, err := start()
		if address != test.address || (err == nil) != (test.says == "") ||
			err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %q, %v", test.does, address, err)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := connect(); err == nil || !strings.Contains(err.Error(), "fritillary simulate") {
		t.Errorf("%v", err)
	}
}
