package console

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

func TestConsole(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: "tributary_test_total", Help: "A counter."})
	reg.MustRegister(c)
	c.Inc()
	queries := func(r *http.Request) (any, error) {
		if r.URL.RawQuery != "" {
			return nil, errors.New("say who you are")
		}
		return map[string]int{"rounds": 2}, nil
	}
	for _, tc := range []struct {
		name, path string
		ready      error
		code       int
		body       string
	}{
		{"metrics", "/metrics", nil, 200, "tributary_test_total 1"},
		{"alive although not ready", "/healthz", errors.New("no scanner"), 200, "ok"},
		{"ready", "/readyz", nil, 200, "ok"},
		{"not ready", "/readyz", errors.New("no scanner"), 503, "no scanner"},
		{"queries", "/queries", nil, 200, `"rounds": 2`},
		{"queries of strangers", "/queries?stranger", nil, 401, "say who you are"},
		{"unknown", "/x", nil, 404, "not found"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			srv := NewServer(Config{Gatherer: reg, Ready: func() error { return tc.ready }, Queries: queries})
			w := httptest.NewRecorder()
			srv.Handler.ServeHTTP(w, httptest.NewRequest("GET", tc.path, nil))
			require.Equal(t, tc.code, w.Code)
			require.Contains(t, w.Body.String(), tc.body)
		})
	}
}
