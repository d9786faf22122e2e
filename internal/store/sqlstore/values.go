package sqlstore

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/throng-dev/throng/internal/engine"
)

// micros is a time as kept.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// instant is a time as kept, to scan and to write.
type instant struct{ t *time.Time }

// Value implements driver.Valuer.
func (i instant) Value() (driver.Value, error) { return micros(*i.t), nil }

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

// encoded is what v points to as JSON text, to scan and to write. Nothing (a zero
// value, an empty list or map) is "", which leaves v alone when it is scanned.
type encoded struct{ v any }

// Value implements driver.Valuer.
func (d encoded) Value() (driver.Value, error) {
	v := reflect.ValueOf(d.v).Elem()
	list := v.Kind() == reflect.Slice || v.Kind() == reflect.Map
	return encode(v.Interface(), v.IsZero() || list && v.Len() == 0)
}

// Scan implements sql.Scanner.
func (d encoded) Scan(v any) error {
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

// raw is JSON text as it is, to scan and to write; "" is nil.
type raw struct{ v *json.RawMessage }

// Value implements driver.Valuer.
func (r raw) Value() (driver.Value, error) { return string(*r.v), nil }

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

// computed is written, but not read: it follows from other columns.
type computed struct{ v driver.Value }

// Value implements driver.Valuer.
func (c computed) Value() (driver.Value, error) { return c.v, nil }

// Scan implements sql.Scanner.
func (computed) Scan(any) error { return nil }

// The kinds of account, as the last digit of the key.
var kinds = [...]engine.AccountKind{engine.Outside, engine.TenantAccount, engine.BatchAccount, engine.WorkerAccount, engine.PoolAccount, engine.HeldAccount}

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

// freeText is whether texts are kept, as kept.
type freeText struct{ keep *bool }

// Value implements driver.Valuer.
func (f freeText) Value() (driver.Value, error) {
	if *f.keep {
		return "keep", nil
	}
	return "delete", nil
}

// Scan implements sql.Scanner.
func (f freeText) Scan(v any) error {
	*f.keep = fmt.Sprintf("%s", v) == "keep"
	return nil
}
