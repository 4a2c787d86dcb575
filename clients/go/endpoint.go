package fritillary

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

// Environment variables that stand in for a [Config].
const (
	AddressVariable = "FRITILLARY_ADDRESS"
	TokenVariable   = "FRITILLARY_TOKEN"
	CAVariable      = "FRITILLARY_CA"
	CertVariable    = "FRITILLARY_CERT"
	KeyVariable     = "FRITILLARY_KEY"
)

const (
	// The figures of the protocol.
	http2Interval = 30 * time.Second
	http2Timeout  = 10 * time.Second

	// mostReceived: a frame of the server is no longer than this.
	mostReceived = 64 << 20
	mostSent     = 1<<31 - 1
)

// An endpoint is a server, with all that it takes to be let in.
type endpoint struct {
	address string
	token   string
	// tls is nil for a plain link.
	tls *tls.Config
}

func (c Config) endpoint() (endpoint, error) {
	address := or(c.Address, os.Getenv(AddressVariable))
	token := strings.TrimSpace(or(c.Token, os.Getenv(TokenVariable)))
	if err := checkAddress(address); err != nil {
		return endpoint{}, err
	}
	if token == "" {
		return endpoint{}, usageError("token", "there is no token; set %s or Config.Token", TokenVariable)
	}
	for _, char := range token {
		if char <= ' ' || char >= 0x7F {
			return endpoint{}, usageError("token", "the token holds characters that no token has")
		}
	}
	server := endpoint{address: address, token: token}
	if c.TLS == TLSOff {
		if c.CA != "" || c.Cert != "" || c.Key != "" {
			return server, usageError("tls", "CA, Cert and Key are for TLS; leave them out, or TLSOff")
		}
		return server, nil
	}
	c.CA = or(c.CA, os.Getenv(CAVariable))
	c.Cert = or(c.Cert, os.Getenv(CertVariable))
	c.Key = or(c.Key, os.Getenv(KeyVariable))
	if c.TLS == TLSOn || c.CA != "" || c.Cert != "" || c.Key != "" || !isLocal(address) {
		var err error
		server.tls, err = c.tlsConfig()
		return server, err
	}
	return server, nil
}

// advice tells what it may be if the server closes the connection and says nothing.
func (e endpoint) advice() string {
	switch {
	case e.tls == nil:
		return "if it speaks TLS, name its authority with CA or " + CAVariable
	case len(e.tls.Certificates) == 0:
		return "if it wants a client certificate, set " + CertVariable + " and " + KeyVariable
	default:
		return "it may not trust the client certificate"
	}
}

func checkAddress(address string) error {
	if address == "" {
		return usageError("address", "no server is named; set %s or Config.Address to HOST:PORT", AddressVariable)
	}
	if isSocket(address) {
		return nil
	}
	host, port, err := net.SplitHostPort(address)
	var number uint64
	if err == nil {
		number, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil || number == 0 || host == "" || strings.Contains(address, "/") {
		return usageError("address", "address %q must be of the form HOST:PORT", shown(address))
	}
	return nil
}

func isSocket(address string) bool {
	return strings.HasPrefix(address, "unix:") || strings.HasPrefix(address, "unix-abstract:")
}

// isLocal tells whether a server is on this machine for sure.
func isLocal(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	ip, err := netip.ParseAddr(host)
	return isSocket(address) || host == "localhost" || err == nil && ip.IsLoopback()
}

func (c Config) tlsConfig() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CA != "" {
		pem, err := os.ReadFile(c.CA)
		if err != nil {
			return nil, usageError("ca", "certificates %s: %s", c.CA, reason(err))
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, usageError("tls", "certificates %s: there is none in it", c.CA)
		}
	}
	if (c.Cert == "") != (c.Key == "") {
		return nil, usageError("tls", "Cert (%s) and Key (%s) go together; one is missing", CertVariable, KeyVariable)
	}
	if c.Cert != "" {
		own, err := tls.LoadX509KeyPair(c.Cert, c.Key)
		if err != nil {
			return nil, usageError("tls", "certificate %s, key %s: %s", c.Cert, c.Key, reason(err))
		}
		config.Certificates = []tls.Certificate{own}
	}
	return config, nil
}

func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return shown(err.Error())
}

// dial returns a connection, which is made when it is first used, and what becomes of its
// TLS handshake.
func (e endpoint) dial() (*grpc.ClientConn, *handshake, error) {
	secrecy := insecure.NewCredentials()
	if e.tls != nil {
		secrecy = credentials.NewTLS(e.tls)
	}
	watched := &handshake{TransportCredentials: secrecy, failure: &failure{}}
	conn, err := grpc.NewClient(
		e.address,
		grpc.WithTransportCredentials(watched),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: http2Interval, Timeout: http2Timeout}),
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(mostReceived), grpc.MaxCallSendMsgSize(mostSent)),
		grpc.WithDisableRetry(),
		grpc.WithDisableServiceConfig(),
		grpc.WithIdleTimeout(0),
		grpc.WithUserAgent("fritillary-go/"+Version),
	)
	return conn, watched, err
}

// A handshake notes why it failed: gRPC tells that in words alone.
type handshake struct {
	credentials.TransportCredentials
	failure *failure
}

type failure struct {
	mutex sync.Mutex
	err   error
}

// ClientHandshake is the usual one.
func (h *handshake) ClientHandshake(ctx context.Context, name string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := h.TransportCredentials.ClientHandshake(ctx, name, raw)
	h.failure.mutex.Lock()
	h.failure.err = err
	h.failure.mutex.Unlock()
	return conn, info, err
}

// Clone returns one that notes in the same place.
func (h *handshake) Clone() credentials.TransportCredentials {
	return &handshake{TransportCredentials: h.TransportCredentials.Clone(), failure: h.failure}
}

func (h *handshake) err() error {
	h.failure.mutex.Lock()
	defer h.failure.mutex.Unlock()
	return h.failure.err
}
