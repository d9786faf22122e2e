package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// conn is a cheap client: one connection, HTTP/1.1, no goroutine of its own. Go's own
// client takes as much of the machine as a server does, and load and
// server share the cores. In a run with 64 workers it takes about a tenth of the CPU,
// more than half of that in http.ReadResponse; the bare server is asked by the same
// client, so that the ratio of the two is fair.
type conn struct {
	net   net.Conn
	in    *bufio.Reader
	out   []byte
	body  bytes.Buffer
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
	reply, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return nil, err
	}
	c.body.Reset()
	if _, err := c.body.ReadFrom(reply.Body); err != nil {
		return nil, err
	}
	if reply.StatusCode >= 300 {
		return nil, fmt.Errorf("POST %s: %d %s: %s", path, reply.StatusCode, http.StatusText(reply.StatusCode), c.body.String())
	}
	return c.body.Bytes(), nil
}
