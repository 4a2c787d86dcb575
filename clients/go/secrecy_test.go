package fritillary

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/credentials"

	pb "fritillary.example/clients/go/api/v1"
)

// A certified is a certificate with its key, in memory and in files.
type certified struct {
	tls.Certificate
	leaf      *x509.Certificate
	cert, key string
}

// certify makes a certificate for an address, signed by an authority or by itself.
func certify(t *testing.T, name string, authority *certified, ips ...net.IP) *certified {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(time.Hour),
		IPAddresses:           ips,
		IsCA:                  authority == nil,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	parent, signer := template, key
	if authority != nil {
		parent, signer = authority.leaf, authority.PrivateKey.(*ecdsa.PrivateKey)
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	made := &certified{
		Certificate: tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key},
		leaf:        leaf,
		cert:        filepath.Join(t.TempDir(), name+".pem"),
		key:         filepath.Join(t.TempDir(), name+".key"),
	}
	for path, block := range map[string]*pem.Block{
		made.cert: {Type: "CERTIFICATE", Bytes: raw},
		made.key:  {Type: "EC PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return made
}

var loopback = net.IPv4(127, 0, 0, 1)

func TestAnEncryptedLink(t *testing.T) {
	authority := certify(t, "authority", nil)
	server := certify(t, "server", authority, loopback)
	bot := certify(t, "bot", authority)
	trusted := x509.NewCertPool()
	trusted.AddCert(authority.leaf)
	for name, serving := range map[string]*tls.Config{
		"any client": {Certificates: []tls.Certificate{server.Certificate}},
		"clients with a certificate": {
			Certificates: []tls.Certificate{server.Certificate},
			ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: trusted,
		},
	} {
		t.Run(name, func(t *testing.T) {
			arena := newSecretArena(t, credentials.NewTLS(serving))
			start(t, arena, Func(first), Config{CA: authority.cert, Cert: bot.cert, Key: bot.key})
			session, _ := arena.welcomed(t)
			session.send(offer("m"))
			expect[*pb.BotMessage_Accept](session)
		})
	}
}

func TestTheFilesForTLSComeFromTheEnvironment(t *testing.T) {
	authority := certify(t, "authority", nil)
	server := certify(t, "server", authority, loopback)
	arena := newSecretArena(t, credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{server.Certificate}, ClientAuth: tls.RequireAnyClientCert,
	}))
	t.Setenv(CAVariable, authority.cert)
	t.Setenv(CertVariable, server.cert)
	t.Setenv(KeyVariable, server.key)
	start(t, arena, Func(first), Config{})
	arena.welcomed(t)
}

func TestALinkThatCannotBeEncryptedSaysWhy(t *testing.T) {
	authority := certify(t, "authority", nil)
	stranger := certify(t, "stranger", nil)
	server := certify(t, "server", authority, loopback)
	elsewhere := certify(t, "elsewhere", authority, net.IPv4(10, 0, 0, 1))
	serving := func(own *certified, auth tls.ClientAuthType) credentials.TransportCredentials {
		trusted := x509.NewCertPool()
		trusted.AddCert(authority.leaf)
		return credentials.NewTLS(&tls.Config{
			Certificates: []tls.Certificate{own.Certificate}, ClientAuth: auth, ClientCAs: trusted,
		})
	}
	for name, failing := range map[string]struct {
		server credentials.TransportCredentials
		config Config
		code   string
		says   string
	}{
		"another authority": {
			serving(server, tls.NoClientCert), Config{CA: stranger.cert},
			"link.certificate", "name its authority with CA or FRITILLARY_CA",
		},
		"another name": {
			serving(elsewhere, tls.NoClientCert), Config{CA: authority.cert},
			"link.certificate", "is not for that name",
		},
		"a server without TLS": {
			nil, Config{CA: authority.cert},
			"link.no-tls", "speaks no TLS",
		},
		"a server with TLS": {
			serving(server, tls.NoClientCert), Config{},
			"link.unreachable", "if it speaks TLS, name its authority",
		},
		"no certificate of the bot": {
			serving(server, tls.RequireAndVerifyClientCert), Config{CA: authority.cert},
			"link.unreachable", "if it wants a client certificate, set FRITILLARY_CERT",
		},
		"a certificate that is not trusted": {
			serving(server, tls.RequireAndVerifyClientCert),
			Config{CA: authority.cert, Cert: stranger.cert, Key: stranger.key},
			"link.unreachable", "it may not trust the client certificate",
		},
	} {
		t.Run(name, func(t *testing.T) {
			arena := newSecretArena(t, failing.server)
			err := start(t, arena, Func(first), failing.config).result()
			if !errors.Is(err, ErrLink) || CodeOf(err) != failing.code || !strings.Contains(err.Error(), failing.says) {
				t.Error(err)
			}
		})
	}
}

func TestWhatIsWrongWithAConfigIsSaid(t *testing.T) {
	own := certify(t, "own", nil)
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []struct {
		code   string
		config Config
	}{
		{"usage.address", Config{Token: "t"}},
		{"usage.address", Config{Token: "t", Address: "host"}},
		{"usage.address", Config{Token: "t", Address: "host:http"}},
		{"usage.address", Config{Token: "t", Address: ":7447"}},
		{"usage.address", Config{Token: "t", Address: "127.0.0.1:0"}},
		{"usage.address", Config{Token: "t", Address: "127.0.0.1:65536"}},
		{"usage.address", Config{Token: "t", Address: "127.0.0.1:73087"}},
		{"usage.address", Config{Token: "t", Address: "::1:7551"}},
		{"usage.address", Config{Token: "t", Address: "https://host:1"}},
		{"usage.token", Config{Address: "host:1"}},
		{"usage.token", Config{Address: "host:1", Token: "two words"}},
		{"usage.token", Config{Address: "host:1", Token: "tökén"}},
		{"usage.capacity", Config{Address: "host:1", Token: "t", Capacity: -1}},
		{"usage.capacity", Config{Address: "host:1", Token: "t", Matches: -1}},
		{"usage.encoding", Config{Address: "host:1", Token: "t", Encoding: 9}},
		{"usage.legal", Config{Address: "host:1", Token: "t", Legal: 9}},
		{"usage.ca", Config{Address: "host:1", Token: "t", CA: "no/such/file"}},
		{"usage.tls", Config{Address: "host:1", Token: "t", CA: empty}},
		{"usage.tls", Config{Address: "host:1", Token: "t", Cert: own.cert}},
		{"usage.tls", Config{Address: "host:1", Token: "t", Cert: own.cert, Key: empty}},
		{"usage.tls", Config{Address: "host:1", Token: "t", CA: own.cert, TLS: TLSOff}},
	} {
		_, err := NewClient(Func(first), wrong.config)
		if !errors.Is(err, ErrUsage) || CodeOf(err) != wrong.code {
			t.Errorf("%+v: %v", wrong.config, err)
		}
	}
	if _, err := NewClient(nil, Config{Address: "host:1", Token: "t"}); CodeOf(err) != "usage.bot" {
		t.Error(err)
	}
}

func TestOnlyLinksToThisMachineArePlainByDefault(t *testing.T) {
	for address, plain := range map[string]bool{
		"127.0.0.1:1": true, "127.9.9.9:1": true, "[::1]:1": true, "localhost:1": true,
		"unix:/run/arena": true, "unix-abstract:arena": true,
		"10.0.0.1:1": false, "example.org:1": false, "[::2]:1": false, "127.example.org:1": false,
	} {
		for mode, want := range map[TLSMode]bool{TLSAuto: plain, TLSOff: true, TLSOn: false} {
			made, err := Config{Address: address, Token: " t\n", TLS: mode}.endpoint()
			if err != nil || (made.tls == nil) != want || made.token != "t" {
				t.Errorf("%s: %+v (%v)", address, made, err)
			}
		}
	}
}

func TestAServerBehindASocketOfTheFileSystem(t *testing.T) {
	path := filepath.Join(t.TempDir(), "arena")
	client, err := NewClient(Func(first), Config{Address: "unix:" + path, Token: "t"})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Run(context.Background()); CodeOf(err) != "link.unreachable" || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
}
