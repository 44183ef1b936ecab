package scanner

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// metrics are the numbers of one scanner, tributary_scanner_*.
type metrics struct {
	open        atomic.Int64
	scans       *prometheus.CounterVec
	failed      *prometheus.CounterVec
	kept        prometheus.Counter
	rowsScanned prometheus.Counter
	rowsSent    prometheus.Counter
	bytesSent   prometheus.Counter
	seconds     *prometheus.HistogramVec
	all         []prometheus.Collector
}

const (
	namespace = "tributary"
	subsystem = "scanner"
)

func newMetrics() *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help})
	}
	vector := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help}, []string{label})
	}
	m := &metrics{
		scans:       vector("scans_total", "Scans by mode: aggregate, filter, rows, flight for plain Flight reads, or direct for tickets of a coordinator.", "mode"),
		failed:      vector("scan_errors_total", "Scans that failed, by status code.", "code"),
		kept:        counter("kept_scans_total", "Scans of rows that the source had in memory."),
		rowsScanned: counter("rows_scanned_total", "Table rows read."),
		rowsSent:    counter("rows_sent_total", "Result rows sent."),
		bytesSent:   counter("bytes_sent_total", "Encoded bytes of the result rows sent."),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "scan_seconds", Help: "Duration of scans by mode.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 9),
		}, []string{"mode"}),
	}
	open := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Subsystem: subsystem, Name: "open_scans", Help: "Scans that run now.",
	}, func() float64 { return float64(m.open.Load()) })
	m.all = []prometheus.Collector{m.scans, m.failed, m.kept, m.rowsScanned, m.rowsSent, m.bytesSent, m.seconds, open}
	return m
}

func (m *metrics) register(r prometheus.Registerer) error {
	if r == nil {
		return nil
	}
	for _, c := range m.all {
		if err := r.Register(c); err != nil {
			return err
		}
	}
	return nil
}

func (m *metrics) unregister(r prometheus.Registerer) {
	if r == nil {
		return
	}
	for _, c := range m.all {
		r.Unregister(c)
	}
}

// begin counts a scan; the returned function ends it.
func (m *metrics) begin(mode string) func(rowsScanned int64, err error) {
	start := time.Now()
	m.open.Add(1)
	m.scans.WithLabelValues(mode).Inc()
	return func(rowsScanned int64, err error) {
		m.open.Add(-1)
		m.rowsScanned.Add(float64(rowsScanned))
		m.seconds.WithLabelValues(mode).Observe(time.Since(start).Seconds())
		if err != nil {
			m.failed.WithLabelValues(status.CodeOf(err).String()).Inc()
		}
	}
}

func (m *metrics) sent(rows, bytes int64) {
	m.rowsSent.Add(float64(rows))
	m.bytesSent.Add(float64(bytes))
}

// modeOf names what a spec asks for.
func modeOf(spec *pushdown.Spec) string {
	switch {
	case spec.Grouped():
		return "aggregate"
	case len(spec.Filter) > 0 || spec.Limit != pushdown.NoLimit:
		return "filter"
	default:
		return "rows"
	}
}
