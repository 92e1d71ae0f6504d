package memory

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/presets"
	"github.com/signalbox/signalbox/router"
)

var _ presets.Store = (*presetStore)(nil)

type presetName struct{ account, workspace, slug string }

// presetRecord is a preset with its versions, oldest first. Its Designated is not set; it is
// the last version.
type presetRecord struct {
	presets.Preset
	versions []presets.Version // without those that were dropped
	last     int               // number of the last version
}

type presetStore struct {
	mu     sync.RWMutex
	byName map[presetName]*presetRecord
	record func(router.Change)
}

func newPresetStore(record func(router.Change)) *presetStore {
	return &presetStore{byName: map[presetName]*presetRecord{}, record: record}
}

func (s *presetStore) AddVersion(
	ctx context.Context, p presets.Preset, v presets.Version, b presets.Bounds, change router.Change,
) (presets.Preset, error) {
	if err := ctx.Err(); err != nil {
		return presets.Preset{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	name := presetName{p.Account, p.Workspace, p.Slug}
	r, known := s.byName[name]
	if !known {
		if b.Presets > 0 && s.count(p.Account, p.Workspace) >= b.Presets {
			return presets.Preset{}, presets.ErrFull
		}
		p.Designated = presets.Version{}
		r = &presetRecord{Preset: p}
		s.byName[name] = r
	}
	r.last++
	v.Preset, v.Number = r.ID, r.last
	r.versions = append(r.versions, copyVersion(v))
	if gone := len(r.versions) - b.Versions; b.Versions > 0 && gone > 0 {
		r.versions = slices.Delete(r.versions, 0, gone)
	}
	r.updated(v.CreatedAt)
	s.record(change)
	return r.preset(), nil
}

func (s *presetStore) SetStatus(ctx context.Context, account, workspace, slug string, status presets.Status, at time.Time, change router.Change) (presets.Preset, error) {
	if err := ctx.Err(); err != nil {
		return presets.Preset{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.byName[presetName{account, workspace, slug}]
	if !ok {
		return presets.Preset{}, presets.ErrNotFound
	}
	r.Status, r.StatusUpdatedAt = status, at
	r.updated(at)
	s.record(change)
	return r.preset(), nil
}

func (s *presetStore) Get(ctx context.Context, account, workspace, slug string) (presets.Preset, error) {
	if err := ctx.Err(); err != nil {
		return presets.Preset{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	r, ok := s.byName[presetName{account, workspace, slug}]
	if !ok {
		return presets.Preset{}, presets.ErrNotFound
	}
	return r.preset(), nil
}

func (s *presetStore) List(ctx context.Context, account, workspace string, offset, limit int) ([]presets.Preset, int, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	var all []*presetRecord
	for name, r := range s.byName {
		if name.account == account && name.workspace == workspace {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b *presetRecord) int {
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), bytes.Compare(b.ID[:], a.ID[:]))
	})
	list := []presets.Preset{}
	for _, r := range slice(all, offset, limit) {
		list = append(list, r.preset())
	}
	return list, len(all), nil
}

func (s *presetStore) Version(ctx context.Context, account, workspace, slug string, number int) (presets.Version, error) {
	if err := ctx.Err(); err != nil {
		return presets.Version{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	r, ok := s.byName[presetName{account, workspace, slug}]
	if !ok {
		return presets.Version{}, presets.ErrNotFound
	}
	at := number - r.versions[0].Number
	if at < 0 || at >= len(r.versions) {
		return presets.Version{}, presets.ErrNotFound
	}
	return copyVersion(r.versions[at]), nil
}

func (s *presetStore) Versions(ctx context.Context, account, workspace, slug string, offset, limit int) ([]presets.Version, int, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	r, ok := s.byName[presetName{account, workspace, slug}]
	if !ok {
		return nil, 0, presets.ErrNotFound
	}
	list := []presets.Version{}
	for _, v := range slice(r.versions, offset, limit) {
		list = append(list, copyVersion(v))
	}
	return list, len(r.versions), nil
}

// count returns the number of presets of a workspace. The caller holds mu.
func (s *presetStore) count(account, workspace string) (n int) {
	for name := range s.byName {
		if name.account == account && name.workspace == workspace {
			n++
		}
	}
	return n
}

// preset returns a copy with its last version.
func (r *presetRecord) preset() presets.Preset {
	p := r.Preset
	p.Designated = copyVersion(r.versions[len(r.versions)-1])
	return p
}

func (r *presetRecord) updated(at time.Time) {
	if at.After(r.UpdatedAt) {
		r.UpdatedAt = at
	}
}

func copyVersion(v presets.Version) presets.Version {
	v.Config = bytes.Clone(v.Config)
	return v
}

// slice returns at most limit entries of list from offset on.
func slice[T any](list []T, offset, limit int) []T {
	from := min(max(offset, 0), len(list))
	return list[from:min(from+max(limit, 0), len(list))]
}
