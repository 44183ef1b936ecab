package access

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/auth"
)

// Policy is the content of an access file.
type Policy struct {
	// Users are the roles of each user, added to those of his token; "*" is
	// everybody.
	Users map[string][]string `yaml:"users"`
	// Roles are what each role may read.
	Roles map[string][]Grant `yaml:"roles"`
}

// Grant lets a role read tables.
type Grant struct {
	// Tables are "name" or "schema.name" and may have * and ?; the schema is
	// main without one.
	Tables []string `yaml:"tables"`
	// Rows is a condition in SQL over the table's columns; rows for which it is
	// not true do not exist for the role. {user} is the user's name as a text.
	Rows string `yaml:"rows"`
	// Columns are the only ones that exist; none means all.
	Columns []string `yaml:"columns"`
}

// ReadPolicy reads an access file.
func ReadPolicy(file string) (*Policy, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, status.Wrap(status.InvalidArgument, err, "cannot read the access rules")
	}
	p := &Policy{}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(p); err != nil && !errors.Is(err, io.EOF) {
		return nil, status.Wrap(status.InvalidArgument, err, "%s", file)
	}
	return p, status.Wrap(status.InvalidArgument, p.check(), "%s", file)
}

func (p *Policy) check() error {
	for user, roles := range p.Users {
		for _, r := range roles {
			if _, ok := p.Roles[r]; !ok {
				return status.New(status.InvalidArgument, "user %q has the role %q, which is not among the roles", user, r)
			}
		}
	}
	for role, grants := range p.Roles {
		for _, g := range grants {
			if len(g.Tables) == 0 {
				return status.New(status.InvalidArgument, "role %q has a grant without tables", role)
			}
			for _, pattern := range g.Tables {
				if _, err := path.Match(pattern, ""); err != nil {
					return status.Wrap(status.InvalidArgument, err, "role %q: the pattern %q", role, pattern)
				}
			}
		}
	}
	return nil
}

// rolesOf are the known roles of a user, in the order in which they count: those
// of the file, those of the token, those of everybody.
func (p *Policy) rolesOf(u auth.User) []string {
	var out []string
	for _, r := range slices.Concat(p.Users[u.Name], u.Roles, p.Users["*"]) {
		if _, ok := p.Roles[r]; ok && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}

// grant is the first grant of the roles for a table, nil when there is none. A
// later one adds nothing, so that a restriction cannot be undone by accident.
func (p *Policy) grant(roles []string, schema, table string) *Grant {
	for _, r := range roles {
		for i := range p.Roles[r] {
			if g := &p.Roles[r][i]; g.covers(schema, table) {
				return g
			}
		}
	}
	return nil
}

func (g *Grant) covers(schema, table string) bool {
	return slices.ContainsFunc(g.Tables, func(pattern string) bool {
		full, _ := path.Match(pattern, schema+"."+table) // patterns were checked
		bare, _ := path.Match(pattern, table)
		return full || bare && schema == "main"
	})
}
