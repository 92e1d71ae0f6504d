package router

import "strings"

// own is a credential of the caller's that may be used for the current model.
type own struct {
	credential int32 // in the plan's input
	provider   int32 // in the catalog's providers
}

const shared = -1 // no own credential

// addOwn adds candidates with the caller's own credentials, for the endpoints that
// the filters kept. The filters are the same, whoever pays.
func (p *planner) addOwn() {
	if len(p.in.Credentials) == 0 {
		return
	}
	var model *Model
	for i := range p.shared {
		s := &p.in.Catalog.specs[p.marks[i].spec]
		if s.model != model {
			model = s.model
			p.ownOf(p.in.Catalog.byModel[model])
		}
		var first, fallback bool // found one already: only the oldest of each kind takes part in a draw
		for _, o := range p.own {
			if o.provider != s.provider {
				continue
			}
			k, mark := p.ownKey(p.keys[i], p.marks[i], o.credential)
			found := &first
			if p.in.Credentials[o.credential].Fallback {
				found = &fallback
			}
			mark.balanced = mark.balanced && !*found
			*found = true
			p.keys, p.marks = append(p.keys, k), append(p.marks, mark)
		}
	}
}

// ownOf lists the credentials that may be used for a model, oldest first.
func (p *planner) ownOf(model int32) {
	p.own = p.own[:0]
	for i := range p.in.Credentials {
		c := &p.in.Credentials[i]
		if provider, ok := p.payee(c, model); ok {
			p.own = append(p.own, own{credential: int32(i), provider: provider})
		}
	}
}

// payee returns the provider of a credential, where the credential may be used for
// the model. A display name does not match, because a secret must not be sent by an
// ambiguous name.
func (p *planner) payee(c *Credential, model int32) (provider int32, ok bool) {
	if c.Secret == "" || c.Models != nil && !p.namesModel(c.Models, model) {
		return 0, false
	}
	t, known := p.target(c.Provider)
	if !known || int(t) >= len(p.in.Catalog.providers) {
		return 0, false
	}
	if info := p.in.Catalog.providers[t]; !strings.EqualFold(info.Slug, c.Provider) || info.NoOwnCredentials {
		return 0, false
	}
	return t, true
}

// ownKey turns the key and the mark of a shared endpoint into those of an own
// credential.
func (p *planner) ownKey(k key, m mark, credential int32) (key, mark) {
	reason, payer := ReasonOwn, uint64(payerOwn)
	if p.in.Credentials[credential].Fallback {
		reason, payer = ReasonOwnFallback, payerFallback
	}
	if m.reason == ReasonOutage {
		k.lead -= (rankOutage - rankSound) << rankShift // an outage moves only shared endpoints back
	}
	if m.reason != ReasonPinned {
		m.reason = reason
	}
	k.lead = k.lead - payerShared<<p.layout.payer + payer<<p.layout.payer
	m.own = credential
	return k, m
}
