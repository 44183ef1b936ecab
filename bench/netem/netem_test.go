package netem

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo answers everything with itself.
func echo(t *testing.T) string {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = lis.Close() })
	go func() {
		for {
			c, err := lis.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, c)
				_ = c.Close()
			}()
		}
	}()
	return lis.Addr().String()
}

func through(t *testing.T, link Link) (*Proxy, net.Conn) {
	p, err := Listen(echo(t), link)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	c, err := net.Dial("tcp", p.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return p, c
}

// exchange sends n bytes and reads them again.
func exchange(t *testing.T, c net.Conn, n int) (time.Duration, error) {
	data := bytes.Repeat([]byte("0123456789abcdef"), n/16)
	begun := time.Now()
	go func() { _, _ = c.Write(data) }()
	got, err := io.ReadAll(io.LimitReader(c, int64(len(data))))
	if err == nil {
		require.Equal(t, data, got)
	}
	return time.Since(begun), err
}

func TestDelay(t *testing.T) {
	t.Parallel()
	_, c := through(t, Link{Delay: 30 * time.Millisecond})
	for range 3 {
		took, err := exchange(t, c, 16)
		require.NoError(t, err)
		require.GreaterOrEqual(t, took, 60*time.Millisecond)
	}
}

func TestBandwidth(t *testing.T) {
	t.Parallel()
	p, c := through(t, Link{BytesPerSecond: 4 << 20})
	took, err := exchange(t, c, 1<<20)
	require.NoError(t, err)
	require.GreaterOrEqual(t, took, 240*time.Millisecond)
	// The last bytes are counted once they are written.
	require.Eventually(t, func() bool { return p.ToClient() == 1<<20 }, 5*time.Second, time.Millisecond)
}

func TestLossHoldsUp(t *testing.T) {
	t.Parallel()
	_, c := through(t, Link{Delay: 20 * time.Millisecond, Loss: 1})
	took, err := exchange(t, c, 16)
	require.NoError(t, err)
	require.GreaterOrEqual(t, took, 120*time.Millisecond, "a round trip more in each direction")
}

func TestCut(t *testing.T) {
	t.Parallel()
	_, c := through(t, Link{CutAfter: 64 << 10})
	_, err := io.Copy(io.Discard, io.LimitReader(feeding(c), 1<<20))
	_ = err // an end or a reset
	_, err = c.Write(make([]byte, 1))
	for range 100 {
		if err != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
		_, err = c.Write(make([]byte, 1))
	}
	require.Fail(t, "the connection still is open")
}

// feeding writes to c while it is read.
func feeding(c net.Conn) io.Reader {
	go func() { _, _ = c.Write(make([]byte, 1<<20)) }()
	return c
}
