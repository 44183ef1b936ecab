package exec

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/adapt"
	"github.com/tributary-db/tributary/server/plan"
)

// The reasons of tributary_coordinator_fallbacks_total.
const (
	fallbackOriginal  = "original_sql"
	fallbackAggregate = "aggregate_at_coordinator"
	fallbackFilter    = "filter_at_coordinator"
	fallbackLimit     = "limit_at_coordinator"
	fallbackRaw       = "raw_rows"
	fallbackReplica   = "replica"
)

type metrics struct {
	scans         *prometheus.CounterVec
	fallbacks     *prometheus.CounterVec
	rowsScanned   prometheus.Counter
	rowsReceived  prometheus.Counter
	bytesReceived prometheus.Counter
	bytesSaved    prometheus.Counter
	inflightBytes prometheus.Gauge
	openScans     prometheus.Gauge
	adaptiveRules *prometheus.CounterVec
	adaptiveScans *prometheus.CounterVec
}

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		scans:         counters("scans_total", "Streams that were read, by what arrived: aggregate, filter, rows, or none.", "mode"),
		fallbacks:     counters("fallbacks_total", "Work that was not done where it was planned best, by reason.", "reason"),
		rowsScanned:   counter("rows_scanned_total", "Source rows that scanners read for queries."),
		rowsReceived:  counter("rows_received_total", "Rows that scanners sent."),
		bytesReceived: counter("bytes_received_total", "Bytes of record batches that scanners sent."),
		bytesSaved:    counter("bytes_saved_total", "Estimated bytes that pushdown kept off the network."),
		inflightBytes: gauge("inflight_bytes", "Bytes of batches that arrived and are not consumed yet."),
		openScans:     gauge("open_scans", "Streams to scanners that are open."),
		adaptiveRules: counters("adaptive_rules_total", "Times that an adaptive rule changed a running plan.", "rule"),
		adaptiveScans: counters("adaptive_scans_total", "Scans that were run first, narrowed before or while they ran, removed before they started, or cancelled while they ran.", "action"),
	}
	if registry != nil {
		registry.MustRegister(m.scans, m.fallbacks, m.rowsScanned, m.rowsReceived,
			m.bytesReceived, m.bytesSaved, m.inflightBytes, m.openScans, m.adaptiveRules, m.adaptiveScans)
	}
	return m
}

func name(suffix string) string { return "tributary_coordinator_" + suffix }

func counters(suffix, help, label string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name(suffix), Help: help}, []string{label})
}

func counter(suffix, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name(suffix), Help: help})
}

func gauge(suffix, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: name(suffix), Help: help})
}

func (m *metrics) arrived(c plan.Counts) {
	m.rowsScanned.Add(float64(c.RowsScanned))
	m.rowsReceived.Add(float64(c.RowsReceived))
	m.bytesReceived.Add(float64(c.BytesReceived))
}

// scanned counts a stream that has ended.
func (m *metrics) scanned(mode string, saved int64) {
	if mode == "" {
		mode = "none"
	}
	m.scans.WithLabelValues(mode).Inc()
	m.bytesSaved.Add(float64(saved))
}

func (m *metrics) inflight(delta int64) { m.inflightBytes.Add(float64(delta)) }

func (m *metrics) opened(delta int) { m.openScans.Add(float64(delta)) }

func (m *metrics) fallback(reason string) { m.fallbacks.WithLabelValues(reason).Inc() }

// round counts an adaptive decision.
func (m *metrics) round(r adapt.Round) {
	for _, rule := range r.Fired {
		m.adaptiveRules.WithLabelValues(rule).Inc()
	}
	m.adaptiveScans.WithLabelValues("first").Add(float64(len(r.Started)))
	m.adaptiveScans.WithLabelValues("narrowed").Add(float64(len(r.Narrowed)))
	m.adaptiveScans.WithLabelValues("narrowed_running").Add(float64(len(r.Told)))
	m.adaptiveScans.WithLabelValues("removed").Add(float64(len(r.Removed)))
	m.adaptiveScans.WithLabelValues("cancelled").Add(float64(len(r.Cancelled)))
}

// split counts what a split leaves to the coordinator.
func (m *metrics) split(s pushdown.SplitResult) {
	if s.Residual == nil {
		return
	}
	switch {
	case s.Residual.Grouped():
		m.fallback(fallbackAggregate)
	case len(s.Residual.Filter) > 0:
		m.fallback(fallbackFilter)
	default:
		m.fallback(fallbackLimit)
	}
}
