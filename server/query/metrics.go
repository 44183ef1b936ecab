package query

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	queries *prometheus.CounterVec
	latency prometheus.Histogram
	active  prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		queries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tributary_coordinator_queries_total",
			Help: "Statements that ended, by outcome: ok, canceled, or the error's code.",
		}, []string{"outcome"}),
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "tributary_coordinator_query_seconds",
			Help:    "Time from the start of a query to its last row.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 18),
		}),
		active: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "tributary_coordinator_active_queries",
			Help: "Queries that run now.",
		}),
	}
	m.queries.WithLabelValues("ok")
	reg.MustRegister(m.queries, m.latency, m.active)
	return m
}

// failed counts a statement that was refused before it ran.
func (m *metrics) failed(err error) { m.queries.WithLabelValues(outcome(err)).Inc() }

func (m *metrics) ended(err error, elapsed time.Duration) {
	m.active.Dec()
	m.queries.WithLabelValues(outcome(err)).Inc()
	m.latency.Observe(elapsed.Seconds())
}
