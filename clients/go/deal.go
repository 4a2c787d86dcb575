package fritillary

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"strconv"

	pb "fritillary.example/clients/go/api/v1"
)

// sealedDeal is the one algorithm of commitments that this client knows.
const sealedDeal = "fritillary-deal-1"

// secretBytes is the length of a seed, and of a salt.
const secretBytes = 32

// sealed is what a bot knows of a deal before the reveal.
type sealed struct {
	matchID    string
	seat       int
	options    Payload
	commitment *pb.Commitment
	botSeed    uint64
	// nonce that the bot sent; nil if that is not known.
	nonce []byte
}

func sealedBy(offer *pb.MatchOffer, options Payload, nonce []byte) sealed {
	return sealed{
		matchID:    offer.GetMatchId(),
		seat:       int(offer.GetSeat()),
		options:    options,
		commitment: offer.GetCommitment(),
		botSeed:    offer.GetBotSeed(),
		nonce:      nonce,
	}
}

// check tells whether the reveal is what was promised.
func (s sealed) check(reveal *pb.Reveal) Deal {
	if reveal == nil || s.commitment == nil {
		return DealNotRevealed
	}
	if s.opens(reveal) {
		return DealVerified
	}
	return DealBroken
}

func (s sealed) opens(reveal *pb.Reveal) bool {
	seed, salt := reveal.GetSeed(), reveal.GetSalt()
	if s.commitment.GetAlgorithm() != sealedDeal ||
		len(seed) != secretBytes || len(salt) != secretBytes {
		return false
	}
	options, err := s.options.msgpack()
	if err != nil {
		return false
	}
	if !bytes.Equal(commitment(s.matchID, options, seed, salt), s.commitment.GetHash()) {
		return false
	}
	if botSeed(seed, s.seat) != s.botSeed {
		return false
	}
	var used []byte
	if s.seat < len(reveal.GetNonces()) {
		used = reveal.GetNonces()[s.seat]
	}
	return s.nonce == nil || bytes.Equal(used, s.nonce)
}

// commitment returns the hash that binds a host to a deal.
func commitment(matchID string, options, seed, salt []byte) []byte {
	hashed := sha256.Sum256(options)
	var joined []byte
	for _, field := range [][]byte{
		[]byte(sealedDeal), []byte(matchID), hashed[:], seed, salt,
	} {
		joined = binary.BigEndian.AppendUint32(joined, uint32(len(field)))
		joined = append(joined, field...)
	}
	sum := sha256.Sum256(joined)
	return sum[:]
}

// botSeed returns the number below 2^53 that the bot of a seat is given.
func botSeed(seed []byte, seat int) uint64 {
	stream := hmac.New(sha256.New, seed)
	number := strconv.Itoa(seat)
	name := append([]byte("streams"), 0, 0, 0, 3)
	name = append(name, "bot"...)
	name = append(name, 'i', 0, 0, 0, byte(len(number)))
	name = append(name, number...)
	stream.Write(name)
	return binary.BigEndian.Uint64(stream.Sum(nil)[:8]) >> 11
}
