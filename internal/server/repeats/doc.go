// Package repeats gives who sends a request again the answer that they got, so that it
// has its effect once. A request that may be sent again comes under a key, which its
// sender makes up; edges serve it by Serve.
//
// That the effect happened is kept in its own transaction (store.Effect), the answer in
// one after it, before it is sent. What a crash between the two can leave is in ADR 27.
package repeats
