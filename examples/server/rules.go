package main

import (
	"context"
	"log/slog"
	"strings"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/router"
)

// mostAtStart is how many workspaces, and how many guardrails of each, are looked at
// when the server starts.
const mostAtStart = 100

// warnOfGuardrails logs the names in guardrails that the catalog in force does not
// have. The reply that creates a guardrail warns of names that are unknown then; this
// warns of names that a later catalog no longer has.
func warnOfGuardrails(ctx context.Context, of *signalbox.Service, log *slog.Logger) error {
	workspaces, _, err := of.Organization.Workspaces(ctx, demoAccount, 0, mostAtStart)
	if err != nil {
		return err
	}
	by := router.Actor{Principal: router.Principal{Account: demoAccount}}
	for _, w := range workspaces {
		list, _, err := of.Guardrails.List(ctx, by, w.ID, 0, mostAtStart)
		if err != nil {
			return err
		}
		for _, g := range list {
			for _, unknown := range of.Router.Catalog().Unknown(nil, router.Rule{
				AllowedModels: g.AllowedModels, IgnoredModels: g.IgnoredModels,
				AllowedProviders: g.AllowedProviders, IgnoredProviders: g.IgnoredProviders,
			}) {
				log.LogAttrs(ctx, slog.LevelWarn, "a guardrail names nothing",
					slog.String("guardrail", g.ID.String()), slog.String("workspace", w.Slug),
					slog.String("at", strings.TrimPrefix(unknown.Path, "rules.0.")), slog.String("message", unknown.Message))
			}
		}
	}
	return nil
}
