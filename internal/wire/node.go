package wire

import "time"

// Node is one of the servers that share a database.
type Node struct {
	Name      string    `json:"name" example:"a"`
	Address   string    `json:"address" doc:"host and port where other nodes reach it" example:"10.0.0.5:7946"`
	Version   string    `json:"version" doc:"of the program"`
	StartedAt time.Time `json:"started_at"`
	Alive     bool      `json:"alive" doc:"it has shown within the last 3 seconds that it goes on"`
	Owner     bool      `json:"owner" doc:"it has the database, and runs all pools"`
	Problem   string    `json:"problem,omitempty" doc:"why it could not take the database; without it, it could"`
}
