package bench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// conn is a client as cheap as can be: one connection, HTTP/1.1, no goroutine
// of its own. Go's own client takes as much of the machine as a server does
// (docs/benchmarks.md), and load and server share the cores.
type conn struct {
	net   net.Conn
	in    *bufio.Reader
	out   []byte
	body  []byte
	after string // of the request line: the headers that never change
}

// requestTimeout bounds one request.
const requestTimeout = time.Minute

func dial(url, token string) (*conn, error) {
	host := strings.TrimPrefix(url, "http://")
	c, err := net.Dial("tcp", host)
	if err != nil {
		return nil, err
	}
	after := " HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: Bearer " + token + "\r\nContent-Type: application/json\r\nContent-Length: "
	return &conn{net: c, in: bufio.NewReaderSize(c, 8<<10), after: after}, nil
}

// post sends a request and returns the body of the reply, which is good until
// the next call. Any status but a success is an error.
func (c *conn) post(path, body string) ([]byte, error) {
	c.out = append(c.out[:0], "POST "...)
	c.out = append(c.out, path...)
	c.out = append(c.out, c.after...)
	c.out = strconv.AppendInt(c.out, int64(len(body)), 10)
	c.out = append(c.out, "\r\n\r\n"...)
	c.out = append(c.out, body...)
	if err := c.net.SetDeadline(time.Now().Add(requestTimeout)); err != nil {
		return nil, err
	}
	if _, err := c.net.Write(c.out); err != nil {
		return nil, err
	}
	status, err := c.reply()
	if err != nil {
		return nil, err
	}
	if status >= 300 {
		return nil, &statusError{path, status, string(c.body)}
	}
	return c.body, nil
}

// statusError is a reply that is no success.
type statusError struct {
	path   string
	status int
	body   string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("POST %s: %d %s: %s", e.path, e.status, http.StatusText(e.status), e.body)
}

var errProtocol = errors.New("this is not a reply in HTTP/1.1")

// reply reads a reply; its body is left in c.body.
func (c *conn) reply() (status int, err error) {
	line, err := c.line()
	if err != nil {
		return 0, err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return 0, errProtocol
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, errProtocol
	}
	length, chunked := 0, false
	for {
		if line, err = c.line(); err != nil {
			return 0, err
		}
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch value = bytes.TrimSpace(value); {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, errProtocol
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = bytes.EqualFold(value, []byte("chunked"))
		}
	}
	c.body = c.body[:0]
	if !chunked {
		return status, c.take(length)
	}
	for {
		if line, err = c.line(); err != nil {
			return 0, err
		}
		n, err := strconv.ParseInt(string(line), 16, 32)
		if err != nil {
			return 0, errProtocol
		}
		if err := c.take(int(n)); err != nil {
			return 0, err
		}
		if _, err := c.line(); err != nil || n == 0 {
			return status, err
		}
	}
}

// take adds n bytes to the body.
func (c *conn) take(n int) error {
	at := len(c.body)
	for cap(c.body) < at+n {
		c.body = append(c.body[:cap(c.body)], 0)
	}
	c.body = c.body[:at+n]
	_, err := io.ReadFull(c.in, c.body[at:])
	return err
}

func (c *conn) line() ([]byte, error) {
	line, err := c.in.ReadSlice('\n')
	return bytes.TrimRight(line, "\r\n"), err
}
