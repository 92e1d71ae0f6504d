package sqlstore

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/presets"
	"github.com/signalbox/signalbox/router"
)

var _ presets.Store = (*Presets)(nil)

// Presets keeps presets and their versions.
type Presets struct{ db sqldb.DB }

// NewPresets returns the presets in db.
func NewPresets(db sqldb.DB) *Presets { return &Presets{db: db} }

const (
	versionColumns = `v.id, v.preset, v.number, v.config, v.system_prompt, v.creator, v.created_at`
	presetColumns  = `p.id, p.account, p.workspace, p.slug, p.name, p.status, p.status_updated_at, p.creator,
	p.created_at, p.updated_at, ` + versionColumns
	designated = `{presets} p JOIN {preset_versions} v ON v.preset = p.id AND v.number = p.versions`
)

// AddVersion implements [presets.Store]. Concurrent calls for one preset wait for its
// row, which counts the versions.
func (s *Presets) AddVersion(
	ctx context.Context, p presets.Preset, v presets.Version, b presets.Bounds, c router.Change,
) (got presets.Preset, err error) {
	err = change(ctx, s.db, c, func(tx sqldb.Tx) (bool, error) {
		added, err := tx.Exec(ctx, `
			INSERT INTO {presets} (id, account, workspace, slug, name, status, status_updated_at, creator,
				created_at, updated_at, versions)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0)
			ON CONFLICT (account, workspace, slug) DO NOTHING`,
			p.ID.String(), p.Account, p.Workspace, p.Slug, p.Name, string(p.Status), sqldb.Micros(p.StatusUpdatedAt), p.Creator,
			sqldb.Micros(p.CreatedAt), sqldb.Micros(p.UpdatedAt))
		if err != nil {
			return false, err
		}
		if added > 0 && b.Presets > 0 {
			if err := presetsWithin(ctx, tx, p.Account, p.Workspace, b.Presets); err != nil {
				return false, err
			}
		}
		next, err := sqldb.One(ctx, tx, presets.ErrConflict, scanSequence, `
			UPDATE {presets} SET versions = versions + 1,
				updated_at = CASE WHEN updated_at < $4 THEN $4 ELSE updated_at END
			WHERE account = $1 AND workspace = $2 AND slug = $3
			RETURNING id, versions`, p.Account, p.Workspace, p.Slug, sqldb.Micros(v.CreatedAt))
		if err != nil {
			return false, err
		}
		_, err = tx.Exec(ctx, `
			INSERT INTO {preset_versions} (preset, number, id, config, system_prompt, creator, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			next.preset, next.last, v.ID.String(), text(v.Config), v.SystemPrompt, v.Creator, sqldb.Micros(v.CreatedAt))
		if err != nil {
			return false, err
		}
		if gone := next.last - b.Versions; b.Versions > 0 && gone > 0 {
			_, err := tx.Exec(ctx, `DELETE FROM {preset_versions} WHERE preset = $1 AND number <= $2`, next.preset, gone)
			if err != nil {
				return false, err
			}
		}
		got, err = preset(ctx, tx, p.Account, p.Workspace, p.Slug)
		return true, err
	})
	return got, err
}

// presetsWithin returns [presets.ErrFull] if a workspace has more than most presets,
// the new one included. Concurrent transactions that add a preset wait for a row that
// all of them lock, because a count that misses a concurrent preset is too low.
func presetsWithin(ctx context.Context, tx sqldb.Tx, account, workspace string, most int) error {
	if _, err := tx.Exec(ctx, `UPDATE {migrations} SET name = name WHERE version = 0`); err != nil {
		return err
	}
	n, err := sqldb.Count(ctx, tx, `SELECT count(*) FROM {presets} WHERE account = $1 AND workspace = $2`, account, workspace)
	if err == nil && n > most {
		err = presets.ErrFull
	}
	return err
}

// sequence is the range of versions of a preset, up to last. The oldest may be dropped.
type sequence struct {
	preset string
	last   int
}

func scanSequence(rows sqldb.Rows) (s sequence, err error) {
	err = rows.Scan(&s.preset, &s.last)
	return s, err
}

// SetStatus implements [presets.Store].
func (s *Presets) SetStatus(ctx context.Context, account, workspace, slug string, status presets.Status, at time.Time, c router.Change) (got presets.Preset, err error) {
	err = change(ctx, s.db, c, func(tx sqldb.Tx) (bool, error) {
		n, err := tx.Exec(ctx, `
			UPDATE {presets} SET status = $4, status_updated_at = $5,
				updated_at = CASE WHEN updated_at < $5 THEN $5 ELSE updated_at END
			WHERE account = $1 AND workspace = $2 AND slug = $3`, account, workspace, slug, string(status), sqldb.Micros(at))
		switch {
		case err != nil:
			return false, err
		case n == 0:
			return false, presets.ErrNotFound
		}
		got, err = preset(ctx, tx, account, workspace, slug)
		return true, err
	})
	return got, err
}

// Get implements [presets.Store].
func (s *Presets) Get(ctx context.Context, account, workspace, slug string) (p presets.Preset, err error) {
	err = s.db.ReadOne(ctx, func(tx sqldb.Tx) error {
		p, err = preset(ctx, tx, account, workspace, slug)
		return err
	})
	return p, err
}

func preset(ctx context.Context, tx sqldb.Tx, account, workspace, slug string) (presets.Preset, error) {
	return sqldb.One(ctx, tx, presets.ErrNotFound, scanPreset, `
		SELECT `+presetColumns+` FROM `+designated+`
		WHERE p.account = $1 AND p.workspace = $2 AND p.slug = $3`, account, workspace, slug)
}

func scanPreset(rows sqldb.Rows) (p presets.Preset, err error) {
	var id, status string
	var statusUpdated, created, updated int64
	var v versionRow
	dest := []any{
		&id, &p.Account, &p.Workspace, &p.Slug, &p.Name, &status, &statusUpdated, &p.Creator, &created, &updated,
	}
	if err = rows.Scan(append(dest, v.dest()...)...); err != nil {
		return p, err
	}
	p.Status = presets.Status(status)
	p.StatusUpdatedAt, p.CreatedAt, p.UpdatedAt = sqldb.Instant(statusUpdated), sqldb.Instant(created), sqldb.Instant(updated)
	if p.ID, err = uuid.Parse(id); err != nil {
		return p, err
	}
	p.Designated, err = v.version()
	return p, err
}

// versionRow is a version as it is stored.
type versionRow struct {
	id, preset string
	config     *string
	created    int64
	presets.Version
}

// dest returns the scan destinations of a version.
func (r *versionRow) dest() []any {
	return []any{&r.id, &r.preset, &r.Number, &r.config, &r.SystemPrompt, &r.Creator, &r.created}
}

func (r *versionRow) version() (v presets.Version, err error) {
	v = r.Version
	v.Config, v.CreatedAt = raw(r.config), sqldb.Instant(r.created)
	if v.ID, err = uuid.Parse(r.id); err != nil {
		return v, err
	}
	v.Preset, err = uuid.Parse(r.preset)
	return v, err
}

func scanVersion(rows sqldb.Rows) (presets.Version, error) {
	var v versionRow
	if err := rows.Scan(v.dest()...); err != nil {
		return presets.Version{}, err
	}
	return v.version()
}

// List implements [presets.Store].
func (s *Presets) List(ctx context.Context, account, workspace string, offset, limit int) (found []presets.Preset, total int, err error) {
	err = s.db.Read(ctx, func(tx sqldb.Tx) error {
		total, err = sqldb.Count(ctx, tx, `SELECT count(*) FROM {presets} WHERE account = $1 AND workspace = $2`, account, workspace)
		if err != nil {
			return err
		}
		found, err = sqldb.List(ctx, tx, scanPreset, `
			SELECT `+presetColumns+` FROM `+designated+` WHERE p.account = $1 AND p.workspace = $2
			ORDER BY p.updated_at DESC, p.id DESC LIMIT $3 OFFSET $4`, account, workspace, max(limit, 0), max(offset, 0))
		return err
	})
	return found, total, err
}

// Version implements [presets.Store].
func (s *Presets) Version(ctx context.Context, account, workspace, slug string, number int) (v presets.Version, err error) {
	err = s.db.ReadOne(ctx, func(tx sqldb.Tx) error {
		v, err = sqldb.One(ctx, tx, presets.ErrNotFound, scanVersion, `
			SELECT `+versionColumns+` FROM {presets} p JOIN {preset_versions} v ON v.preset = p.id
			WHERE p.account = $1 AND p.workspace = $2 AND p.slug = $3 AND v.number = $4`, account, workspace, slug, number)
		return err
	})
	return v, err
}

// Versions implements [presets.Store].
func (s *Presets) Versions(ctx context.Context, account, workspace, slug string, offset, limit int) (found []presets.Version, total int, err error) {
	err = s.db.Read(ctx, func(tx sqldb.Tx) error {
		of, err := sqldb.One(ctx, tx, presets.ErrNotFound, scanSequence, `
			SELECT id, versions FROM {presets} WHERE account = $1 AND workspace = $2 AND slug = $3`, account, workspace, slug)
		if err != nil {
			return err
		}
		total, err = sqldb.Count(ctx, tx, `SELECT count(*) FROM {preset_versions} WHERE preset = $1`, of.preset)
		if err != nil {
			return err
		}
		found, err = sqldb.List(ctx, tx, scanVersion, `
			SELECT `+versionColumns+` FROM {preset_versions} v WHERE v.preset = $1
			ORDER BY v.number LIMIT $2 OFFSET $3`, of.preset, max(limit, 0), max(offset, 0))
		return err
	})
	return found, total, err
}
