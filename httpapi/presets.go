package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/presets"
)

// versionsPart is the number of versions in one read, 512 KiB at most.
const versionsPart = 8

// presetRoutes are the routes of presets.
func (s *server) presetRoutes() []route {
	if s.Presets == nil {
		return nil
	}
	create := func(path string, shape presets.Shape) route {
		return route{post, "/presets/{slug}/" + path, management, func(x *exchange, ctx context.Context) error {
			return x.createPreset(ctx, shape)
		}}
	}
	return []route{
		create("chat/completions", presets.ChatCompletions),
		create("messages", presets.Messages),
		create("responses", presets.Responses),
		{get, "/presets", management, (*exchange).listPresets},
		{get, "/presets/{slug}", management, (*exchange).getPreset},
		{get, "/presets/{slug}/versions", management, (*exchange).listPresetVersions},
		{get, "/presets/{slug}/versions/{version}", management, (*exchange).getPresetVersion},
	}
}

// presetObject is a preset as it appears in lists.
type presetObject struct {
	ID              uuid.UUID            `json:"id"`
	Name            string               `json:"name"`
	Slug            string               `json:"slug"`
	Description     *string              `json:"description"` // always null
	Status          presets.Status       `json:"status"`
	StatusUpdatedAt *string              `json:"status_updated_at"`
	CreatedAt       *string              `json:"created_at"`
	UpdatedAt       *string              `json:"updated_at"`
	Creator         string               `json:"creator_user_id"`
	Workspace       *string              `json:"workspace_id"` // null if the program has no workspaces
	Designated      uuid.UUID            `json:"designated_version_id"`
	Version         *presetVersionObject `json:"designated_version,omitempty"`
}

type presetVersionObject struct {
	ID           uuid.UUID       `json:"id"`
	Preset       uuid.UUID       `json:"preset_id"`
	Number       int             `json:"version"`
	Config       json.RawMessage `json:"config"`
	SystemPrompt *string         `json:"system_prompt"`
	Creator      string          `json:"creator_id"`
	CreatedAt    *string         `json:"created_at"`
	UpdatedAt    *string         `json:"updated_at"` // versions never change
}

func describePreset(p presets.Preset) presetObject {
	o := presetObject{
		ID: p.ID, Name: p.Name, Slug: p.Slug, Status: p.Status, StatusUpdatedAt: stamp(p.StatusUpdatedAt),
		CreatedAt: stamp(p.CreatedAt), UpdatedAt: stamp(p.UpdatedAt), Creator: p.Creator, Designated: p.Designated.ID,
	}
	if p.Workspace != "" {
		o.Workspace = &p.Workspace
	}
	return o
}

// wholePreset returns a preset with its current version.
func wholePreset(p presets.Preset) presetObject {
	o := describePreset(p)
	o.Version = new(describePresetVersion(p.Designated))
	return o
}

func describePresetVersion(v presets.Version) presetVersionObject {
	o := presetVersionObject{
		ID: v.ID, Preset: v.Preset, Number: v.Number, Config: v.Config, Creator: v.Creator,
		CreatedAt: stamp(v.CreatedAt), UpdatedAt: stamp(v.CreatedAt),
	}
	if v.SystemPrompt != "" {
		o.SystemPrompt = &v.SystemPrompt
	}
	return o
}

// presetWorkspace returns the workspace in the query; "" is the account's default
// workspace.
func (x *exchange) presetWorkspace() (string, error) {
	query := x.parameters()
	return query.workspace(), query.err()
}

// presetPage returns presetWorkspace and the page in the query.
func (x *exchange) presetPage() (string, page, error) {
	query := x.parameters()
	return query.workspace(), query.listPage(), query.err()
}

// createPreset serves POST /presets/{slug}/chat/completions and its siblings.
func (x *exchange) createPreset(ctx context.Context, shape presets.Shape) error {
	workspace, err := x.presetWorkspace()
	if err != nil {
		return err
	}
	body, err := x.body()
	if err != nil {
		return err
	}
	p, err := x.s.Presets.Create(ctx, x.actor(), workspace, x.r.PathValue("slug"), shape, body)
	if err != nil {
		return err
	}
	x.reply(http.StatusOK, data{wholePreset(p)})
	return nil
}

// listPresets serves GET /presets.
func (x *exchange) listPresets(ctx context.Context) error {
	workspace, p, err := x.presetPage()
	if err != nil {
		return err
	}
	return replyList(ctx, x, p, wholePage, func(ctx context.Context, at page) ([]presetObject, int, error) {
		list, total, err := x.s.Presets.List(ctx, x.actor(), workspace, at.offset, at.limit)
		return describeAll(list, describePreset), total, err
	})
}

// getPreset serves GET /presets/{slug}.
func (x *exchange) getPreset(ctx context.Context) error {
	workspace, err := x.presetWorkspace()
	if err != nil {
		return err
	}
	p, err := x.s.Presets.Get(ctx, x.actor(), workspace, x.r.PathValue("slug"))
	if err != nil {
		return err
	}
	x.reply(http.StatusOK, data{wholePreset(p)})
	return nil
}

// listPresetVersions serves GET /presets/{slug}/versions.
func (x *exchange) listPresetVersions(ctx context.Context) error {
	workspace, p, err := x.presetPage()
	if err != nil {
		return err
	}
	// Versions deleted between two reads shift the rest of the list; gone counts them.
	var gone, last int
	return replyList(ctx, x, p, versionsPart, func(ctx context.Context, at page) ([]presetVersionObject, int, error) {
		read := func() ([]presets.Version, int, error) {
			return x.s.Presets.Versions(ctx, x.actor(), workspace, x.r.PathValue("slug"), max(at.offset-gone, 0), at.limit)
		}
		if at.offset == p.offset {
			gone = 0
		}
		list, total, err := read()
		if at.offset > p.offset && len(list) > 0 && list[0].Number > last+1 {
			gone += list[0].Number - last - 1
			list, total, err = read()
		}
		if len(list) > 0 {
			last = list[len(list)-1].Number
		}
		return describeAll(list, describePresetVersion), total, err
	})
}

// getPresetVersion serves GET /presets/{slug}/versions/{version}.
func (x *exchange) getPresetVersion(ctx context.Context) error {
	workspace, err := x.presetWorkspace()
	if err != nil {
		return err
	}
	text := x.r.PathValue("version")
	number, err := strconv.Atoi(text)
	if err != nil || strconv.Itoa(number) != text {
		return errNotFound // a version is a number
	}
	v, err := x.s.Presets.Version(ctx, x.actor(), workspace, x.r.PathValue("slug"), number)
	if err != nil {
		return err
	}
	x.reply(http.StatusOK, data{describePresetVersion(v)})
	return nil
}
