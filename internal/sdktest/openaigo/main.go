// The program runs cases against openai-go. Standard input: {baseURL, cases: [{name,
// key, request or call}]}. Standard output: [{name, value, requestId} or {name, error}],
// in the order of the cases.
//
// A request is decoded into the SDK's own parameters. A call is the name of one of the
// contracts.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

type input struct {
	BaseURL string `json:"baseURL"`
	Cases   []struct {
		Name    string          `json:"name"`
		Key     string          `json:"key"`
		Call    string          `json:"call"`
		Request json.RawMessage `json:"request"`
	} `json:"cases"`
}

type outcome struct {
	Name      string  `json:"name"`
	Value     any     `json:"value,omitempty"`
	RequestID string  `json:"requestId,omitempty"`
	Error     *failed `json:"error,omitempty"`
}

type failed struct {
	Class      string `json:"class"`
	Status     int    `json:"status"`
	Message    string `json:"message"`
	Type       string `json:"type"`
	Param      string `json:"param"`
	Code       string `json:"code"`
	RequestID  string `json:"requestId"`
	RetryAfter string `json:"retryAfter"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		return err
	}
	report := []outcome{}
	for _, c := range in.Cases {
		params := contracts()[c.Call]
		if len(c.Request) > 0 {
			if err := json.Unmarshal(c.Request, &params); err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
		}
		report = append(report, ask(in.BaseURL, c.Key, c.Name, params))
	}
	return json.NewEncoder(os.Stdout).Encode(report)
}

func ask(base, key, name string, params openai.DecisionNewParams) outcome {
	client := openai.NewClient(option.WithAPIKey(key), option.WithBaseURL(base), option.WithMaxRetries(0), option.WithUnsafeAllowHTTP())
	var response *http.Response
	decision, err := client.Decisions.New(context.Background(), params, option.WithResponseInto(&response))
	var refused *openai.Error
	switch {
	case errors.As(err, &refused):
		return outcome{Name: name, Error: &failed{
			Class: "Error", Status: refused.StatusCode, Message: refused.Message, Type: refused.Type, Param: refused.Param, Code: refused.Code,
			RequestID: refused.Response.Header.Get("X-Request-Id"), RetryAfter: refused.Response.Header.Get("Retry-After"),
		}}
	case err != nil:
		return outcome{Name: name, Error: &failed{Class: fmt.Sprintf("%T", err), Message: err.Error()}}
	}
	return outcome{Name: name, Value: described(decision), RequestID: response.Header.Get("X-Request-Id")}
}

// described returns what the SDK's typed fields hold, not the JSON that they were
// decoded from.
func described(d *openai.Decision) map[string]any {
	answers := []any{}
	for _, a := range d.Answers {
		switch a := a.AsAny().(type) {
		case openai.DecisionAnswerPredicate:
			answers = append(answers, map[string]any{"type": "predicate", "name": a.Name, "probability": a.Probability})
		case openai.DecisionAnswerChoice:
			list := []any{}
			for _, p := range a.Probabilities {
				list = append(list, map[string]any{"value": either(p.Value.OfString, p.Value.OfBool, p.Value.JSON.OfBool.Valid()), "probability": p.Probability})
			}
			answers = append(answers, map[string]any{
				"type": "choice", "name": a.Name, "choice": either(a.Choice.OfString, a.Choice.OfBool, a.Choice.JSON.OfBool.Valid()),
				"confidence": a.Confidence, "probabilities": list,
			})
		case openai.DecisionAnswerScore:
			list := []any{}
			for _, p := range a.Probabilities {
				list = append(list, map[string]any{"value": p.Value, "label": p.Label, "probability": p.Probability})
			}
			answers = append(answers, map[string]any{
				"type": "score", "name": a.Name, "score": a.Score, "confidence": a.Confidence, "probabilities": list,
			})
		case openai.DecisionAnswerRefusal:
			answers = append(answers, map[string]any{"type": "refusal", "name": a.Name})
		}
	}
	return map[string]any{
		"model": d.Model, "answers": answers, "input": d.Usage.InputTokens, "output": d.Usage.OutputTokens, "total": d.Usage.TotalTokens,
		"cached": d.Usage.InputTokensDetails.CachedTokens, "reasoning": d.Usage.OutputTokensDetails.ReasoningTokens,
	}
}

func either(text string, is, isBool bool) any {
	if isBool {
		return is
	}
	return text
}
