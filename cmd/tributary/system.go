package main

import (
	"github.com/tributary-db/tributary/cmd/system"
	"github.com/tributary-db/tributary/server"
	"github.com/tributary-db/tributary/server/query"
)

// serveSystem gives a coordinator the tables of the schema system; the returned
// function ends them, after the coordinator. Where users are known but no rules
// say what they may read there are none: a user would see what others ask.
func serveSystem(cfg *server.Config) (end func() error, err error) {
	if cfg.Auth != nil && cfg.Auth.Required() && cfg.Access == nil {
		return func() error { return nil }, nil
	}
	cfg.History = &query.History{}
	node, err := system.Start(cfg.History)
	if err != nil {
		return nil, err
	}
	cfg.Own, cfg.Dial = []string{system.Addr}, node.Dial(cfg.Dial)
	return node.Close, nil
}
