package systemonehttp

import (
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// twoDecimals is the rounding of most upstreams, and is assumed of those that do
// not state any.
const twoDecimals = 0.01

// Profiles returns the ready profiles, one for each known upstream, and "systemone"
// for any other. The facts are of November 2026, from the vendors' documentation
// and published clients. They may have changed since; every one can be overridden.
//
// All of them take an option without guidance. Those that refuse null instructions,
// null levels, a null state or half of a noul's criteria, which only the native
// mount accepts, have Limits.OptionNullsOnly.
//
// The dialect writes texts and values unchanged; services that read a request once
// have Counting.Verbatim. Servers for local models may read the state once for each
// question.
func Profiles() []Profile {
	return []Profile{
		Canonical(), TypeSafe(), OpenRouter(), Fireworks(), Perplexity(), Upstage(), Clef(), Ollama(), Signalbox(),
	}
}

// Canonical is the published form without differences, for servers such as
// llama.cpp, SGLang or colibri: an optional key, two decimals.
func Canonical() Profile {
	return Profile{
		Name:        "systemone",
		KeyOptional: true,
		// Servers for chat models use these names.
		InputTokens:  []string{"prompt_tokens"},
		OutputTokens: []string{"completion_tokens"},
		Tolerance:    systemone.Tolerance{Rounding: twoDecimals},
	}
}

// TypeSafe is https://api.typesafe.ai/v1.
//
// Source: the vendor's SDK and API pages. Two decimals. Missing key 403, wrong key 401;
// validation 422; an unknown model and token ceilings are a 400 whose detail
// has an error_type (max_tokens_exceeded, formerly tokens_exceeded, comes
// without a message). Up to 255 options and 10 levels, null guidance taken,
// 32,000 tokens for the state and its longest question, 64,000 for a request.
func TypeSafe() Profile {
	return Profile{
		Name:    "typesafe",
		ReplyID: []string{"X-Typesafe-Request-Id"},
		Errors: []ErrorRule{
			{Status: 400, Message: "unknown model", Class: router.ProviderUnavailable},
		},
		Limits:        router.EndpointLimits{Options: 255, Levels: 10},
		ContextLength: 32_000,
		Counting:      router.Counting{InputTokens: 70_000, Verbatim: true},
		Tolerance:     systemone.Tolerance{Rounding: twoDecimals},
	}
}

// OpenRouter is https://openrouter.ai/api/v1.
//
// Source: its OpenAPI description and SDKs. Null levels and one-sided criteria
// are refused; a refused question has no answer; 200 questions are seen for one
// model; two decimals, as of most models there; its own routing preferences may be
// set as the option provider. Never sent: session_id, trace.
func OpenRouter() Profile {
	return Profile{
		Name:           "openrouter",
		SilenceRefuses: true,
		Options:        []string{"provider"},
		User:           "user",
		ReplyID:        []string{"X-Generation-Id"},
		Errors: []ErrorRule{
			{Status: 400, Message: "is not a valid model id", Class: router.ProviderUnavailable},
		},
		Limits:    router.EndpointLimits{Questions: 200, Options: 255, OptionNullsOnly: true},
		Counting:  router.Counting{Verbatim: true},
		Tolerance: systemone.Tolerance{Rounding: twoDecimals},
	}
}

// Fireworks is https://api.fireworks.ai/inference/v1; models are account paths.
//
// Source: docs.fireworks.ai. 208 options; guidance is text; an unsupported
// model is a 400; decimals are not stated, so two are assumed.
func Fireworks() Profile {
	return Profile{
		Name: "fireworks",
		Errors: []ErrorRule{
			{Status: 400, Message: "unsupported model", Class: router.ProviderUnavailable},
			{Status: 400, Message: "model not supported", Class: router.ProviderUnavailable},
		},
		Limits:    router.EndpointLimits{Options: 208, OptionNullsOnly: true},
		Counting:  router.Counting{Verbatim: true},
		Tolerance: systemone.Tolerance{Rounding: twoDecimals},
	}
}

// Perplexity is https://api.perplexity.ai/v1: System One at a path that looks
// like another dialect's.
//
// Source: measurements published by client projects. 128 questions, 255
// options, 10 levels; unknown members are refused; 262,144 tokens with a 400
// above; two to four decimals, so two are assumed.
func Perplexity() Profile {
	return Profile{
		Name:    "perplexity",
		Path:    "/decisions",
		ReplyID: []string{"X-Request-Id"},
		Errors: []ErrorRule{
			{Status: 400, Message: "context length", Class: router.PayloadTooLarge},
			{Status: 400, Message: "262144", Class: router.PayloadTooLarge},
			{Status: 400, Message: "invalid model", Class: router.ProviderUnavailable},
		},
		Limits:        router.EndpointLimits{Questions: 128, Options: 255, Levels: 10},
		ContextLength: 262_144,
		Counting:      router.Counting{Verbatim: true},
		Tolerance:     systemone.Tolerance{Rounding: twoDecimals},
	}
}

// Upstage is https://api.upstage.ai/v1.
//
// Source: console.upstage.ai. The canonical form in beta; 512,000 tokens; the
// other limits are not published, nor the decimals, so two are assumed.
func Upstage() Profile {
	return Profile{
		Name:          "upstage",
		ContextLength: 512_000,
		Counting:      router.Counting{Verbatim: true},
		Tolerance:     systemone.Tolerance{Rounding: twoDecimals},
	}
}

// Clef is https://api.cloudflare.com/client/v4/accounts/ACCOUNT with models
// @cf/cloudflare/clef and @cf/cloudflare/clef-flash.
//
// Source: published probes. 64 questions, 2 to 255 options, 10 levels, names
// of 100 plain characters; replies are wrapped, and success is to be looked at
// even with 200; four decimals. Code 5021 is a body that is too large. Text
// beyond about 2,048 tokens of state is ignored silently although far more is
// documented: hence the context length.
func Clef() Profile {
	return Profile{
		Name:         "cloudflare-clef",
		Path:         "/ai/run/{model}",
		Envelope:     Envelope{Result: "result", Success: "success"},
		PlainNames:   100,
		NoSoleOption: true,
		NoOwnKeys:    true, // the address names the account
		ReplyID:      []string{"Cf-Ai-Req-Id", "Cf-Ray"},
		Errors: []ErrorRule{
			{Code: "5021", Class: router.PayloadTooLarge},
		},
		Limits:        router.EndpointLimits{Questions: 64, Options: 255, Levels: 10, OptionNullsOnly: true},
		ContextLength: 2_048,
		Counting:      router.Counting{InputTokens: 525_000, Verbatim: true}, // characters that a request may have
		Tolerance:     systemone.Tolerance{Rounding: 0.0001},
	}
}

// Ollama is http://127.0.0.1:11434/v1, version 0.35 or newer.
//
// Source: its code. 64 questions; the default encoder takes 26 options or
// levels; a body of more than 64 KiB is a 413, of which a
// quarter is taken as the largest state in tokens; full precision, of single
// floats. A model that cannot decide is a 400, an unknown one a 404.
func Ollama() Profile {
	return Profile{
		Name:         "ollama",
		KeyOptional:  true,
		NoSoleOption: true,
		NoOwnKeys:    true, // it checks none
		Options:      []string{"keep_alive"},
		Errors: []ErrorRule{
			{Status: 400, Message: "does not support", Class: router.ProviderUnavailable},
		},
		Limits:        router.EndpointLimits{Questions: 64, Options: 26, Levels: 26, OptionNullsOnly: true},
		ContextLength: 16_000,
		Counting:      router.Counting{InputTokens: 64 * 64 << 10}, // each question with the whole body
		Tolerance:     systemone.Tolerance{Rounding: 1e-6},
	}
}

// Signalbox is another Signalbox, at its base URL that ends in /api/v1, whose
// documented form has no nulls but an option's guidance. Its answers are in full
// precision but as coarse as those of the upstreams behind it, of which two decimals
// are assumed.
func Signalbox() Profile {
	return Profile{
		Name:      "signalbox",
		User:      "user",
		RequestID: "X-Request-Id",
		ReplyID:   []string{"X-Generation-Id", "X-Request-Id"},
		Errors: []ErrorRule{
			{Status: 400, Message: "is not a valid model id", Class: router.ProviderUnavailable},
		},
		Limits:    router.EndpointLimits{Parts: true, OptionNullsOnly: true},
		Counting:  router.Counting{Verbatim: true},
		Tolerance: systemone.Tolerance{Rounding: twoDecimals},
	}
}
