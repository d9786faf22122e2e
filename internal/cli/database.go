package cli

import "github.com/throng-dev/throng/internal/server"

// databaseFlag names a database that is not a file in the data folder.
type databaseFlag struct {
	Database string `placeholder:"URL" help:"The PostgreSQL database, as in postgres://user@host/name; better not on the command line if it holds a password. Without it, the database is a file in the data folder." env:"THRONG_DATABASE" secret:""`
}

// in is where a server with this flag and a data folder keeps what it has.
func (f *databaseFlag) in(data string) server.Place {
	return server.Place{Data: data, Database: f.Database}
}
