package fritillary

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	pb "fritillary.example/clients/go/api/v1"
)

// MaxNonceBytes is the most that a nonce has, see [Config.Nonce].
const MaxNonceBytes = 32

// A LegalForm is how a bot is told its legal actions.
type LegalForm int

const (
	// LegalPacked: as indices, which the client looks up in the action table of the game;
	// that is fetched once. The default.
	LegalPacked LegalForm = iota
	// LegalExpanded: written out in every request.
	LegalExpanded
	// LegalIndices: as indices alone; nothing is fetched.
	LegalIndices
)

// An ErrorPolicy is what happens when a bot fails.
type ErrorPolicy int

const (
	// StopOnError says goodbye to the server and ends with the error. The default.
	StopOnError ErrorPolicy = iota
	// ResignOnError gives up that match and goes on with the others.
	ResignOnError
)

// A TLSMode is whether the link is encrypted.
type TLSMode int

const (
	// TLSAuto: unless the server is on this machine; there too if files for TLS are named.
	// The default.
	TLSAuto TLSMode = iota
	// TLSOn: always.
	TLSOn
	// TLSOff: never.
	TLSOff
)

// A Session is what the server said when it let the bot in.
type Session struct {
	// Bot is the name for which the token was issued.
	Bot string
	// Resumed tells whether an older session goes on.
	Resumed bool
	// Server is the version of the server's software.
	Server string
}

// A Config says who a bot is and how it is connected. The zero Config takes address and
// token from the environment, and plays any game, one match at a time.
type Config struct {
	// Address of the server, HOST:PORT or unix:PATH; empty: $FRITILLARY_ADDRESS.
	Address string
	// Token of the bot; empty: $FRITILLARY_TOKEN.
	Token string
	// TLS tells whether to encrypt.
	TLS TLSMode
	// CA is a file of certificates to trust, PEM; empty: $FRITILLARY_CA, else the usual
	// ones.
	CA string
	// Cert and Key are files of a certificate to show to the server and of its private
	// key, PEM; empty: $FRITILLARY_CERT and $FRITILLARY_KEY, else none.
	Cert, Key string

	// Name to show; empty: that of the program.
	Name string
	// Version and Author to show.
	Version, Author string
	// Build tells two builds of the bot apart: a session is only resumed by the same.
	// Empty: a hash of the program.
	Build string

	// Games that the bot can play, see [Games]; empty: any. Others are declined.
	Games []GameSupport
	// Capacity is the most matches at a time; 0: 1.
	Capacity int
	// Matches after which the bot leaves; 0: it stays. With a capacity above 1 a few more
	// may be played, since a seat that was offered is not refused.
	Matches int
	// Encoding of options, observations and actions.
	Encoding Encoding
	// Legal is how the bot is told its legal actions.
	Legal LegalForm
	// OnError is what happens when the bot fails.
	OnError ErrorPolicy
	// Nonce returns the random bytes, at most [MaxNonceBytes], that are mixed into the deal of a match
	// where that is wanted; nil: 16 random bytes.
	Nonce func(info *MatchInfo) []byte

	// Wait is how long to try again if no server answers at the start.
	Wait time.Duration
	// GiveUpAfter is how long to try again after a lost link; 0: a minute, less: not at
	// all.
	GiveUpAfter time.Duration

	// Logger is told what happens; nil: nobody is.
	Logger *slog.Logger
	// OnConnect is called when the server has let the bot in, the first time and after
	// each lost link. Like OnLost it must return at once.
	OnConnect func(session Session)
	// OnLost is called each time a link is lost on which the bot had been let in, before
	// it is tried again.
	OnLost func(err error)
}

// Games returns what stands for games given by their ids, with `+variant` where wanted.
func Games(ids ...string) []GameSupport {
	var games []GameSupport
	for _, id := range ids {
		parts := strings.Split(id, "+")
		games = append(games, GameSupport{Game: parts[0], Variants: parts[1:]})
	}
	return games
}

// setup is a Config that was checked, with the defaults filled in.
type setup struct {
	Config
	endpoint endpoint
	info     *pb.PlayerInfo
	games    []*pb.GameSupport
}

func (c Config) resolve(bot Factory) (*setup, error) {
	if bot == nil {
		return nil, usageError("bot", "there is no bot; give Func, Shared or another Factory")
	}
	server, err := c.endpoint()
	if err != nil {
		return nil, err
	}
	if c.Capacity < 0 || c.Matches < 0 {
		return nil, usageError("capacity", "capacity and matches must not be below 0")
	}
	if c.Encoding != MessagePack && c.Encoding != JSON {
		return nil, usageError("encoding", "no encoding %d", c.Encoding)
	}
	if c.Legal < LegalPacked || c.Legal > LegalIndices {
		return nil, usageError("legal", "no legal form %d", c.Legal)
	}
	if c.Capacity == 0 {
		c.Capacity = 1
	}
	if c.GiveUpAfter == 0 {
		c.GiveUpAfter = time.Minute
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelError + 1}))
	}
	program, _ := os.Executable()
	if c.Name == "" {
		c.Name = or(strings.TrimSuffix(filepath.Base(program), ".exe"), "bot")
	}
	if c.Build == "" {
		c.Build = buildOf(program)
	}
	made := &setup{
		Config:   c,
		endpoint: server,
		info: &pb.PlayerInfo{
			Name:    cutRunes(c.Name, 64),
			Version: cutRunes(c.Version, 64),
			Build:   cutRunes(c.Build, 128),
			Author:  cutRunes(c.Author, 128),
		},
	}
	for _, game := range c.Games {
		support := &pb.GameSupport{
			Game: game.Game, Variants: game.Variants, AnyVariant: game.AnyVariant,
		}
		for _, version := range game.RulesVersions {
			support.RulesVersions = append(support.RulesVersions, uint32(version))
		}
		made.games = append(made.games, support)
	}
	return made, nil
}

// consider compares a game that is offered with those that Hello has announced; its error
// is the reason to decline.
func (s *setup) consider(game *pb.GameRef) error {
	if len(s.games) == 0 || slices.ContainsFunc(s.games, func(support *pb.GameSupport) bool {
		return covers(support, game)
	}) {
		return nil
	}
	return Decline("game.not-announced", shown(fmt.Sprintf(
		"the bot has not announced %s in version %d of its rules", fullID(game), game.GetRulesVersion())))
}

func covers(support *pb.GameSupport, game *pb.GameRef) bool {
	if plainID(support.GetGame()) != plainID(game.GetId()) {
		return false
	}
	if versions := support.GetRulesVersions(); len(versions) > 0 && !slices.Contains(versions, game.GetRulesVersion()) {
		return false
	}
	return support.GetAnyVariant() || !slices.ContainsFunc(game.GetVariants(), func(variant *pb.VariantRef) bool {
		return !slices.Contains(support.GetVariants(), variant.GetId())
	})
}

// plainID returns the id of a game without the distribution that it comes from.
func plainID(id string) string {
	return id[strings.LastIndex(id, ":")+1:]
}

func (s *setup) legalForm() pb.LegalForm {
	if s.Legal == LegalExpanded {
		return pb.LegalForm_LEGAL_FORM_EXPANDED
	}
	return pb.LegalForm_LEGAL_FORM_PACKED
}

// buildOf returns a hash of a program, empty where it cannot be read.
func buildOf(program string) string {
	file, err := os.Open(program)
	if err != nil {
		return ""
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return ""
	}
	return hex.EncodeToString(hash.Sum(nil))[:16]
}
