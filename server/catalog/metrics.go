package catalog

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// The states of tributary_coordinator_scanners.
const (
	stateUp          = "up"
	stateUnreachable = "unreachable"
	stateMissing     = "missing"
)

type metrics struct {
	scanners *prometheus.GaugeVec
	version  prometheus.Gauge
}

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		scanners: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "tributary_coordinator_scanners",
			Help: "Configured scanners by state: up, unreachable (answered before), missing (never contributed its tables).",
		}, []string{"state"}),
		version: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "tributary_coordinator_catalog_version",
			Help: "Version of the current catalog snapshot; rises with every change.",
		}),
	}
	if registry != nil {
		registry.MustRegister(m.scanners, m.version)
	}
	return m
}

// observe counts the scanners but those of this process.
func (m *metrics) observe(snap *Snapshot, own []string) {
	counts := map[string]int{stateUp: 0, stateUnreachable: 0, stateMissing: 0}
	for _, s := range snap.Scanners {
		switch {
		case slices.Contains(own, s.Addr):
		case s.Err == nil:
			counts[stateUp]++
		case slices.Contains(snap.Missing, s):
			counts[stateMissing]++
		default:
			counts[stateUnreachable]++
		}
	}
	for state, n := range counts {
		m.scanners.WithLabelValues(state).Set(float64(n))
	}
	m.version.Set(float64(snap.Version))
}
