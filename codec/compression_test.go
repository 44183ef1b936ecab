package codec

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"
	"unsafe"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/tributary-db/tributary/codec/pb"
	"github.com/tributary-db/tributary/pushdown/status"
)

// text is n bytes that compress well.
func text(n int) []byte { return bytes.Repeat([]byte("all work and no play "), n/21+1)[:n] }

// noise is n bytes that do not.
func noise(n int) []byte {
	r, out := rand.New(rand.NewPCG(1, 2)), make([]byte, n)
	for i := range out {
		out[i] = byte(r.Uint32())
	}
	return out
}

func bodyFrame(parts ...[]byte) *frame {
	f := newFrame()
	f.data.DataHeader = []byte("header")
	f.parts = parts
	return f
}

// arrived is a frame as its receiver has it.
func arrived(f *frame) *frame {
	g := newFrame()
	g.data.DataHeader = f.data.DataHeader
	for _, p := range f.parts {
		g.data.DataBody = append(g.data.DataBody, p...)
	}
	return g
}

func TestBodiesRoundTrip(t *testing.T) {
	t.Parallel()
	var d deflater
	var i inflater
	defer i.close()
	for _, how := range []Compression{CompressLZ4, CompressZstd} {
		for _, n := range []int{minBlock, 5000, 1 << 20, 3<<20 + 1} {
			f := bodyFrame(text(n)[:n/3], text(n)[n/3:])
			used, err := d.deflate(f, how)
			require.NoError(t, err)
			require.Equal(t, how, used)
			require.Less(t, f.bodyLen(), int64(n)/2)
			require.EqualValues(t, n+len("header"), f.cost(), "the credit is that of the whole body")
			g := arrived(f)
			require.NoError(t, i.inflate(g, how.toProto(), f.plain))
			require.Equal(t, text(n), g.data.DataBody)
			require.Equal(t, f.cost(), g.cost())
		}
	}
}

// TestTwoBodiesAtOnce: a body keeps its content while the next is compressed.
func TestTwoBodiesAtOnce(t *testing.T) {
	t.Parallel()
	for _, how := range []Compression{CompressLZ4, CompressZstd} {
		var d deflater
		first, second := bodyFrame(text(9000)), bodyFrame(bytes.Repeat([]byte{7}, 9000))
		_, err := d.deflate(first, how)
		require.NoError(t, err)
		sent := arrived(first)
		_, err = d.deflate(second, how)
		require.NoError(t, err)
		require.Equal(t, sent.data.DataBody, arrived(first).data.DataBody)
	}
}

// TestMemoryOfLargeBodies: what a large body took is not kept for the next one.
func TestMemoryOfLargeBodies(t *testing.T) {
	t.Parallel()
	for _, how := range []Compression{CompressLZ4, CompressZstd} {
		var d deflater
		for _, body := range [][]byte{text(keptBlock + 1), noise(keptBlock + 1)} {
			_, err := d.deflate(bodyFrame(body), how)
			require.NoError(t, err)
			require.LessOrEqual(t, max(cap(d.body), cap(d.out), cap(d.spare)), keptBlock, how)
		}
		_, err := d.deflate(bodyFrame(text(5000)), how)
		require.NoError(t, err)
		require.NotZero(t, cap(d.body), "that of small ones is")
	}
}

func TestBodiesThatStay(t *testing.T) {
	t.Parallel()
	var d deflater
	for name, body := range map[string][]byte{"short": text(minBlock - 1), "noise": noise(100_000), "empty": nil} {
		for _, how := range []Compression{CompressNone, CompressLZ4, CompressZstd} {
			f := bodyFrame(body)
			used, err := d.deflate(f, how)
			require.NoError(t, err)
			require.Equal(t, CompressNone, used, name)
			require.Zero(t, f.plain)
			require.Equal(t, body, arrived(f).data.DataBody)
		}
	}
}

// TestBombs: what was announced bounds the memory, and any other length is an
// error.
func TestBombs(t *testing.T) {
	t.Parallel()
	enc, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	var stream bytes.Buffer // a frame that does not say how long it is
	w, err := zstd.NewWriter(&stream)
	require.NoError(t, err)
	_, err = w.Write(make([]byte, 50<<20))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	var d deflater
	f := bodyFrame(make([]byte, 1<<20))
	_, err = d.deflate(f, CompressLZ4)
	require.NoError(t, err)
	lz4Block := arrived(f).data.DataBody
	zstdBlock := enc.EncodeAll(make([]byte, 1<<20), nil)
	for name, c := range map[string]struct {
		how    pb.Compression
		block  []byte
		length int64
	}{
		"longer, lz4":    {pb.Compression_COMPRESSION_LZ4, lz4Block, 1<<20 - 1},
		"shorter, lz4":   {pb.Compression_COMPRESSION_LZ4, lz4Block, 1<<20 + 1},
		"longer, zstd":   {pb.Compression_COMPRESSION_ZSTD, zstdBlock, 1<<20 - 1},
		"shorter, zstd":  {pb.Compression_COMPRESSION_ZSTD, zstdBlock, 1<<20 + 1},
		"two frames":     {pb.Compression_COMPRESSION_ZSTD, append(bytes.Clone(zstdBlock), zstdBlock...), 1 << 20},
		"of no length":   {pb.Compression_COMPRESSION_ZSTD, stream.Bytes(), 1000},
		"negative":       {pb.Compression_COMPRESSION_LZ4, lz4Block, -1},
		"zero":           {pb.Compression_COMPRESSION_LZ4, lz4Block, 0},
		"beyond limits":  {pb.Compression_COMPRESSION_LZ4, lz4Block, maxMessageBytes + 1},
		"of no kind":     {pb.Compression_COMPRESSION_AUTO, lz4Block, 1 << 20},
		"of the future":  {99, lz4Block, 1 << 20},
		"no block, lz4":  {pb.Compression_COMPRESSION_LZ4, []byte("garbage"), 1 << 20},
		"no block, zstd": {pb.Compression_COMPRESSION_ZSTD, []byte("garbage"), 1 << 20},
	} {
		var i inflater
		g := newFrame()
		g.data.DataBody = c.block
		require.Error(t, i.inflate(g, c.how, c.length), name)
		i.close()
	}
}

func FuzzInflate(f *testing.F) {
	var d deflater
	for _, how := range []Compression{CompressLZ4, CompressZstd} {
		fr := bodyFrame(text(5000))
		_, err := d.deflate(fr, how)
		require.NoError(f, err)
		f.Add(uint8(how), arrived(fr).data.DataBody, uint32(5000))
	}
	f.Fuzz(func(t *testing.T, how uint8, block []byte, length uint32) {
		var i inflater
		defer i.close()
		g := newFrame()
		g.data.DataBody = block
		if err := i.inflate(g, pb.Compression(how%5), int64(length%(1<<22))); err == nil {
			require.Len(t, g.data.DataBody, int(length%(1<<22)))
		}
	})
}

func TestCompressionNames(t *testing.T) {
	t.Parallel()
	for i, name := range Compressions() {
		c, err := ParseCompression(name)
		require.NoError(t, err)
		require.Equal(t, Compression(i), c)
		require.Equal(t, name, c.String())
		require.Equal(t, c, compressionFromProto(c.toProto()))
	}
	_, err := ParseCompression("rar")
	require.Equal(t, status.InvalidArgument, status.CodeOf(err))
	require.Equal(t, "unknown", Compression(9).String())
	for _, p := range []pb.Compression{pb.Compression_COMPRESSION_NONE, 17, -1} {
		require.Equal(t, CompressNone, compressionFromProto(p))
	}
}

// TestGoldenCompression: the fields that came with compression have files of
// their own; without it the messages are the older ones.
func TestGoldenCompression(t *testing.T) {
	t.Parallel()
	request := fullOpen(1)
	request.Compression = CompressAuto
	open, err := encodeOpen(request)
	require.NoError(t, err)
	label := &pb.ServerMessage{Message: &pb.ServerMessage_Batch{Batch: &pb.Batch{
		Mode: pb.Mode_MODE_FILTERED, Sequence: 7, RowsScanned: 99, Compression: CompressZstd.toProto(), BodyBytes: 1 << 20,
	}}}
	batch, err := encodeMessage(label)
	require.NoError(t, err)
	for name, data := range map[string][]byte{"open_compression": open, "batch_compression": batch} {
		requireGolden(t, name, data)
	}
	got, err := decodeOpen(open)
	require.NoError(t, err)
	require.Equal(t, CompressAuto, got.Compression)
	var m pb.ServerMessage
	require.NoError(t, decodeMessage(batch, &m))
	require.True(t, proto.Equal(label, &m))
}

// TestLinkDecides runs spans of a link with a rate, a price of compression in
// seconds a byte, and a ratio.
func TestLinkDecides(t *testing.T) {
	t.Parallel()
	const mb = 1 << 20
	for name, c := range map[string]struct {
		rate    float64 // bytes a second
		deflate float64 // bytes a second
		ratio   float64
		source  float64 // bytes a second that the scan yields
		want    Compression
	}{
		"loopback":                      {1500 * mb, 500 * mb, 3, 3000 * mb, CompressNone},
		"gigabit":                       {110 * mb, 500 * mb, 3, 3000 * mb, CompressLZ4},
		"gigabit and noise":             {110 * mb, 500 * mb, 1, 3000 * mb, CompressNone},
		"gigabit, processor too slow":   {110 * mb, 100 * mb, 3, 3000 * mb, CompressNone},
		"gigabit is more than the scan": {110 * mb, 500 * mb, 3, 50 * mb, CompressNone},
		"slow link":                     {10 * mb, 300 * mb, 4, 3000 * mb, CompressZstd},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var l link
			at, on := time.Unix(100, 0), map[Compression]int{}
			seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
			for range 40 * 4 {
				const raw = mb
				sent, deflating := float64(raw), time.Duration(0)
				if l.now != CompressNone {
					sent, deflating = raw/c.ratio, seconds(raw/c.deflate)
				}
				writing := seconds(sent / c.rate)
				at = at.Add(max(writing+deflating, seconds(raw/c.source)))
				l.batch(at, raw, int64(sent), writing, 0)
				on[l.now]++
			}
			require.Greater(t, on[c.want], 120, "%v", on)
			if c.want == CompressNone && c.rate > linkFast {
				require.Equal(t, 160, on[CompressNone], "never tried")
			}
		})
	}
}

// TestLinkWithoutCredit: waiting for the receiver says nothing about the link.
func TestLinkWithoutCredit(t *testing.T) {
	t.Parallel()
	var l link
	at := time.Unix(100, 0)
	for range 100 {
		at = at.Add(time.Second)
		l.batch(at, 1<<20, 1<<20, time.Millisecond, 998*time.Millisecond)
		require.Equal(t, CompressNone, l.now, "a gigabyte a second")
	}
}

// TestSessionIsSmall: a scan that compresses nothing does not pay for what could.
func TestSessionIsSmall(t *testing.T) {
	t.Parallel()
	require.Less(t, unsafe.Sizeof(Session{}), uintptr(4<<10))
}
