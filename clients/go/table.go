package fritillary

import (
	"bytes"
	"context"
	"sync"

	pb "fritillary.example/clients/go/api/v1"
)

// tablePage is how many entries of an action table are asked for at a time: a page stays
// far below the usual limit of 4 MB.
const tablePage = 5_000

// A table holds all actions that a seat can ever take, by index.
type table struct {
	actions []*LegalAction
}

// A lister asks the server for one page of a table.
type lister func(ctx context.Context, request *pb.ListActionsRequest) (*pb.ListActionsResponse, error)

// tables are those met so far, by hash.
type tables struct {
	mutex sync.Mutex
	known map[string]*fetching
}

// fetching is a table that is there, or on its way.
type fetching struct {
	mutex sync.Mutex
	table *table
}

// get returns the table of an offer, from the server if it is a new one. Those who want
// the same wait for the first of them.
func (t *tables) get(ctx context.Context, offer *pb.MatchOffer, encoding Encoding, list lister) (*table, error) {
	t.mutex.Lock()
	if t.known == nil {
		t.known = map[string]*fetching{}
	}
	key := string(offer.GetTable().GetHash())
	entry := t.known[key]
	if entry == nil {
		entry = &fetching{}
		t.known[key] = entry
	}
	t.mutex.Unlock()

	entry.mutex.Lock()
	defer entry.mutex.Unlock()
	if entry.table != nil {
		return entry.table, nil
	}
	fetched, err := fetchTable(ctx, offer, encoding, list)
	if err == nil {
		entry.table = fetched
	}
	return fetched, err
}

func fetchTable(ctx context.Context, offer *pb.MatchOffer, encoding Encoding, list lister) (*table, error) {
	seats := uint32(len(offer.GetSeats()))
	request := &pb.ListActionsRequest{
		Game:     fullID(offer.GetGame()),
		Seats:    &seats,
		PageSize: tablePage,
	}
	if len(offer.GetOptions()) > 0 {
		request.Options = &pb.OptionsChoice{Choice: &pb.OptionsChoice_Options{
			Options: &pb.Payload{Encoding: encoding.wire(), Data: offer.GetOptions()},
		}}
	}
	fetched := &table{}
	for {
		page, err := list(ctx, request)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(page.GetTable().GetHash(), offer.GetTable().GetHash()) {
			return nil, newError(ErrProtocol, "game.other-table",
				"the catalog's action table is not the one of the offer")
		}
		for _, entry := range page.GetActions() {
			if int(entry.GetIndex()) != len(fetched.actions) {
				return nil, newError(ErrProtocol, "game.other-table",
					"the catalog gave index %d in place of %d", entry.GetIndex(), len(fetched.actions))
			}
			fetched.actions = append(fetched.actions, &LegalAction{
				Index:  int(entry.GetIndex()),
				Text:   entry.GetText(),
				Action: NewPayload(entry.GetMsgpack(), MessagePack),
			})
		}
		if page.GetNextPageToken() == "" || len(page.GetActions()) == 0 {
			break
		}
		request.PageToken = page.GetNextPageToken()
	}
	if size := int(offer.GetTable().GetSize()); len(fetched.actions) != size {
		return nil, newError(ErrProtocol, "game.other-table",
			"the catalog gave %d entries of an action table of %d", len(fetched.actions), size)
	}
	return fetched, nil
}
