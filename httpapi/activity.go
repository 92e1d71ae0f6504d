package httpapi

import (
	"context"
	"strconv"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
)

func (s *server) activityRoutes() []route {
	if s.Activity == nil {
		return nil
	}
	return []route{{method: get, path: "/activity", keys: management, serve: (*exchange).listActivity}}
}

type activityItem struct {
	Date             string     `json:"date"`
	Model            string     `json:"model"`
	Permaslug        string     `json:"model_permaslug"`
	EndpointID       string     `json:"endpoint_id"`
	ProviderName     string     `json:"provider_name"`
	Requests         int64      `json:"requests"`
	PromptTokens     int64      `json:"prompt_tokens"`
	CompletionTokens int64      `json:"completion_tokens"`
	ReasoningTokens  int64      `json:"reasoning_tokens"`
	CachedTokens     int64      `json:"cached_tokens"`
	Usage            router.USD `json:"usage"`
	BYOKUsage        router.USD `json:"byok_usage_inference"`
	WorkspaceID      string     `json:"workspace_id,omitempty"`
}

// listActivity serves GET /activity.
func (x *exchange) listActivity(ctx context.Context) error {
	query := x.parameters()
	q := activity.Query{
		Date: query.text("date"), KeyHash: query.text("api_key_hash"), Member: query.text("user_id"),
		ByWorkspace: query.word("group_by", "workspace") != "", Workspace: query.workspace(),
	}
	items, err := x.s.Activity.Items(ctx, x.principal.Account, q)
	if err := query.with(err); err != nil { // err lists invalid dates and hashes
		return err
	}
	x.out = append(x.out, `{"data":[`...)
	for i := range items {
		if i > 0 {
			x.out = append(x.out, ',')
		}
		if x.out = appendJSON(x.out, describeActivity(&items[i])); len(x.out) > maxReply {
			return badRequest("date", "give a date, or a workspace_id, api_key_hash or user_id, because all rows have more than "+strconv.Itoa(maxReply)+" bytes")
		}
	}
	x.out = append(x.out, "]}"...)
	return nil
}

func describeActivity(i *activity.Item) activityItem {
	return activityItem{
		Date: i.Date, Model: i.Model, Permaslug: i.Permaslug, EndpointID: i.Endpoint.String(), ProviderName: i.Provider,
		Requests: i.Requests, PromptTokens: i.Prompt, CompletionTokens: i.Completion,
		ReasoningTokens: i.Reasoning, CachedTokens: i.Cached,
		Usage: i.Cost.Credit, BYOKUsage: i.Cost.BYOK(), WorkspaceID: i.Workspace,
	}
}
