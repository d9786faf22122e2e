package sqlstore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
)

// micros is a time as kept.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// instant scans a kept time.
type instant struct{ t *time.Time }

// Scan implements sql.Scanner.
func (i instant) Scan(v any) error {
	n, ok := v.(int64)
	if !ok {
		return fmt.Errorf("%T is not a time", v)
	}
	*i.t = moment(n)
	return nil
}

func moment(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}

// encode returns v as JSON text; nothing (an empty list or map) is "".
func encode[T any](v T, empty bool) (string, error) {
	if empty {
		return "", nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return string(bytes.TrimSuffix(buf.Bytes(), []byte("\n"))), nil
}

// decoded scans JSON text into v, which "" leaves alone.
type decoded struct{ v any }

// Scan implements sql.Scanner.
func (d decoded) Scan(v any) error {
	switch text := v.(type) {
	case string:
		if text == "" {
			return nil
		}
		return json.Unmarshal([]byte(text), d.v)
	case []byte:
		if len(text) == 0 {
			return nil
		}
		return json.Unmarshal(text, d.v)
	}
	return fmt.Errorf("%T is not text", v)
}

// raw scans JSON text as it is; "" becomes nil.
type raw struct{ v *json.RawMessage }

// Scan implements sql.Scanner.
func (r raw) Scan(v any) error {
	switch text := v.(type) {
	case string:
		*r.v = nil
		if text != "" {
			*r.v = json.RawMessage(text)
		}
		return nil
	case []byte:
		*r.v = append(json.RawMessage(nil), text...)
		return nil
	}
	return fmt.Errorf("%T is not text", v)
}

func encodeRule(r label.Rule) (string, error) { return encode(r, r == label.Rule{}) }

// The kinds of account, as the last digit of the key.
var kinds = [...]engine.AccountKind{engine.Outside, engine.TenantAccount, engine.BatchAccount, engine.WorkerAccount, engine.PoolAccount}

// accountKey is an account as kept.
func accountKey(a engine.Account) (int64, error) {
	for digit, k := range kinds {
		if k == a.Kind {
			return 10*a.ID + int64(digit), nil
		}
	}
	return 0, fmt.Errorf("account of unknown kind %q", a.Kind)
}

func accountOf(key int64) engine.Account {
	return engine.Account{Kind: kinds[key%10], ID: key / 10}
}
