package httpapi

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/guardrails"
)

// assignmentKind serves the assignments of keys or those of members.
type assignmentKind struct {
	kind     guardrails.Kind
	word     string // its name in paths
	member   string // of bodies: the list of keys or members
	describe func(guardrails.Assignment) any
}

// maxAssigned is how many keys or members one request may name.
const maxAssigned = 10_000

type keyAssignmentObject struct {
	ID        uuid.UUID `json:"id"`
	Guardrail uuid.UUID `json:"guardrail_id"`
	Hash      string    `json:"key_hash"`
	Name      string    `json:"key_name"`
	Label     string    `json:"key_label"`
	By        *string   `json:"assigned_by"`
	CreatedAt *string   `json:"created_at"`
}

type memberAssignmentObject struct {
	ID           uuid.UUID `json:"id"`
	Guardrail    uuid.UUID `json:"guardrail_id"`
	User         string    `json:"user_id"`
	Organization string    `json:"organization_id"`
	By           *string   `json:"assigned_by"`
	CreatedAt    *string   `json:"created_at"`
}

func describeKeyAssignment(a guardrails.Assignment) any {
	return keyAssignmentObject{a.ID, a.Guardrail, a.Subject, a.Name, a.Label, assigner(a), stamp(a.CreatedAt)}
}

func describeMemberAssignment(a guardrails.Assignment) any {
	return memberAssignmentObject{a.ID, a.Guardrail, a.Subject, a.Account, assigner(a), stamp(a.CreatedAt)}
}

// assigner returns nil, which is null in JSON, if the embedding program made the
// assignment.
func assigner(a guardrails.Assignment) *string {
	if a.By == "" {
		return nil
	}
	return &a.By
}

// listAll serves GET /guardrails/assignments/….
func (k assignmentKind) listAll(ctx context.Context, x *exchange) error {
	return k.rows(ctx, x, uuid.Nil)
}

// list serves GET /guardrails/{id}/assignments/….
func (k assignmentKind) list(ctx context.Context, x *exchange) error {
	id, err := x.guardrailID()
	if err != nil {
		return err
	}
	if id == uuid.Nil { // uuid.Nil means all guardrails below
		return errNotFound
	}
	return k.rows(ctx, x, id)
}

func (k assignmentKind) rows(ctx context.Context, x *exchange, id uuid.UUID) error {
	query := x.parameters()
	p := query.listPage()
	if err := query.err(); err != nil {
		return err
	}
	return replyList(ctx, x, p, wholePage, func(ctx context.Context, at page) ([]any, int, error) {
		list, total, err := x.s.Guardrails.Assignments(ctx, x.actor(), id, k.kind, at.offset, at.limit)
		return describeAll(list, k.describe), total, err
	})
}

// assign serves POST /guardrails/{id}/assignments/….
func (k assignmentKind) assign(ctx context.Context, x *exchange) error {
	id, subjects, err := k.read(x)
	if err != nil {
		return err
	}
	n, err := x.s.Guardrails.Assign(ctx, x.actor(), id, k.kind, subjects)
	if err != nil {
		return err
	}
	x.reply(http.StatusOK, struct {
		Count int `json:"assigned_count"`
	}{n})
	return nil
}

// unassign serves POST /guardrails/{id}/assignments/…/remove.
func (k assignmentKind) unassign(ctx context.Context, x *exchange) error {
	id, subjects, err := k.read(x)
	if err != nil {
		return err
	}
	n, err := x.s.Guardrails.Unassign(ctx, x.actor(), id, k.kind, subjects)
	if err != nil {
		return err
	}
	x.reply(http.StatusOK, struct {
		Count int `json:"unassigned_count"`
	}{n})
	return nil
}

// read returns the guardrail of the path and the keys or members of the body.
func (k assignmentKind) read(x *exchange) (uuid.UUID, []string, error) {
	id, err := x.guardrailID()
	if err != nil {
		return uuid.Nil, nil, err
	}
	o, err := x.object()
	if err != nil {
		return uuid.Nil, nil, err
	}
	o.require(k.member)
	var subjects []string
	if _, ok := o.given(k.member); ok {
		subjects = o.texts(k.member, 1, maxAssigned).To
	}
	return id, subjects, o.err()
}
