package query

import (
	"context"
	"sync"

	"github.com/rs/zerolog"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/auth"
)

// audited adds who made a statement.
func audited(ctx context.Context, event *zerolog.Event) *zerolog.Event {
	return event.Str("user", auth.UserOf(ctx).Name).Str("peer", auth.PeerOf(ctx))
}

// refused logs a statement that never ran. Its error may quote values, so that
// of a statement with bound ones is reduced to its code.
func (s *Service) refused(ctx context.Context, sql string, bound bool, err error) {
	s.metrics.failed(err)
	event := audited(ctx, s.cfg.Logger.Info()).Str("outcome", outcome(err))
	if !bound {
		event = event.Err(err)
	}
	event.Str("sql", clip(sql)).Msg("statement refused")
}

// userLimit bounds the queries that each user runs at once.
type userLimit struct {
	most int // 0 is no limit

	mu      sync.Mutex
	running map[string]int
}

func newUserLimit(most int) *userLimit { return &userLimit{most: most, running: map[string]int{}} }

// enter counts a query of the user until leave is called.
func (l *userLimit) enter(user string) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.most > 0 && l.running[user] >= l.most {
		return nil, status.New(status.ResourceExhausted, "user %s runs %d queries already, which is the limit: wait for one to end", user, l.most)
	}
	l.running[user]++
	return func() { l.leave(user) }, nil
}

func (l *userLimit) leave(user string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running[user]--; l.running[user] == 0 {
		delete(l.running, user)
	}
}
