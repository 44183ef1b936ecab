package codec

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tributary-db/tributary/codec/secure"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// DirectRead is what a client may read of a scanner without a coordinator in
// between: rows of one table, at one version, with the schema that the
// coordinator promised.
type DirectRead struct {
	// User is for whom the coordinator made it.
	User string
	// Scanner and its life, Epoch, are who serves it.
	Scanner, Epoch string
	// Spec yields rows; it has the conditions of the user's access rules.
	Spec pushdown.Spec
	// TableVersion and SchemaVersion are compared as in a scan.
	TableVersion, SchemaVersion string
	// Columns are positions in the specification's output, one for each field
	// of Schema, whose types hold the values of those columns.
	Columns []int
	Schema  *arrow.Schema
}

const (
	directPurpose = "direct read"
	// directField is the number of the field of a ticket that scanners read. A
	// ticket is a protobuf message, of which a coordinator ignores the field.
	directField protowire.Number = 1815
)

// directText is a DirectRead as it travels.
type directText struct {
	User          string `json:"user"`
	Scanner       string `json:"scanner"`
	Epoch         string `json:"epoch"`
	Spec          []byte `json:"spec"`
	TableVersion  string `json:"table_version"`
	SchemaVersion string `json:"schema_version"`
	Columns       []int  `json:"columns"`
	Schema        []byte `json:"schema"`
}

// EncodeDirect writes a direct read, for AppendDirect.
func EncodeDirect(d *DirectRead) ([]byte, error) {
	spec, err := MarshalSpec(d.Spec)
	if err != nil {
		return nil, err
	}
	text := directText{
		Spec: spec, User: d.User, Scanner: d.Scanner, Epoch: d.Epoch, TableVersion: d.TableVersion, SchemaVersion: d.SchemaVersion,
		Columns: d.Columns, Schema: encodeSchema(d.Schema),
	}
	body, err := json.Marshal(text)
	return body, status.Wrap(status.Internal, err, "cannot encode a direct read")
}

// AppendDirect adds what EncodeDirect wrote to a ticket, which is a protobuf
// message; scanners serve it until the given second.
func AppendDirect(ticket, body []byte, until time.Time, secret *secure.Secret) ([]byte, error) {
	body = append(protowire.AppendVarint(nil, uint64(until.Unix())), body...)
	sealed, err := secret.Seal(directPurpose, body)
	if err != nil {
		return nil, err
	}
	ticket = protowire.AppendTag(bytes.Clone(ticket), directField, protowire.BytesType)
	return protowire.AppendBytes(ticket, sealed), nil
}

// DirectPart is the sealed part of a ticket that AppendDirect made; ok is false
// for any other ticket.
func DirectPart(ticket []byte) (sealed []byte, ok bool) {
	for len(ticket) > 0 {
		number, kind, n := protowire.ConsumeTag(ticket)
		if n < 0 {
			return nil, false
		}
		size := protowire.ConsumeFieldValue(number, kind, ticket[n:])
		if size < 0 {
			return nil, false
		}
		if number == directField && kind == protowire.BytesType {
			sealed, _ = protowire.ConsumeBytes(ticket[n:])
		}
		ticket = ticket[n+size:]
	}
	return sealed, sealed != nil
}

// OpenDirect reads the sealed part of a ticket. It is refused when it was made
// with another secret, was changed, or has expired.
func OpenDirect(sealed []byte, secret *secure.Secret) (*DirectRead, error) {
	body, err := secret.Unseal(directPurpose, sealed)
	if err != nil {
		return nil, status.Wrap(status.Unauthenticated, err, "the ticket")
	}
	second, n := protowire.ConsumeVarint(body)
	var text directText
	if n < 0 || json.Unmarshal(body[n:], &text) != nil {
		return nil, status.New(status.InvalidArgument, "the ticket is of another version")
	}
	if until := time.Unix(int64(second), 0); !time.Now().Before(until) {
		return nil, status.New(status.NotFound, "the ticket has expired (at %s); execute the statement again", until.UTC().Format(time.RFC3339))
	}
	d := &DirectRead{
		User: text.User, Scanner: text.Scanner, Epoch: text.Epoch, TableVersion: text.TableVersion, SchemaVersion: text.SchemaVersion,
		Columns: text.Columns,
	}
	if d.Schema, err = decodeSchema(text.Schema); err != nil {
		return nil, err
	}
	if d.Spec, err = UnmarshalSpec(text.Spec); err != nil {
		return nil, err
	}
	return d, d.check()
}

// check refuses what is no read of rows.
func (d *DirectRead) check() error {
	s := &d.Spec
	columns := len(s.Columns)
	bad := d.TableVersion == "" || s.Grouped() || s.Limit != pushdown.NoLimit || len(s.OrderBy) > 0 || d.Schema == nil || len(d.Columns) != d.Schema.NumFields()
	for _, c := range d.Columns {
		bad = bad || c < 0 || c >= columns
	}
	if bad {
		return status.New(status.InvalidArgument, "the ticket is no read of rows")
	}
	return nil
}
