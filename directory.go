package signalbox

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
)

// directory answers the other parts' questions about accounts, members and
// workspaces.
type directory struct{ *organization.Service }

// Membership implements [keys.Directory].
func (d directory) Membership(ctx context.Context, account, user string) (keys.Membership, error) {
	a, err := d.Account(ctx, account)
	if errors.Is(err, organization.ErrNotFound) {
		return keys.Membership{}, nil
	}
	if err != nil {
		return keys.Membership{}, err
	}
	m, err := d.Member(ctx, account, user)
	if err != nil && !errors.Is(err, organization.ErrNotFound) {
		return keys.Membership{}, err
	}
	return keys.Membership{
		Organization: !a.Personal, Member: err == nil, Admin: err == nil && m.Role == organization.RoleAdmin,
	}, nil
}

// workspace returns id if the account has that workspace, and the id of the default
// workspace for "". If there is no such workspace it returns absent, the error of the
// calling part.
func (d directory) workspace(ctx context.Context, account, id string, absent error) (string, error) {
	if id == "" {
		found, err := d.DefaultWorkspace(ctx, account)
		if errors.Is(err, organization.ErrNotFound) {
			err = absent
		}
		return found, err
	}
	switch has, err := d.HasWorkspace(ctx, account, id); {
	case err != nil:
		return "", err
	case !has:
		return "", absent
	}
	return id, nil
}

// Workspace implements [keys.Directory].
func (d directory) Workspace(ctx context.Context, account, id string) (string, error) {
	return d.workspace(ctx, account, id, keys.ErrNotFound)
}

// Workspaces implements [activity.Directory].
func (d directory) Workspaces(ctx context.Context, account string) ([]string, error) {
	first, err := d.DefaultWorkspace(ctx, account)
	if err != nil {
		return nil, err
	}
	live, err := d.LiveWorkspaces(ctx, account)
	return append([]string{first}, live...), err
}

// defaultOf returns the id of the workspace whose default guardrail this is.
func (d directory) defaultOf(ctx context.Context, account string, guardrail uuid.UUID) (string, error) {
	live, err := d.LiveWorkspaces(ctx, account)
	if err != nil {
		return "", err
	}
	for _, workspace := range live {
		id, err := d.DefaultGuardrail(ctx, account, workspace)
		if err != nil {
			return "", err
		}
		if id == guardrail.String() {
			return workspace, nil
		}
	}
	return "", guardrails.ErrNotFound
}

// IsOrganization implements [activity.Directory].
func (d directory) IsOrganization(ctx context.Context, account string) (bool, error) {
	a, err := d.Account(ctx, account)
	return !a.Personal, err
}
