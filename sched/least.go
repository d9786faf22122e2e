package sched

import "fmt"

// least hands out from the batch with the least x_b: Algorithm 1 with the
// workforces fs, fs-ratio, wfs and wfs-ratio, and Algorithm 3 (SDAFS) with dafs.
type least struct {
	x     workforce
	words string
}

func (l *least) rank(slot uint32, r *record) uint64 {
	x, _ := l.x.at(slot, r)
	return fromFloat(x)
}

func (l *least) explain(slot uint32, r *record, k *Key) {
	x, delta := l.x.at(slot, r)
	k.Words = fmt.Sprintf("%s, here %.4g", l.words, x)
	k.Figures = workforceFigures(r, x, delta)
	k.Rank = []Number{Number(x)}
}
