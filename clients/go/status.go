package fritillary

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "fritillary.example/clients/go/api/v1"
)

// errorKey is trailing metadata that holds the server's own word.
const errorKey = "fritillary-error-bin"

// final are statuses that will not go away by trying again.
var final = map[codes.Code]string{
	codes.PermissionDenied:   "permission_denied",
	codes.InvalidArgument:    "invalid_argument",
	codes.FailedPrecondition: "failed_precondition",
	codes.NotFound:           "not_found",
	codes.OutOfRange:         "out_of_range",
}

// statusError returns the error of a failed RPC: the server's own word where it sent one.
func (e endpoint) statusError(err error, trailer metadata.MD) *Error {
	for _, raw := range trailer.Get(errorKey) {
		info := &pb.ErrorInfo{}
		if proto.Unmarshal([]byte(raw), info) == nil {
			return refusedError(info)
		}
	}
	told := status.Convert(err)
	text := shown(told.Message())
	switch code := told.Code(); {
	case code == codes.Unauthenticated:
		return newError(ErrRefused, "auth.unknown-token", "%s",
			or(text, "the server does not know this token"))
	case code == codes.Unimplemented:
		return newError(ErrRefused, "link.no-arena", "the server at %s is no arena of this version", e.address)
	case final[code] != "":
		return newError(ErrRefused, "status."+final[code], "%s", or(text, "the server refused"))
	default:
		return newError(ErrLink, "link.lost", "the link to %s was lost (%s: %s)", e.address, code, text)
	}
}

// unreachable returns the error of a connection that was never made.
func (e endpoint) unreachable(err, handshake error) *Error {
	var header tls.RecordHeaderError
	var distrusted *tls.CertificateVerificationError
	var name x509.HostnameError
	switch {
	case errors.As(handshake, &name):
		return newError(ErrLink, "link.certificate",
			"the certificate of the server at %s is not for that name (%s)", e.address, shown(name.Error()))
	case errors.As(handshake, &distrusted):
		return newError(ErrLink, "link.certificate",
			"the certificate of the server at %s is not trusted (%s); name its authority with CA or %s",
			e.address, shown(distrusted.Err.Error()), CAVariable)
	case errors.As(handshake, &header):
		return newError(ErrLink, "link.no-tls",
			"the server at %s speaks no TLS; leave out CA, Cert and Key (%s, %s), or say TLSOff",
			e.address, CAVariable, CertVariable)
	}
	words := lastWords(status.Convert(err).Message())
	for _, closed := range []string{"EOF", "reset by peer", "broken pipe", "remote error: tls", "closed"} {
		if strings.Contains(words, closed) {
			words = "it closed the connection; " + e.advice()
			break
		}
	}
	return newError(ErrLink, "link.unreachable", "no server answers at %s (%s)", e.address, words)
}

// lastWords returns why, from a message that tells the way to it.
func lastWords(message string) string {
	if _, after, found := strings.Cut(message, `desc = "`); found {
		message = strings.TrimSuffix(after, `"`)
	}
	if _, after, found := strings.Cut(message, "Error while dialing: "); found {
		message = after[strings.LastIndex(after, ": ")+1:]
	}
	return shown(strings.TrimSpace(message))
}
