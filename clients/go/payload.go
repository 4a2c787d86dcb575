package fritillary

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"

	pb "fritillary.example/clients/go/api/v1"
)

// An Encoding is a way of writing options, observations and actions as bytes.
type Encoding int

const (
	// MessagePack is compact and quick; the default.
	MessagePack Encoding = iota
	// JSON is readable.
	JSON
)

// String returns the name of the encoding.
func (e Encoding) String() string {
	if e == JSON {
		return "json"
	}
	return "msgpack"
}

func (e Encoding) wire() pb.Encoding {
	if e == JSON {
		return pb.Encoding_ENCODING_JSON
	}
	return pb.Encoding_ENCODING_MSGPACK
}

func encodingOf(number pb.Encoding) (Encoding, error) {
	switch number {
	case pb.Encoding_ENCODING_MSGPACK:
		return MessagePack, nil
	case pb.Encoding_ENCODING_JSON:
		return JSON, nil
	default:
		return 0, newError(ErrProtocol, "encoding.unknown",
			"the server uses encoding %d, which this client does not know", number)
	}
}

// A Payload is a value as it travels: options, an observation, or an action. Its shape is
// in the JSON Schemas of the game. The zero Payload holds nothing.
type Payload struct {
	raw      []byte
	encoding Encoding
}

// NewPayload returns the payload of bytes in an encoding, which are not copied.
func NewPayload(raw []byte, encoding Encoding) Payload {
	return Payload{raw: raw, encoding: encoding}
}

// Bytes returns the payload as it arrived. Do not change them.
func (p Payload) Bytes() []byte { return p.raw }

// Encoding tells how the bytes are encoded.
func (p Payload) Encoding() Encoding { return p.encoding }

// IsZero tells whether there is nothing.
func (p Payload) IsZero() bool { return len(p.raw) == 0 }

// Value returns the payload as native values: nil, bool, int64, float64, string, []byte,
// []any, and map[string]any. The value belongs to the caller.
func (p Payload) Value() (any, error) {
	packed, err := p.msgpack()
	if err != nil {
		return nil, err
	}
	reader := bytes.NewReader(packed)
	value, err := readValue(msgpack.NewDecoder(reader), reader, 0)
	if err == nil && reader.Len() > 0 {
		err = errors.New("bytes are left over")
	}
	if err != nil {
		return nil, p.refused(err)
	}
	return value, nil
}

// Decode stores the payload in the value that into points to, by the rules and with the
// tags of [encoding/json], whatever the encoding. For a *any, *map[string]any or *[]any
// the result is that of [Payload.Value].
func (p Payload) Decode(into any) error {
	switch generic := into.(type) {
	case *any:
		return valueInto(p, generic)
	case *map[string]any:
		return valueInto(p, generic)
	case *[]any:
		return valueInto(p, generic)
	}
	text, err := p.json()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return typeError(into, err)
	}
	return nil
}

func valueInto[T any](p Payload, into *T) error {
	value, err := p.Value()
	if err != nil {
		return err
	}
	fitting, ok := value.(T)
	if !ok && value != nil {
		return typeError(into, fmt.Errorf("it is a %T", value))
	}
	*into = fitting
	return nil
}

func typeError(into any, err error) error {
	return &Error{
		Code:    "codec.type",
		Message: shown(fmt.Sprintf("a payload does not fit a %T: %v", into, err)),
		Err:     err,
		kind:    ErrBot,
	}
}

// String returns the payload as JSON text, for people; bytes are in base64.
func (p Payload) String() string {
	if p.IsZero() {
		return ""
	}
	text, err := p.json()
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (p Payload) refused(err error) error {
	return &Error{
		Code:    "codec." + p.encoding.String(),
		Message: shown(fmt.Sprintf("the server sent a payload that is not %s: %v", p.encoding, err)),
		Err:     err,
		kind:    ErrProtocol,
	}
}

// json returns the payload as JSON text.
func (p Payload) json() ([]byte, error) {
	if p.encoding == JSON {
		return p.raw, p.checkJSON()
	}
	value, err := p.Value()
	if err != nil {
		return nil, err
	}
	return encode(value, JSON)
}

func (p Payload) checkJSON() error {
	if !utf8.Valid(p.raw) {
		return p.refused(errors.New("it is not UTF-8"))
	}
	if !json.Valid(p.raw) {
		return p.refused(errors.New("it is no JSON text"))
	}
	return nil
}

// msgpack returns the payload in MessagePack, the keys of maps in the order in which they
// came: commitments are over such bytes.
func (p Payload) msgpack() ([]byte, error) {
	if p.encoding != JSON {
		return p.raw, nil
	}
	if err := p.checkJSON(); err != nil {
		return nil, err
	}
	packed, err := packJSON(p.raw)
	if err != nil {
		return nil, p.refused(err)
	}
	return packed, nil
}

// encode returns a value as bytes; keys of maps are sorted.
func encode(value any, encoding Encoding) ([]byte, error) {
	var raw bytes.Buffer
	native, err := isNative(value, 0)
	if err != nil {
		return nil, err
	}
	if encoding == MessagePack && native {
		encoder := msgpack.NewEncoder(&raw)
		encoder.SetSortMapKeys(true)
		encoder.UseCompactInts(true)
		err := encoder.Encode(value)
		return raw.Bytes(), err
	}
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false)
	err = encoder.Encode(value)
	text := bytes.TrimSuffix(raw.Bytes(), []byte("\n"))
	if err != nil || encoding == JSON {
		return text, err
	}
	return packJSON(text)
}

// isNative tells whether a value is of the types that [Payload.Value] returns. One that
// is nested too deep, as one that holds itself is, is an error.
func isNative(value any, depth int) (bool, error) {
	if depth > mostNested {
		return false, errTooDeep
	}
	switch value := value.(type) {
	case nil, bool, int, int64, float64, string, []byte:
		return true, nil
	case []any:
		for _, each := range value {
			if native, err := isNative(each, depth+1); !native {
				return false, err
			}
		}
		return true, nil
	case map[string]any:
		for _, each := range value {
			if native, err := isNative(each, depth+1); !native {
				return false, err
			}
		}
		return true, nil
	default:
		return false, nil
	}
}

// packJSON returns a JSON text, which is valid, as MessagePack.
func packJSON(text []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var packed bytes.Buffer
	err := repack(decoder, &packed, 0)
	return packed.Bytes(), err
}

// mostNested is how deep lists and maps may lie in each other: far deeper than the values
// of any game, and not so deep that reading them could exhaust the stack.
const mostNested = 512

var errTooDeep = errors.New("it is nested too deep")

// readValue reads one value strictly.
func readValue(decoder *msgpack.Decoder, rest *bytes.Reader, depth int) (any, error) {
	if depth > mostNested {
		return nil, errTooDeep
	}
	code, err := decoder.PeekCode()
	if err != nil {
		return nil, cutOff(err)
	}
	switch {
	case msgpcode.IsFixedMap(code), code == msgpcode.Map16, code == msgpcode.Map32:
		size, err := decoder.DecodeMapLen()
		if err != nil || size > rest.Len() {
			return nil, cutOff(err)
		}
		value := make(map[string]any, size)
		for range size {
			key, err := readText(decoder)
			if err != nil {
				return nil, err
			}
			if value[key], err = readValue(decoder, rest, depth+1); err != nil {
				return nil, err
			}
		}
		return value, nil
	case msgpcode.IsFixedArray(code), code == msgpcode.Array16, code == msgpcode.Array32:
		size, err := decoder.DecodeArrayLen()
		if err != nil || size > rest.Len() {
			return nil, cutOff(err)
		}
		value := make([]any, size)
		for at := range value {
			if value[at], err = readValue(decoder, rest, depth+1); err != nil {
				return nil, err
			}
		}
		return value, nil
	case msgpcode.IsString(code):
		return readText(decoder)
	case msgpcode.IsExt(code), code == 0xC1:
		return nil, fmt.Errorf("byte %#x starts nothing that is known", code)
	default:
		value, err := decoder.DecodeInterface()
		if err != nil {
			return nil, cutOff(err)
		}
		return widened(value)
	}
}

func readText(decoder *msgpack.Decoder) (string, error) {
	if code, err := decoder.PeekCode(); err == nil && !msgpcode.IsString(code) {
		return "", errors.New("a key is no text")
	}
	text, err := decoder.DecodeString()
	if err != nil {
		return "", cutOff(err)
	}
	if !utf8.ValidString(text) {
		return "", errors.New("a text is not UTF-8")
	}
	return text, nil
}

func cutOff(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// widened returns a number in the one type of its kind.
func widened(value any) (any, error) {
	switch number := value.(type) {
	case int8:
		return int64(number), nil
	case int16:
		return int64(number), nil
	case int32:
		return int64(number), nil
	case uint8:
		return int64(number), nil
	case uint16:
		return int64(number), nil
	case uint32:
		return int64(number), nil
	case uint64:
		if int64(number) < 0 {
			return nil, fmt.Errorf("the integer %d is too large", number)
		}
		return int64(number), nil
	case float32:
		return float64(number), nil
	default:
		return value, nil
	}
}

// repack writes the next value of a JSON text as MessagePack.
func repack(decoder *json.Decoder, packed *bytes.Buffer, depth int) error {
	if depth > mostNested {
		return errTooDeep
	}
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	encoder := msgpack.NewEncoder(packed)
	encoder.UseCompactInts(true)
	switch token := token.(type) {
	case json.Delim:
		count := 0
		var inside bytes.Buffer
		for ; decoder.More(); count++ {
			if err := repack(decoder, &inside, depth+1); err != nil {
				return err
			}
		}
		if _, err := decoder.Token(); err != nil {
			return err
		}
		if token == '{' {
			err = encoder.EncodeMapLen(count / 2)
		} else {
			err = encoder.EncodeArrayLen(count)
		}
		packed.Write(inside.Bytes())
		return err
	case json.Number:
		if number, err := strconv.ParseInt(token.String(), 10, 64); err == nil {
			return encoder.EncodeInt(number)
		}
		number, err := token.Float64()
		if err != nil {
			return err
		}
		return encoder.EncodeFloat64(number)
	default:
		return encoder.Encode(token)
	}
}
