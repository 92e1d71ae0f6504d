package httpapi

import (
	"context"
	"slices"
	"strings"
)

// modality is what every model of the catalog puts out.
const modality = "decisions"

type modelCount struct {
	Count int `json:"count"`
}

// countModels serves GET /models/count: how many models GET /models lists.
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

// getModel serves GET /model/{author}/{slug}: one of the models that GET /models
// lists, named in any way in which a request may name it.
func (x *exchange) getModel(ctx context.Context) error {
	all, err := x.shown(ctx)
	if err != nil {
		return err
	}
	refs, err := x.s.Router.Catalog().Resolve(x.r.PathValue("author") + "/" + x.r.PathValue("slug"))
	if err != nil {
		return errNotFound
	}
	i := slices.IndexFunc(all, func(m served) bool { return m.Model == refs[0].Model })
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

// models returns those of all that the filters of the query leave:
// output_modalities, a list in which "all" stands for every one, and category.
// Models that name no category are in none.
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

// has says whether a word is in a list, without a look at case and outer spaces.
func has(list []string, word string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(strings.TrimSpace(s), word) })
}

// detailsLink is where the endpoints of a model are listed, under the path of the
// models.
func detailsLink(models string, m served) string { return models + "/" + m.ID + "/endpoints" }
