package query

import "sync"

// Session is what one client connection has set. It is safe for concurrent
// use.
type Session struct {
	mu       sync.Mutex
	settings Settings
}

// NewSession returns a session with the default settings.
func NewSession() *Session { return &Session{settings: sessionSettings()} }

// NewSessionOf returns a session with the given settings.
func NewSessionOf(set Settings) *Session { return &Session{settings: set} }

// Settings returns a copy of the current settings.
func (s *Session) Settings() Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
}

// Set changes one setting.
func (s *Session) Set(name, value string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings.Set(name, value)
}

// Reset restores the default of one setting, or of all for "".
func (s *Session) Reset(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings.Reset(name)
}
