package fritillary

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	pb "fritillary.example/clients/go/api/v1"
)

// golden reads a file of vectors that all clients share.
func golden(t *testing.T, name string, into any) {
	t.Helper()
	raw, err := os.ReadFile("../../tests/golden/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

type payloadVectors struct {
	Values []struct {
		Name    string
		Value   json.RawMessage
		Msgpack string
		JSON    string
		Exact   []string
	}
	Binary []struct{ Name, Bytes, Msgpack string }
	Broken map[string]map[string]string
}

func TestPayloadsAreDecodedAndEncodedAsEverywhere(t *testing.T) {
	var vectors payloadVectors
	golden(t, "wire/payloads.json", &vectors)
	for _, vector := range vectors.Values {
		for encoding, text := range map[Encoding]string{MessagePack: vector.Msgpack, JSON: vector.JSON} {
			t.Run(vector.Name+" in "+encoding.String(), func(t *testing.T) {
				want := exactly(t, vector.Value)
				value, err := NewPayload(unhex(t, text), encoding).Value()
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(value, want) {
					t.Fatalf("%#v, not %#v", value, want)
				}
				again, err := encode(value, encoding)
				if err != nil {
					t.Fatal(err)
				}
				if slices.Contains(vector.Exact, encoding.String()) && hex.EncodeToString(again) != text {
					t.Errorf("%x, not %s", again, text)
				}
				back, err := NewPayload(again, encoding).Value()
				if err != nil || !reflect.DeepEqual(back, want) {
					t.Errorf("%#v, not %#v (%v)", back, want, err)
				}
			})
		}
	}
	for _, vector := range vectors.Binary {
		t.Run(vector.Name, func(t *testing.T) {
			value, err := NewPayload(unhex(t, vector.Msgpack), MessagePack).Value()
			if err != nil || !bytes.Equal(value.([]byte), unhex(t, vector.Bytes)) {
				t.Fatalf("%v (%v)", value, err)
			}
			if again := pack(value); hex.EncodeToString(again) != vector.Msgpack {
				t.Errorf("%x", again)
			}
		})
	}
}

func TestBrokenPayloadsAreRefused(t *testing.T) {
	var vectors payloadVectors
	golden(t, "wire/payloads.json", &vectors)
	for encoding, name := range map[Encoding]string{MessagePack: "msgpack", JSON: "json"} {
		for what, text := range vectors.Broken[name] {
			t.Run(name+": "+what, func(t *testing.T) {
				payload := NewPayload(unhex(t, text), encoding)
				_, err := payload.Value()
				var into struct{ A int }
				for _, err := range []error{err, payload.Decode(&into)} {
					if !errors.Is(err, ErrProtocol) || CodeOf(err) != "codec."+name {
						t.Errorf("%v", err)
					}
				}
			})
		}
	}
}

// exactly returns the value of a JSON text, its integers as int64.
func exactly(t *testing.T, text []byte) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return integers(t, value)
}

func integers(t *testing.T, value any) any {
	switch value := value.(type) {
	case json.Number:
		number, err := value.Int64()
		if err != nil {
			t.Fatal(err)
		}
		return number
	case []any:
		for at := range value {
			value[at] = integers(t, value[at])
		}
	case map[string]any:
		for key := range value {
			value[key] = integers(t, value[key])
		}
	}
	return value
}

func TestFramesAreDecodedAndEncodedAsEverywhere(t *testing.T) {
	var vectors struct {
		Frames []struct {
			Name, Type, Hex string
			Value           json.RawMessage
			Exact           bool
		}
		Broken map[string]string
	}
	golden(t, "wire/frames.json", &vectors)
	types := map[string]proto.Message{
		"ConnectRequest":      &pb.ConnectRequest{},
		"ConnectResponse":     &pb.ConnectResponse{},
		"ListActionsResponse": &pb.ListActionsResponse{},
	}
	for _, vector := range vectors.Frames {
		t.Run(vector.Name, func(t *testing.T) {
			want := proto.Clone(types[vector.Type])
			if err := protojson.Unmarshal(vector.Value, want); err != nil {
				t.Fatal(err)
			}
			frame := proto.Clone(types[vector.Type])
			if err := proto.Unmarshal(unhex(t, vector.Hex), frame); err != nil {
				t.Fatal(err)
			}
			if !proto.Equal(known(frame), want) {
				t.Errorf("%v, not %v", frame, want)
			}
			for _, each := range []proto.Message{frame, want} {
				raw, err := proto.Marshal(each)
				if err != nil || vector.Exact && hex.EncodeToString(raw) != vector.Hex {
					t.Errorf("%x, not %s (%v)", raw, vector.Hex, err)
				}
			}
		})
	}
	for name, text := range vectors.Broken {
		if err := proto.Unmarshal(unhex(t, text), &pb.ConnectResponse{}); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}

// known returns a message without the fields of later versions.
func known(message proto.Message) proto.Message {
	clean := proto.Clone(message)
	if frame, ok := clean.(*pb.ConnectResponse); ok {
		frame.ProtoReflect().SetUnknown(nil)
		for _, each := range frame.GetMessages() {
			each.ProtoReflect().SetUnknown(nil)
			if ping := each.GetPing(); ping != nil {
				ping.ProtoReflect().SetUnknown(nil)
			}
		}
	}
	return clean
}

func TestDealsAreJudgedAsEverywhere(t *testing.T) {
	var vectors struct {
		Deals []struct {
			Name          string
			MatchID       string `json:"match_id"`
			Seat          int
			Msgpack       string `json:"options_msgpack"`
			JSON          string `json:"options_json"`
			Algorithm     *string
			Commitment    *string
			BotSeed       uint64 `json:"bot_seed"`
			Sent          *string
			Seed, Salt    *string
			Nonces        []string
			Deal          Deal
			NonceIsWanted bool `json:"nonce_wanted"`
		}
	}
	golden(t, "wire/deals.json", &vectors)
	for _, vector := range vectors.Deals {
		for encoding, options := range map[Encoding]string{MessagePack: vector.Msgpack, JSON: vector.JSON} {
			t.Run(fmt.Sprintf("%s (%s)", vector.Name, encoding), func(t *testing.T) {
				deal := sealed{
					matchID: vector.MatchID,
					seat:    vector.Seat,
					options: NewPayload(unhex(t, options), encoding),
					botSeed: vector.BotSeed,
				}
				if vector.Sent != nil {
					deal.nonce = append([]byte{}, unhex(t, *vector.Sent)...)
				}
				if vector.Commitment != nil {
					deal.commitment = &pb.Commitment{
						Algorithm: *vector.Algorithm, Hash: unhex(t, *vector.Commitment),
					}
				}
				var reveal *pb.Reveal
				if vector.Seed != nil {
					reveal = &pb.Reveal{Seed: unhex(t, *vector.Seed), Salt: unhex(t, *vector.Salt)}
					for _, nonce := range vector.Nonces {
						reveal.Nonces = append(reveal.Nonces, unhex(t, nonce))
					}
				}
				if judged := deal.check(reveal); judged != vector.Deal {
					t.Errorf("%s, not %s", judged, vector.Deal)
				}
			})
		}
	}
}

func TestTheVectorsOfTheDealingPageHold(t *testing.T) {
	var vectors struct {
		Seed       string
		Commitment struct {
			MatchID             string `json:"match_id"`
			Options, Salt, Hash string
		}
		BotSeeds [][2]any `json:"bot_seeds"`
	}
	golden(t, "dealing.json", &vectors)
	seed, told := unhex(t, vectors.Seed), vectors.Commitment
	made := commitment(told.MatchID, unhex(t, told.Options), seed, unhex(t, told.Salt))
	if hex.EncodeToString(made) != told.Hash {
		t.Errorf("%x, not %s", made, told.Hash)
	}
	for _, pair := range vectors.BotSeeds {
		made := strconv.FormatUint(botSeed(seed, int(pair[0].(float64))), 10)
		if made != pair[1] {
			t.Errorf("seat %v: %s, not %s", pair[0], made, pair[1])
		}
	}
}
