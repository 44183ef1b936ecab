package main

import (
	"bufio"
	"io"
	"strings"
)

// statementReader cuts input into statements at semicolons that stand outside
// of quotes and comments.
type statementReader struct {
	in      *bufio.Reader
	pending strings.Builder
	state   lexState
}

// lexState is where in the SQL text the reader is.
type lexState byte

const (
	inText lexState = iota
	inString
	inIdentifier
	inLineComment
	inBlockComment
)

func newStatementReader(in io.Reader) *statementReader {
	return &statementReader{in: bufio.NewReader(in)}
}

// prompt shows whether a statement has begun.
func (r *statementReader) prompt() string {
	if strings.TrimSpace(r.pending.String()) == "" {
		return "tributary> "
	}
	return "       ...> "
}

// next reads one line and returns the statement that ends in it, or "". After
// the last line it returns what is left and io.EOF. A line may hold several
// statements: the rest waits for the following call.
func (r *statementReader) next() (string, error) {
	for {
		c, err := r.in.ReadByte()
		if err != nil {
			return r.flush(), err
		}
		if c == ';' && r.state == inText {
			if sql := r.flush(); sql != "" {
				return sql, nil
			}
			continue
		}
		r.pending.WriteByte(c)
		r.advance(c)
		if c == '\n' {
			return r.endOfLine(), nil
		}
	}
}

func (r *statementReader) endOfLine() string {
	if strings.TrimSpace(r.pending.String()) == `\q` {
		return r.flush()
	}
	return ""
}

func (r *statementReader) flush() string {
	sql := strings.TrimSpace(r.pending.String())
	r.pending.Reset()
	r.state = inText
	return sql
}

func (r *statementReader) advance(c byte) {
	next, _ := r.in.Peek(1)
	follows := func(b byte) bool { return len(next) == 1 && next[0] == b }
	switch r.state {
	case inText:
		switch {
		case c == '\'':
			r.state = inString
		case c == '"':
			r.state = inIdentifier
		case c == '-' && follows('-'):
			r.state = inLineComment
		case c == '/' && follows('*'):
			r.state = inBlockComment
		}
	case inString:
		if c == '\'' {
			r.state = inText
		}
	case inIdentifier:
		if c == '"' {
			r.state = inText
		}
	case inLineComment:
		if c == '\n' {
			r.state = inText
		}
	case inBlockComment:
		if c == '/' && strings.HasSuffix(r.pending.String(), "*/") {
			r.state = inText
		}
	}
}
