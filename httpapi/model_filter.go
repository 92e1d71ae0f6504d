package httpapi

import (
	"context"
	"slices"
	"strings"
)

// modality is the output modality of every model in the catalog.
const modality = "decisions"

type modelCount struct {
	Count int `json:"count"`
}

// countModels serves GET /models/count: the number of models that GET /models lists.
func (x *exchange) countModels(ctx context.Context) error {
	all, err := x.shown(ctx)
	if err != nil {
		return err
	}
	query := x.parameters()
	all = query.models(all)
	if err := query.err(); err != nil {
		return err
	}
	x.out = appendJSON(x.out, data{modelCount{len(all)}})
	return nil
}

// getModel serves GET /model/{author}/{slug}: one of the models that GET /models lists.
// The path may hold any name of the model that a request may hold.
func (x *exchange) getModel(ctx context.Context) error {
	all, err := x.shown(ctx)
	if err != nil {
		return err
	}
	refs, err := x.s.Router.Catalog().Resolve(x.r.PathValue("author") + "/" + x.r.PathValue("slug"))
	if err != nil {
		return errNotFound
	}
	i := slices.IndexFunc(all, func(m served) bool { return m.Model == named(refs[0]) })
	if i < 0 {
		return errNotFound
	}
	o := describeModel(all[i])
	if p := requestPath(x.r); strings.Contains(p, "/model/") {
		o.Links.Details = detailsLink(p[:strings.LastIndex(p, "/model/")]+"/models", all[i])
	}
	x.out = appendJSON(x.out, data{o})
	return nil
}

// models returns those models that match the query: output_modalities, a list in which
// "all" matches every modality, and category. A model without categories matches no
// category.
func (p *parameters) models(all []served) []served {
	if text := p.text("output_modalities"); text != "" && !has(strings.Split(text, ","), modality) && !has(strings.Split(text, ","), "all") {
		return nil
	}
	category := p.text("category")
	if category == "" {
		return all
	}
	var some []served
	for _, m := range all {
		if has(m.Categories, category) {
			some = append(some, m)
		}
	}
	return some
}

// has reports whether list contains word, ignoring case and surrounding spaces.
func has(list []string, word string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(strings.TrimSpace(s), word) })
}

// detailsLink returns the path of a model's endpoints, given the path of the models.
func detailsLink(models string, m served) string { return models + "/" + m.ID + "/endpoints" }
