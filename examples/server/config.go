package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// config is the content of the configuration file.
type config struct {
	Providers []providerConfig `json:"providers"`
	Models    []modelConfig    `json:"models"`
	Endpoints []endpointConfig `json:"endpoints"`
	Routing   routingConfig    `json:"routing"`
	Webhooks  []webhookConfig  `json:"webhooks"`
}

// routingConfig switches on what is off by default.
type routingConfig struct {
	Share    bool            `json:"share"`
	Remember *rememberConfig `json:"remember"`
}

type rememberConfig struct {
	TTL   *int `json:"ttl_s"`
	Bytes *int `json:"bytes"`
}

const maxRemembered = 24 * 60 * 60 // seconds

type providerConfig struct {
	Slug      string `json:"slug"`
	Name      string `json:"name"`
	Kind      string `json:"kind"`
	Profile   string `json:"profile"`
	BaseURL   string `json:"base_url"`
	APIKeyEnv string `json:"api_key_env"`
	Cascade   string `json:"cascade"`

	SilenceRefuses *bool `json:"silence_refuses"`
	SendTrace      bool  `json:"send_trace"`
}

type modelConfig struct {
	ID        string   `json:"id"`
	Permaslug string   `json:"permaslug"`
	Name      string   `json:"name"`
	Aliases   []string `json:"aliases"`

	Categories []string `json:"categories"`

	Stages       []systemone.Entry `json:"stages"`
	MaxEscalated *float64          `json:"max_escalated"`
}

type endpointConfig struct {
	Provider       string        `json:"provider"`
	Variant        string        `json:"variant"`
	Model          string        `json:"model"`
	UpstreamModel  string        `json:"upstream_model"`
	Pricing        pricingConfig `json:"pricing"`
	Quantization   string        `json:"quantization"`
	DataCollection *bool         `json:"data_collection"`
	ZDR            bool          `json:"zdr"`
	Distillable    bool          `json:"distillable"`
	ContextLength  int           `json:"context_length"`
	LastResort     *bool         `json:"last_resort"`
	AttemptTimeout int           `json:"attempt_timeout_ms"`
	Limits         limitsConfig  `json:"limits"`
	UsageRequired  bool          `json:"usage_required"`
	TokensPerByte  float64       `json:"tokens_per_byte"`
	MaxPrompt      int           `json:"max_prompt_tokens"`
	MaxCompletion  int           `json:"max_completion_tokens"`
	Rounding       *float64      `json:"rounding"`

	SupportedParameters []string `json:"supported_parameters"`
}

type pricingConfig struct {
	Prompt     *string `json:"prompt"`
	Completion *string `json:"completion"`
	Request    *string `json:"request"`
}

type limitsConfig struct {
	Questions   int   `json:"questions"`
	Options     int   `json:"options"`
	Levels      int   `json:"levels"`
	Concurrency int   `json:"concurrency"`
	Nulls       *bool `json:"nulls"`
	Parts       *bool `json:"parts"`
}

// readConfig reads and decodes a configuration file. It checks names and types only:
// builder.catalog checks the values.
func readConfig(path string) (config, error) {
	data, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return config{}, err
	}
	c, err := decodeConfig(data)
	if err != nil {
		return config{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

func decodeConfig(data []byte) (config, error) {
	var c config
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // editors on Windows put it there
	if err := systemone.CheckSyntax(data); err != nil {
		if invalid, ok := errors.AsType[*systemone.InvalidError](err); ok && len(invalid.Issues) > 0 {
			first := invalid.Issues[0]
			return c, at(first.Path, "%s%s", lineOf(data, first.Message), first.Message)
		}
		return c, err
	}
	var tree any
	if err := json.Unmarshal(data, &tree); err != nil {
		return c, err
	}
	if err := known("", tree, reflect.TypeFor[config]()); err != nil {
		return c, err
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return c, err
	}
	return c, c.Routing.check()
}

// check returns an error for a value that cannot be meant.
func (c routingConfig) check() error {
	m := c.Remember
	switch {
	case m == nil:
	case m.TTL != nil && (*m.TTL < 1 || *m.TTL > maxRemembered):
		return at("routing.remember.ttl_s", "must be 1 to %d", maxRemembered)
	case m.Bytes != nil && *m.Bytes < 1:
		return at("routing.remember.bytes", "must be 1 or more")
	}
	return nil
}

// apply sets what the configuration switches on.
func (c routingConfig) apply(to *router.Config) {
	to.Share = c.Share
	if c.Remember == nil {
		return
	}
	to.Remember = &router.Remembering{}
	if s := c.Remember.TTL; s != nil {
		to.Remember.TTL = time.Duration(*s) * time.Second
	}
	if n := c.Remember.Bytes; n != nil {
		to.Remember.Bytes = *n
	}
}

// lineOf returns the line and column, in bytes, for a message about invalid JSON, and
// "" for any other message. Messages name only the byte, which suits a request's body
// but not a file.
func lineOf(data []byte, message string) string {
	var offset int
	if _, err := fmt.Sscanf(message, "invalid JSON at byte %d:", &offset); err != nil {
		return ""
	}
	before := data[:min(max(offset, 0), len(data))]
	line := bytes.Count(before, []byte("\n")) + 1
	return fmt.Sprintf("line %d, column %d: ", line, len(before)-bytes.LastIndexByte(before, '\n'))
}

// known compares a decoded document with its type. It returns an error for the first
// member that the type lacks, or value of the wrong kind. encoding/json does not do
// here, because it ignores the case of names and does not report the path.
func known(path string, v any, t reflect.Type) error {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Struct:
		if t == reflect.TypeFor[systemone.Entry]() {
			return knownEntry(path, v)
		}
		return knownObject(path, v, t)
	case reflect.Slice:
		list, ok := v.([]any)
		if !ok {
			return at(path, "must be a list")
		}
		for i, e := range list {
			if err := known(fmt.Sprintf("%s[%d]", path, i), e, t.Elem()); err != nil {
				return err
			}
		}
	case reflect.String:
		if _, ok := v.(string); !ok {
			return at(path, "must be a text")
		}
	case reflect.Bool:
		if _, ok := v.(bool); !ok {
			return at(path, "must be true or false")
		}
	case reflect.Float64:
		if n, ok := v.(float64); !ok || n < 0 {
			return at(path, "must be a number, 0 or more")
		}
	default:
		if n, ok := v.(float64); !ok || n != float64(int32(n)) || n < 0 {
			return at(path, "must be a whole number, 0 to %d", 1<<31-1)
		}
	}
	return nil
}

func knownObject(path string, v any, t reflect.Type) error {
	object, ok := v.(map[string]any)
	if !ok {
		return at(path, "must be an object")
	}
	fields := map[string]reflect.Type{}
	for f := range t.Fields() {
		fields[f.Tag.Get("json")] = f.Type
	}
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names) // so that the first mistake is always the same one
	for _, name := range names {
		inner := strings.TrimPrefix(path+"."+name, ".")
		if fields[name] == nil {
			return at(inner, "unknown member")
		}
		if err := known(inner, object[name], fields[name]); err != nil {
			return err
		}
	}
	return nil
}

// knownEntry returns an error for the first mistake in an entry of a model's stages.
func knownEntry(path string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return at(path, "%s", err)
	}
	err = new(systemone.Entry).UnmarshalJSON(text)
	if invalid, ok := errors.AsType[*systemone.InvalidError](err); ok && len(invalid.Issues) > 0 {
		first := invalid.Issues[0]
		return at(strings.TrimSuffix(path+"."+first.Path, "."), "%s", first.Message)
	}
	return err
}

// at returns an error about a place in the file.
func at(path, format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	if path == "" {
		return errors.New(message)
	}
	return fmt.Errorf("%s: %s", path, message)
}
