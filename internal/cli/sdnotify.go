package cli

import (
	"fmt"
	"net"
	"os"
)

// notifyVariable names the socket at which a service manager hears how the process fares.
const notifyVariable = "NOTIFY_SOCKET"

// What is said there, as sd_notify(3) has it.
const (
	isReady    = "READY=1"
	isStopping = "STOPPING=1"
)

// tellManager tells the service manager how the process fares, if it has asked for that.
func tellManager(state string) error {
	address := os.Getenv(notifyVariable)
	if address == "" {
		return nil
	}
	conn, err := net.Dial("unixgram", address) // @ begins an abstract name, as Go has it, too
	if err == nil {
		_, err = conn.Write([]byte(state))
		_ = conn.Close()
	}
	if err != nil {
		return fmt.Errorf("tell the service manager (%s): %w", notifyVariable, err)
	}
	return nil
}
