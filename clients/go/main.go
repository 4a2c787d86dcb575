package fritillary

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// Run plays until there is a reason to stop, and returns how many matches have ended. See
// [Client.Run].
func Run(ctx context.Context, bot Factory, config Config) (int, error) {
	client, err := NewClient(bot, config)
	if err != nil {
		return 0, err
	}
	err = client.Run(ctx)
	return client.Ended(), err
}

// Main plays as the whole of a program, and ends it: with status 0 when there was a good
// reason to stop, 1 after an error, which is told in one line, and 2 if the flags are
// wrong.
//
// The flags -address, -token, -ca, -cert, -key, -name, -capacity and -matches win over the
// Config, which wins over the environment. What happens is told on standard error unless
// there is a Logger. The first interrupt (Ctrl-C) or termination signal lets the matches in
// play come to their end, the second leaves at once.
func Main(bot Factory, config Config) {
	os.Exit(run(bot, config, os.Args, os.Stderr))
}

func run(bot Factory, config Config, args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintf(stderr, "usage: %s [flags]\nPlays matches at an arena.\n", args[0])
		flags.PrintDefaults()
	}
	for _, text := range []struct {
		into        *string
		name, usage string
	}{
		{&config.Address, "address", "`HOST:PORT` of the server (default $" + AddressVariable + ")"},
		{&config.Token, "token", "`token` of the bot (default $" + TokenVariable + ")"},
		{&config.CA, "ca", "`file` of certificates to trust, PEM (default $" + CAVariable + ")"},
		{&config.Cert, "cert", "`file` of a certificate to show to the server, PEM (default $" + CertVariable + ")"},
		{&config.Key, "key", "`file` of its private key, PEM (default $" + KeyVariable + ")"},
		{&config.Name, "name", "`name` to show"},
	} {
		// Not StringVar: usage would show the token of the program.
		flags.Func(text.name, text.usage, func(value string) error {
			*text.into = value
			return nil
		})
	}
	flags.IntVar(&config.Capacity, "capacity", config.Capacity, "most matches at a time")
	flags.IntVar(&config.Matches, "matches", config.Matches, "leave after so many matches")
	if err := flags.Parse(args[1:]); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "%s: what is %q?\n", args[0], flags.Arg(0))
		flags.Usage()
		return 2
	}
	if config.Logger == nil {
		config.Logger = slog.New(&lineHandler{out: stderr})
	}
	client, err := NewClient(bot, config)
	if err == nil {
		stop := client.onSignals(config.Logger)
		err = client.Run(context.Background())
		stop()
	}
	if err != nil {
		fmt.Fprintf(stderr, "error: %v\n", err)
		return 1
	}
	return 0
}

// onSignals lets signals end the client; the function returned ends that.
func (c *Client) onSignals(logger *slog.Logger) (stop func()) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		first := true
		for range signals {
			if first {
				logger.Info("stopping when the matches in play have ended; again to stop now")
				c.Drain()
			} else {
				c.Stop()
			}
			first = false
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
	}
}

// A lineHandler writes what is logged, and nothing else.
type lineHandler struct {
	mutex sync.Mutex
	out   io.Writer
}

// Enabled leaves out what is for debugging.
func (*lineHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo
}

// Handle writes the message.
func (h *lineHandler) Handle(_ context.Context, record slog.Record) error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	_, err := fmt.Fprintln(h.out, record.Message)
	return err
}

// WithAttrs ignores attributes: the client logs none.
func (h *lineHandler) WithAttrs([]slog.Attr) slog.Handler { return h }

// WithGroup ignores groups.
func (h *lineHandler) WithGroup(string) slog.Handler { return h }
