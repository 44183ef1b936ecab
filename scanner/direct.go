package scanner

import (
	"errors"
	"net/url"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc/metadata"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/codec/grpcstatus"
	"github.com/tributary-db/tributary/codec/health"
	"github.com/tributary-db/tributary/codec/secure"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/pushdown/widen"
)

func checkAdvertise(cfg Config) error {
	if cfg.Advertise == "" {
		return nil
	}
	u, err := url.Parse(cfg.Advertise)
	if err != nil || u.Scheme != "grpc" && u.Scheme != "grpc+tls" || u.Hostname() == "" || u.Port() == "" {
		return status.New(status.InvalidArgument, "the advertised location %q must be grpc://host:port or grpc+tls://host:port, as clients reach the scanner", cfg.Advertise)
	}
	if cfg.Tickets == nil {
		return status.New(status.InvalidArgument, "a scanner that advertises itself to clients needs the secret that it shares with its coordinators: they seal the tickets with it")
	}
	return nil
}

const flightMethod = "/arrow.flight.protocol.FlightService/"

// Open is what those who do not know the secret may call: health checks, reads
// with a coordinator's ticket, and the handshake that some clients make first.
func (s *Scanner) Open() []secure.Open {
	open := []secure.Open{{Method: health.CheckMethod}}
	if s.cfg.Advertise == "" {
		return open
	}
	return append(open,
		secure.Open{Method: flightMethod + "Handshake"},
		secure.Open{Method: flightMethod + "DoGet", Request: func(request any) bool {
			t, _ := request.(*flight.Ticket)
			sealed, ok := codec.DirectPart(t.GetTicket())
			if !ok {
				return false
			}
			_, err := s.openDirect(sealed)
			return err == nil || status.CodeOf(err) != status.Unauthenticated
		}})
}

// Handshake answers clients that were given a user: they fail without a header
// to send with their reads. What authorises a read is its ticket.
func (s *service) Handshake(stream flight.FlightService_HandshakeServer) error {
	if s.cfg.Advertise == "" {
		return grpcstatus.ToGRPC(status.New(status.Unimplemented, "this scanner knows no users"))
	}
	if err := stream.SetHeader(metadata.Pairs("authorization", "Bearer ticket")); err != nil {
		return err
	}
	return stream.Send(&flight.HandshakeResponse{})
}

// openDirect reads a coordinator's ticket that this scanner can serve.
func (s *Scanner) openDirect(sealed []byte) (*codec.DirectRead, error) {
	if s.cfg.Advertise == "" {
		return nil, status.New(status.Unauthenticated, "this scanner serves no tickets of coordinators")
	}
	d, err := codec.OpenDirect(sealed, s.cfg.Tickets)
	switch {
	case err != nil:
		return nil, err
	case d.Scanner != s.cfg.Name:
		return nil, status.New(status.InvalidArgument, "the ticket is for scanner %q, this is %q", d.Scanner, s.cfg.Name)
	case d.Epoch != s.epoch:
		return nil, status.New(status.Aborted, "scanner %q has restarted since the statement was planned: execute it again", s.cfg.Name)
	}
	return d, nil
}

// direct serves a coordinator's ticket.
func (s *service) direct(sealed []byte, stream flight.FlightService_DoGetServer) (rows int64, err error) {
	d, err := s.openDirect(sealed)
	if err != nil {
		return 0, err
	}
	defer func() {
		event := s.cfg.Logger.Info()
		if err != nil && status.CodeOf(err) != status.Canceled {
			event = s.cfg.Logger.Warn().Err(err)
		}
		event.Str("user", d.User).Str("table", d.Spec.Table).Strs("partitions", d.Spec.Partitions).Int64("rows_scanned", rows).Msg("direct read")
	}()
	ctx, cancel := s.scanContext(stream.Context())
	defer cancel(nil)
	out := &directSink{read: d, scanner: s.Scanner}
	j, err := s.jobOf(ctx, d.Spec, d.SchemaVersion, d.TableVersion, out)
	if err != nil {
		return 0, err
	}
	if out.download, err = newDownload(stream, d.Schema, s.Scanner); err != nil {
		return 0, err
	}
	rows, err = j.run(ctx)
	if err == nil {
		err = s.compareVersion(ctx, j.table, d.TableVersion)
	}
	return rows, errors.Join(err, out.out.Close())
}

// directSink sends rows with the schema that a coordinator promised.
type directSink struct {
	*download
	read    *codec.DirectRead
	scanner *Scanner
}

func (p *directSink) send(batch arrow.RecordBatch, progress codec.Progress) error {
	columns := make([]arrow.Array, len(p.read.Columns))
	for i, at := range p.read.Columns {
		column, err := widen.Array(batch.Column(at), p.read.Schema.Field(i).Type, p.scanner.cfg.Alloc)
		if err != nil {
			return status.Wrap(status.OutOfRange, err, "column %q", p.read.Schema.Field(i).Name)
		}
		defer column.Release()
		columns[i] = column
	}
	out := array.NewRecordBatch(p.read.Schema, columns, batch.NumRows())
	defer out.Release()
	return p.download.send(out, progress)
}
