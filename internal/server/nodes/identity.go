package nodes

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"math/big"
	"time"
)

// Identity is the certificate by which other nodes know this one, with its key. It is made
// anew each time a node starts, and is kept nowhere.
type Identity struct {
	certificate tls.Certificate
	Sum         string // SHA-256 of the certificate, in hexadecimal digits
}

// NewIdentity makes an identity that nobody has.
func NewIdentity() (*Identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	// Nobody looks at what it says, only whether it is the one that is kept.
	text := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0)}
	made, err := x509.CreateCertificate(rand.Reader, text, text, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &Identity{tls.Certificate{Certificate: [][]byte{made}, PrivateKey: key}, sumOf(made)}, nil
}

func sumOf(certificate []byte) string {
	sum := sha256.Sum256(certificate)
	return hex.EncodeToString(sum[:])
}

// errStranger ends a connection of who is no node, or not the one that was meant.
var errStranger = errors.New("that is not the certificate of a node of this database")

// config is for both ends of a connection. expected says whether the sum is that of who may
// be at the other end.
func (i *Identity) config(expected func(sum string) bool) *tls.Config {
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		NextProtos:   []string{"http/1.1"}, // one connection would have to carry all long polls otherwise
		Certificates: []tls.Certificate{i.certificate},
		// In place of names and authorities, the certificate itself is known.
		InsecureSkipVerify: true,
		ClientAuth:         tls.RequireAnyClientCert,
		VerifyConnection: func(c tls.ConnectionState) error {
			if len(c.PeerCertificates) == 0 || !expected(sumOf(c.PeerCertificates[0].Raw)) {
				return errStranger
			}
			return nil
		},
	}
}

// knownWithin is how long a connection waits to learn whether its other end is a node.
const knownWithin = 2 * time.Second

// Server is the configuration of a server that other nodes connect to, and nobody else.
// known says whether a certificate is that of a node.
func (i *Identity) Server(known func(ctx context.Context, sum string) bool) *tls.Config {
	return i.config(func(sum string) bool {
		ctx, cancel := context.WithTimeout(context.Background(), knownWithin)
		defer cancel()
		return known(ctx, sum)
	})
}
