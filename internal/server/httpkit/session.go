package httpkit

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"unicode"
)

// SessionCookie is the name of the cookie that holds a browser's session.
const SessionCookie = "throng_session"

// Secret returns what a request shows to say who sends it: the bearer token if
// there is one, else the browser's session, else "".
func Secret(r *http.Request) string {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return strings.TrimSpace(token)
	}
	if c, err := r.Cookie(SessionCookie); err == nil {
		return c.Value
	}
	return ""
}

// DeviceCookie is the name of the cookie of a browser in which somebody has signed in.
const DeviceCookie = "throng_device"

// ClientAddress returns the address of who sends a request, or the zero Addr: that of
// the connection, or, with trustProxy, the last one in X-Forwarded-For, which the proxy
// has added. Those before it are what the client says.
func ClientAddress(r *http.Request, trustProxy bool) netip.Addr {
	if list := r.Header.Values("X-Forwarded-For"); trustProxy && len(list) > 0 {
		last := list[len(list)-1]
		if a := parseAddress(strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])); a.IsValid() {
			return a
		}
	}
	return parseAddress(r.RemoteAddr)
}

// Browsers and systems by what their User-Agent holds; the first that fits is it.
var (
	browsers = [][2]string{{"Edg", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"}, {"CriOS/", "Chrome"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}}
	systems  = [][2]string{{"Android", "Android"}, {"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"CrOS", "ChromeOS"}, {"Linux", "Linux"}}
)

// Program says in a few words which program has sent a request, as it says, so that people
// know their browsers by it: "Firefox on Linux".
func Program(r *http.Request) string {
	agent := r.UserAgent()
	find := func(list [][2]string) string {
		i := slices.IndexFunc(list, func(x [2]string) bool { return strings.Contains(agent, x[0]) })
		if i < 0 {
			return ""
		}
		return list[i][1]
	}
	if browser := find(browsers); browser != "" {
		if system := find(systems); system != "" {
			return browser + " on " + system
		}
		return browser
	}
	end := strings.IndexFunc(agent, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("-_.", c)
	})
	if end >= 0 {
		agent = agent[:end]
	}
	return strings.ToValidUTF8(agent[:min(len(agent), 40)], "")
}

// parseAddress reads an address with or without a port.
func parseAddress(text string) netip.Addr {
	if with, err := netip.ParseAddrPort(text); err == nil {
		return with.Addr()
	}
	a, _ := netip.ParseAddr(text) // zero: none
	return a
}

// Origin is the scheme and the host by which a request came, as its client says.
func Origin(r *http.Request, trustProxy bool) string {
	if Encrypted(r, trustProxy) {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// Encrypted reports whether the client's connection is encrypted: by this server
// itself, or, with trustProxy, by the proxy in front of it.
func Encrypted(r *http.Request, trustProxy bool) bool {
	return r.TLS != nil || trustProxy && strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}
