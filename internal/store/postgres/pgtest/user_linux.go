package pgtest

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// atOnce has PostgreSQL end without a checkpoint, as after a power cut.
const atOnce = syscall.SIGQUIT

// attributes has a program end with the tests, and run as postgres or nobody if the tests run
// as root, which PostgreSQL refuses.
func attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Pdeathsig: atOnce}
	if uid, gid, err := other(); err == nil && os.Geteuid() == 0 {
		a.Credential = &syscall.Credential{Uid: uid, Gid: gid}
	}
	return a
}

// own gives a folder to who runs PostgreSQL.
func own(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid, err := other()
	if err != nil {
		return err
	}
	return os.Chown(dir, int(uid), int(gid))
}

func other() (uid, gid uint32, err error) {
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return 0, 0, fmt.Errorf("PostgreSQL does not run as root, and there is nobody else: %w", err)
	}
	n, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return 0, 0, err
	}
	g, err := strconv.ParseUint(u.Gid, 10, 32)
	return uint32(n), uint32(g), err
}
