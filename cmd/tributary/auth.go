package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/tributary-db/tributary/codec/secure"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/access"
	"github.com/tributary-db/tributary/server/auth"
)

// callers says how a coordinator knows its callers.
type callers struct {
	UsersFile      string        `help:"File with a name:hash line for each user, see 'tributary user'. Read again when it changes." placeholder:"FILE"`
	TokenLife      time.Duration `help:"How long a login with a password is good." default:"24h"`
	JWTIssuer      string        `name:"jwt-issuer" help:"Issuer whose JSON web tokens are accepted." placeholder:"URL"`
	JWTAudience    string        `name:"jwt-audience" help:"Audience that the tokens must be for." placeholder:"NAME"`
	JWTJWKS        string        `name:"jwt-jwks" help:"File or URL of the issuer's keys; the default is what its OpenID configuration names." placeholder:"FILE|URL"`
	JWTUserClaim   string        `name:"jwt-user-claim" help:"Claim that names the user." default:"sub"`
	AccessFile     string        `help:"YAML file of roles and what they may read; without it every user reads every table. Read again when it changes." placeholder:"FILE"`
	MaxUserMemory  byteSize      `help:"What the queries of one user may hold together, as --max-memory; 0 is no limit." default:"0"`
	MaxUserQueries int           `help:"Queries that one user may run at once; 0 is no limit." default:"0"`
	JWTRolesClaim  string        `name:"jwt-roles-claim" help:"Claim that lists the user's roles." default:"roles"`
}

// authenticator is made of the flags; certificates says that clients show one.
func (c callers) authenticator(ctx context.Context, secret string, certificates bool, log zerolog.Logger) (*auth.Authenticator, error) {
	cfg := auth.Config{Secret: []byte(secret), TokenLife: c.TokenLife, Certificates: certificates}
	var err error
	if c.UsersFile != "" {
		if cfg.Users, err = auth.NewUsers(c.UsersFile, warnFile(log)); err != nil {
			return nil, status.Wrap(status.InvalidArgument, err, "--users-file")
		}
	}
	if c.JWTIssuer != "" || c.JWTAudience != "" || c.JWTJWKS != "" {
		if cfg.Tokens, err = auth.NewTokens(ctx, auth.JWTConfig{
			Issuer: c.JWTIssuer, Audience: c.JWTAudience, JWKS: c.JWTJWKS,
			UserClaim: c.JWTUserClaim, RolesClaim: c.JWTRolesClaim, Warn: warnFile(log),
		}); err != nil {
			return nil, status.Wrap(status.InvalidArgument, err, "--jwt-issuer, --jwt-audience, --jwt-jwks")
		}
	}
	return auth.New(cfg)
}

// policy reads the access file; nil without one.
func (c callers) policy(log zerolog.Logger) (*secure.File[*access.Policy], error) {
	if c.AccessFile == "" {
		return nil, nil
	}
	p, err := secure.NewFile(func() (*access.Policy, error) { return access.ReadPolicy(c.AccessFile) }, warnFile(log), c.AccessFile)
	return p, status.Wrap(status.InvalidArgument, err, "--access-file")
}

// userCmd is `tributary user`.
type userCmd struct {
	Name string `arg:"" help:"Name of the user."`
}

// Run reads a password and prints the user's line of a users file.
func (c *userCmd) Run(out *console) error {
	if strings.ContainsAny(c.Name, ":\n") || c.Name == auth.Anonymous {
		return status.New(status.InvalidArgument, "the user name %q has a colon or is reserved", c.Name)
	}
	if out.interactive {
		_, _ = fmt.Fprint(out.stderr, "Password (shown as you type; pipe it in to avoid that): ")
	}
	password, err := bufio.NewReader(out.stdin).ReadString('\n')
	if password = strings.TrimRight(password, "\r\n"); password == "" {
		return status.Wrap(status.InvalidArgument, err, "no password was given on the standard input")
	}
	_, err = fmt.Fprintf(out.stdout, "%s:%s\n", c.Name, auth.HashPassword(password))
	return err
}
