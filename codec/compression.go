package codec

import (
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/tributary-db/tributary/codec/pb"
	"github.com/tributary-db/tributary/pushdown/status"
)

// Compression is how the bodies of record batches travel: each as one block.
type Compression uint8

// The compressions.
const (
	// CompressNone sends bodies as they are.
	CompressNone Compression = iota
	// CompressLZ4 is LZ4's block format: fast.
	CompressLZ4
	// CompressZstd is Zstandard: smaller.
	CompressZstd
	// CompressAuto lets the sender choose for each batch by what the link carries.
	CompressAuto
)

// Compressions are the names that ParseCompression knows.
func Compressions() []string { return []string{"none", "lz4", "zstd", "auto"} }

// String returns the name.
func (c Compression) String() string {
	if names := Compressions(); int(c) < len(names) {
		return names[c]
	}
	return "unknown"
}

// ParseCompression reads a name.
func ParseCompression(name string) (Compression, error) {
	for i, n := range Compressions() {
		if strings.EqualFold(n, name) {
			return Compression(i), nil
		}
	}
	return CompressNone, status.New(status.InvalidArgument, "there is no compression %q; the compressions are %s", name, strings.Join(Compressions(), ", "))
}

func (c Compression) toProto() pb.Compression {
	if c == CompressNone {
		return pb.Compression_COMPRESSION_UNSPECIFIED
	}
	return pb.Compression(c) + pb.Compression_COMPRESSION_NONE
}

// compressionFromProto reads what a peer allows. What this version does not know
// is none: the peer must understand uncompressed bodies anyway.
func compressionFromProto(p pb.Compression) Compression {
	if p <= pb.Compression_COMPRESSION_NONE || p > pb.Compression_COMPRESSION_AUTO {
		return CompressNone
	}
	return Compression(p - pb.Compression_COMPRESSION_NONE)
}

const (
	// minBlock is the smallest body that is worth compressing.
	minBlock = 1 << 10
	// maxAutoBlock is the largest body that is compressed without being asked for:
	// it takes the memory of two more.
	maxAutoBlock = 16 << 20
	// keptBlock is the largest memory that is kept for the next body.
	keptBlock = 4 << 20
)

// deflater compresses the bodies of one stream. Its memory is used again for the
// next body but one: while one body is being compressed another is being sent.
type deflater struct {
	// lz4 is nil until it is needed: its table of 128 KiB would be most of what a
	// small scan allocates.
	lz4   *lz4.Compressor
	zstd  *zstd.Encoder
	body  []byte
	out   []byte
	spare []byte
}

// deflate compresses the body of f, unless that hardly makes it smaller, and
// returns how.
func (d *deflater) deflate(f *frame, how Compression) (Compression, error) {
	n := int(f.bodyLen())
	if how == CompressNone || n < minBlock {
		return CompressNone, nil
	}
	d.out, d.spare = d.spare, d.out
	d.body = slices.Grow(d.body[:0], n)
	for _, p := range f.parts {
		d.body = append(d.body, p...)
	}
	err := d.block(how)
	if cap(d.body) > keptBlock {
		d.body = nil
	}
	if err != nil {
		return CompressNone, status.Wrap(status.Internal, err, "cannot compress a body of %d bytes", n)
	}
	out := d.out
	if cap(out) > keptBlock {
		d.out = nil
	}
	if len(out) == 0 || len(out) > n-n/16 {
		return CompressNone, nil
	}
	f.plain = int64(n)
	f.parts = [][]byte{out}
	if f.keep != nil {
		f.keep.release()
		f.keep = nil
	}
	return how, nil
}

// block compresses body into out, which stays empty when that cannot be done.
func (d *deflater) block(how Compression) (err error) {
	if how == CompressZstd {
		if d.zstd == nil {
			d.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
			if err != nil {
				return err
			}
		}
		d.out = d.zstd.EncodeAll(d.body, d.out[:0])
		return nil
	}
	if d.lz4 == nil {
		d.lz4 = &lz4.Compressor{}
	}
	if most := lz4.CompressBlockBound(len(d.body)); cap(d.out) < most {
		d.out = make([]byte, most)
	}
	d.out = d.out[:cap(d.out)]
	n, err := d.lz4.CompressBlock(d.body, d.out)
	d.out = d.out[:n]
	return err
}

// inflater undoes deflater.
type inflater struct{ zstd *zstd.Decoder }

// inflate replaces the body of f by what it was before it was compressed. A body
// that does not have exactly the length that was announced is an error, found
// without more memory than that.
func (i *inflater) inflate(f *frame, how pb.Compression, length int64) error {
	if length <= 0 || length > maxMessageBytes {
		return status.New(status.ResourceExhausted, "a body of %d bytes exceeds the limit of %d bytes for a message", length, maxMessageBytes)
	}
	body := make([]byte, length)
	n, err := 0, error(nil)
	switch how {
	case pb.Compression_COMPRESSION_LZ4:
		n, err = lz4.UncompressBlock(f.data.DataBody, body)
	case pb.Compression_COMPRESSION_ZSTD:
		n, err = i.frame(f.data.DataBody, body)
	default:
		return status.New(status.Unimplemented, "bodies of compression %d are unknown to this version", how)
	}
	if err != nil || int64(n) != length {
		return status.New(status.DataLoss, "a compressed body of %d bytes is not one of %d bytes (%d, %v)", len(f.data.DataBody), length, n, err)
	}
	f.data.DataBody, f.plain = body, length
	return nil
}

// frame decodes one frame into body. The decoder appends to it and is told not to
// go beyond.
func (i *inflater) frame(block, body []byte) (n int, err error) {
	if i.zstd == nil {
		i.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxMessageBytes))
		if err != nil {
			return 0, err
		}
	}
	var h zstd.Header
	if err := h.Decode(block); err != nil {
		return 0, err
	}
	if !h.HasFCS || h.FrameContentSize != uint64(len(body)) {
		return 0, status.New(status.DataLoss, "it announces %d bytes", h.FrameContentSize)
	}
	out, err := i.zstd.DecodeAll(block, body[:0])
	if err == nil && len(out) > 0 && &out[0] != &body[0] {
		return len(out), status.New(status.DataLoss, "it is longer than announced")
	}
	return len(out), err
}

func (i *inflater) close() {
	if i.zstd != nil {
		i.zstd.Close()
	}
}
