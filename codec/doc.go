// Package codec is the wire between a coordinator and its scanners: Arrow
// Flight carrying Arrow IPC bodies and protobuf control messages.
//
// A coordinator calls [Dial], asks for a [Hello] with [Client.Hello] and reads
// with [Client.Scan]. A scanner answers Hello with [DecodeHelloRequest] and
// [EncodeHello], and a DoExchange with [Accept].
//
// # One scan
//
// A scan is one DoExchange stream. Control messages travel in the
// app_metadata of FlightData as tributary.v1.ClientMessage and ServerMessage;
// the Arrow messages are those of an IPC stream.
//
//	coordinator                      scanner
//	Open{scan_id, spec, credit}  →
//	                             ←   Opened{spec_hash, mode, epoch} + schema
//	                             ←   Batch{mode, sequence} + record batch …
//	Credit, Limit, Filter        →
//	                             ←   Heartbeat while nothing else is said
//	                             ←   End{rows, batches, checksum}, or a gRPC error
//
// The scanner sends while it has credit; one batch may overdraw it, so that a
// batch larger than the window cannot deadlock. Both sides count a batch as the
// sum of its header, body and metadata lengths, dictionaries included.
//
// Bodies may be compressed, each as one block, when Open allows it; the label of
// the batch says how. They cost what they cost without: that is the memory that
// the receiver needs. With auto the scanner decides, by how long writing and credit
// take while the coordinator says, with its credit, that it is waiting for rows.
//
// Limit{0} asks for the End: nothing more is wanted, and what was sent is complete.
// Filter carries a condition that all rows still wanted fulfil; it is sent only to
// scanners with the capability dynamic_filter, which may ignore it.
//
// A stream is complete only after an End whose counts and checksum agree with
// what was received; everything else is an error. The checksum is the CRC-32C of
// header, metadata and body of every Arrow message after the first schema, in
// order. A stream may change its schema: raw rows and partial rows may mix, each
// batch says what it is.
//
// # Versions
//
// Protocol versions form a window, capabilities a named set; unknown fields are
// ignored, unknown members of a oneof are typed errors. The history:
//
//	1  the first protocol
package codec
