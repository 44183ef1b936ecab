// Package console serves a node's HTTP side: /metrics for Prometheus, /healthz
// (the process lives), /readyz (it can do its work) and, of a coordinator,
// /queries (the last queries and what was decided while they ran).
package console

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Config configures a console.
type Config struct {
	// Gatherer is what /metrics shows.
	Gatherer prometheus.Gatherer
	// Ready returns why the node is not ready, or nil. It is called for every
	// request of /readyz and must be cheap.
	Ready func() error
	// Queries are the last queries of whoever asks, for /queries as JSON, or why
	// he must say who he is; nil for a node without queries.
	Queries func(*http.Request) (any, error)
}

// NewServer returns an HTTP server for the console; the caller sets its
// address and serves it.
func NewServer(cfg Config) *http.Server {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(cfg.Gatherer, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { reply(w, nil) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { reply(w, cfg.Ready()) })
	if cfg.Queries != nil {
		mux.HandleFunc("GET /queries", func(w http.ResponseWriter, r *http.Request) { replyQueries(w, r, cfg.Queries) })
	}
	return &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
}

func replyQueries(w http.ResponseWriter, r *http.Request, queries func(*http.Request) (any, error)) {
	found, err := queries(r)
	if err != nil {
		w.Header().Set("WWW-Authenticate", `Basic realm="tributary"`)
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	replyJSON(w, found)
}

func replyJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	_ = out.Encode(v) // the client may be gone
}

func reply(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(err.Error() + "\n")) // the client may be gone
		return
	}
	_, _ = w.Write([]byte("ok\n"))
}
