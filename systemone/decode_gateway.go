package systemone

import (
	"math"

	"github.com/signalbox/signalbox/internal/jsontext"
)

// providerOptions reads the options for a gateway, when all other members of the
// request are known.
func (d *decoder) providerOptions() {
	d.enter("providerOptions")
	defer d.leave()
	if !d.isObject(d.clientOptions) {
		return
	}
	for m := jsontext.Walk(d.clientOptions); m.Next(); {
		if string(m.Name) != "gateway" || jsontext.IsNull(m.Value) {
			continue
		}
		d.enter("gateway")
		d.members(m.Value, func(name string, value []byte) bool {
			if value != nil {
				d.gatewayMember(name, value)
			}
			return true
		})
		d.leave()
	}
}

func (d *decoder) gatewayMember(name string, value []byte) {
	r := d.request
	switch name {
	case "models":
		if d.unset(len(r.Models) == 0, "models") {
			r.Models, d.gateway = d.gatewayModels(value), true
		}
	case "only":
		if list := d.names(value, true, math.MaxInt); list != nil && len(list) == 0 {
			d.fail(mustNotBeEmpty)
		} else if !d.failed() && d.unset(d.preferences().Only == nil, "provider.only") {
			d.preferences().Only = list
		}
	case "order":
		if list := d.names(value, false, math.MaxInt); list != nil && !d.failed() && d.unset(d.preferences().Order == nil, "provider.order") {
			d.preferences().Order = list
		}
	case "sort":
		if by := gatewaySort(word(d.problems, value, "cost", "ttft", "tps")); d.unset(d.preferences().Sort.By == "", "provider.sort") {
			d.preferences().Sort.By = by
		}
	case "zeroDataRetention":
		if d.boolean(value) && d.unset(!d.preferences().ZDR, "provider.zdr") {
			d.preferences().ZDR = true
		}
	case "user":
		d.gatewayUser(d.text(value))
	case "disallowPromptTraining", "hipaaCompliant", "inferenceRegion", "byok", "has", "quotaEntityId":
		if string(value) != "false" {
			d.fail("is not supported")
		}
	}
}

// unset reports whether a setting has no value yet, and notes a problem otherwise.
func (d *decoder) unset(unset bool, member string) bool {
	if !unset {
		d.fail("must not be given together with " + member)
	}
	return unset
}

// preferences returns the preferences of the request, to be changed.
func (d *decoder) preferences() *Preferences {
	if d.request.Provider == nil {
		d.request.Provider = &Preferences{}
	}
	return d.request.Provider
}

// gatewayModels reads models. Clients of gateways expect the answers of one model,
// so a condition without a scope asks every question again.
func (d *decoder) gatewayModels(value []byte) []Entry {
	list := d.entries(value)
	for i := range list {
		if list[i].When != nil && list[i].Scope == "" {
			list[i].Scope = ScopeAll
		}
	}
	return list
}

// gatewayUser takes the user unless the request has one.
func (d *decoder) gatewayUser(user string) {
	if problem := tooLong(user); problem != "" {
		d.fail(problem)
	} else if d.request.User == "" {
		d.request.User = user
	}
}

// gatewaySort returns the figure for a word of the AI SDK.
func gatewaySort(word string) SortBy {
	switch word {
	case "cost":
		return SortPrice
	case "ttft":
		return SortLatency
	case "tps":
		return SortThroughput
	}
	return ""
}
