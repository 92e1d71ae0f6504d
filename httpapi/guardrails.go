package httpapi

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/guardrails"
)

// guardrailsPart is the number of guardrails in one read, 5 MiB at most.
const guardrailsPart = 8

// guardrailRoutes are the routes of guardrails and of their assignments.
func (s *server) guardrailRoutes() []route {
	if s.Guardrails == nil {
		return nil
	}
	routes := []route{
		{get, "/guardrails", management, (*exchange).listGuardrails},
		{post, "/guardrails", management, (*exchange).createGuardrail},
		{get, "/guardrails/{id}", management, (*exchange).getGuardrail},
		{patch, "/guardrails/{id}", management, (*exchange).updateGuardrail},
		{remove, "/guardrails/{id}", management, (*exchange).deleteGuardrail},
	}
	of := func(serve func(context.Context, *exchange) error) func(*exchange, context.Context) error {
		return func(x *exchange, ctx context.Context) error { return serve(ctx, x) }
	}
	for _, kind := range []assignmentKind{
		{guardrails.KeyKind, "keys", "key_hashes", describeKeyAssignment},
		{guardrails.MemberKind, "members", "member_user_ids", describeMemberAssignment},
	} {
		routes = append(routes,
			route{get, "/guardrails/assignments/" + kind.word, management, of(kind.listAll)},
			route{get, "/guardrails/{id}/assignments/" + kind.word, management, of(kind.list)},
			route{post, "/guardrails/{id}/assignments/" + kind.word, management, of(kind.assign)},
			route{post, "/guardrails/{id}/assignments/" + kind.word + "/remove", management, of(kind.unassign)},
		)
	}
	return routes
}

// guardrailID returns the guardrail id of the path.
func (x *exchange) guardrailID() (uuid.UUID, error) {
	text, err := x.pathID()
	if err != nil {
		return uuid.Nil, err
	}
	return uuid.Parse(text)
}

// listGuardrails serves GET /guardrails.
func (x *exchange) listGuardrails(ctx context.Context) error {
	query := x.parameters()
	p, workspace := query.listPage(), query.workspace()
	if err := query.err(); err != nil {
		return err
	}
	return replyList(ctx, x, p, guardrailsPart, func(ctx context.Context, at page) ([]guardrailObject, int, error) {
		list, total, err := x.s.Guardrails.List(ctx, x.actor(), workspace, at.offset, at.limit)
		return describeAll(list, describeGuardrail), total, err
	})
}

// createGuardrail serves POST /guardrails.
func (x *exchange) createGuardrail(ctx context.Context) error {
	o, err := x.object()
	if err != nil {
		return err
	}
	workspace := o.id("workspace_id")
	p := readGuardrail(o)
	o.require("name")
	if err := checkGuardrail(o, p); err != nil {
		return err
	}
	g, err := x.s.Guardrails.Create(ctx, x.actor(), workspace.To, p)
	if err != nil {
		return err
	}
	x.warn(x.s.Guardrails.Warnings(p))
	x.reply(http.StatusCreated, data{describeGuardrail(g)})
	return nil
}

// getGuardrail serves GET /guardrails/{id}.
func (x *exchange) getGuardrail(ctx context.Context) error {
	id, err := x.guardrailID()
	if err != nil {
		return err
	}
	g, err := x.s.Guardrails.Get(ctx, x.actor(), id)
	if err != nil {
		return err
	}
	x.reply(http.StatusOK, data{describeGuardrail(g)})
	return nil
}

// updateGuardrail serves PATCH /guardrails/{id}.
func (x *exchange) updateGuardrail(ctx context.Context) error {
	id, err := x.guardrailID()
	if err != nil {
		return err
	}
	o, err := x.object()
	if err != nil {
		return err
	}
	p := readGuardrail(o)
	if err := checkGuardrail(o, p); err != nil {
		return err
	}
	g, err := x.s.Guardrails.Update(ctx, x.actor(), id, p)
	if err != nil {
		return err
	}
	x.warn(x.s.Guardrails.Warnings(p))
	x.reply(http.StatusOK, data{describeGuardrail(g)})
	return nil
}

// deleteGuardrail serves DELETE /guardrails/{id}.
func (x *exchange) deleteGuardrail(ctx context.Context) error {
	id, err := x.guardrailID()
	if err != nil {
		return err
	}
	if err := x.s.Guardrails.Delete(ctx, x.actor(), id); err != nil {
		return err
	}
	x.reply(http.StatusOK, deleted{true})
	return nil
}
