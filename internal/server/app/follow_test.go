package app_test

import "github.com/throng-dev/throng/internal/server/access"

// follow begins to follow a pool's events, and stops.
func follow(s *scene, p *access.Principal) error {
	f, err := s.Pools.Follow(s.ctx, p, s.pool, 0)
	if err == nil {
		f.Stop()
	}
	return err
}

// followed asks for more of what an admin follows.
func followed(s *scene, p *access.Principal) error {
	f, err := s.Pools.Follow(s.ctx, s.admin, s.pool, 0)
	if err != nil {
		return err
	}
	defer f.Stop()
	return second(s.Pools.Followed(s.ctx, p, f))
}
