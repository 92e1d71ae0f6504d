package main

import (
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"
)

// contracts returns the shapes of a request that the contract tests of openai-go cover,
// each made with the SDK's own constructors: lists of messages with and without parts,
// tool calls and their outputs, data as instructions, cache settings that are given,
// null and absent, and images.
func contracts() map[string]openai.DecisionNewParams {
	return map[string]openai.DecisionNewParams{
		"tools":          about(openai.DecisionNewParamsInputUnion{OfDecisionNewsInputArray: tools()}),
		"helpers":        about(openai.DecisionNewParamsInputUnion{OfDecisionNewsInputArray: helpers()}),
		"cache explicit": cached(openai.NewDecisionPromptCacheBreakpointParam(), openai.String("prefix"), openai.String("explicit")),
		"cache implicit": cached(openai.DecisionPromptCacheBreakpointParam{}, openai.String("prefix"), openai.String("implicit")),
		"cache null":     cached(param.NullStruct[openai.DecisionPromptCacheBreakpointParam](), param.Null[string](), param.Null[string]()),
		"cache absent":   about(messages(openai.DecisionInputPartParamOfInputText("a parcel"))),
		"image":          about(messages(openai.DecisionInputPartParamOfInputText("a parcel"), openai.DecisionInputPartParamOfInputImage("https://images.example/parcel.png"))),
		"data":           about(messages(openai.DecisionInputPartParamOfInputJSON([]map[string]any{{"parcel": true}}))),
	}
}

// about asks about an input what the scripted upstream can answer.
func about(input openai.DecisionNewParamsInputUnion) openai.DecisionNewParams {
	evidence := shared.DecisionQuestionInputPartParamOfInputJSON(map[string]any{"evidence": map[string]any{"late": true}})
	return openai.DecisionNewParams{
		Model: "lab/plain",
		Input: input,
		Questions: []openai.DecisionNewParamsQuestionUnion{
			{OfPredicate: &openai.DecisionNewParamsQuestionPredicate{
				Name: openai.String("urgent"),
				Instructions: openai.DecisionNewParamsQuestionPredicateInstructionsUnion{
					OfDecisionQuestionInputPartArray: []openai.DecisionQuestionInputPartUnionParam{evidence},
				},
			}},
			{OfChoice: &openai.DecisionNewParamsQuestionChoice{
				Name:         openai.String("tone"),
				Instructions: openai.DecisionNewParamsQuestionChoiceInstructionsUnion{OfString: openai.String("Which tone?")},
				Choices:      []openai.DecisionNewParamsQuestionChoiceChoice{{Value: text("glad")}, {Value: text("sad"), Description: openai.String("tears")}},
			}},
			{OfScore: &openai.DecisionNewParamsQuestionScore{
				Name:         openai.String("grade"),
				Instructions: openai.DecisionNewParamsQuestionScoreInstructionsUnion{OfString: openai.String("How good?")},
				Levels:       []openai.DecisionNewParamsQuestionScoreLevel{{Label: "poor"}, {Label: "fair"}, {Label: "good"}},
			}},
		},
	}
}

func text(value string) openai.DecisionNewParamsQuestionChoiceChoiceValueUnion {
	return openai.DecisionNewParamsQuestionChoiceChoiceValueUnion{OfString: openai.String(value)}
}

func messages(parts ...openai.DecisionInputPartUnionParam) openai.DecisionNewParamsInputUnion {
	return openai.DecisionNewParamsInputUnion{OfDecisionInputMessageArray: []openai.DecisionInputMessageParam{
		{Role: "user", Content: openai.DecisionInputMessageContentUnionParam{OfParts: parts}},
	}}
}

func cached(at openai.DecisionPromptCacheBreakpointParam, key, mode param.Opt[string]) openai.DecisionNewParams {
	part := openai.DecisionInputPartParamOfInputText("a parcel")
	part.OfInputText.PromptCacheBreakpoint = at
	p := about(messages(part))
	p.PromptCacheKey = key
	p.PromptCacheOptions = openai.DecisionNewParamsPromptCacheOptions{Mode: mode, Ttl: "30m"}
	return p
}

func tools() []openai.DecisionNewParamsInputArrayItemUnion {
	return []openai.DecisionNewParamsInputArrayItemUnion{
		{OfDecisionInputUserMessage: &openai.DecisionNewParamsInputArrayItemDecisionInputUserMessage{
			Content: openai.DecisionNewParamsInputArrayItemDecisionInputUserMessageContentUnion{OfString: openai.String("a parcel")},
		}},
		{OfDecisionInputDeveloperMessage: &openai.DecisionNewParamsInputArrayItemDecisionInputDeveloperMessage{
			Content: openai.DecisionNewParamsInputArrayItemDecisionInputDeveloperMessageContentUnion{
				OfParts: []openai.DecisionNewParamsInputArrayItemDecisionInputDeveloperMessageContentParts{{Text: "be strict"}},
			},
		}},
		{OfDecisionInputSystemMessage: &openai.DecisionNewParamsInputArrayItemDecisionInputSystemMessage{
			Content: openai.DecisionNewParamsInputArrayItemDecisionInputSystemMessageContentUnion{
				OfParts: []openai.DecisionNewParamsInputArrayItemDecisionInputSystemMessageContentParts{{Text: "be fair"}},
			},
		}},
		{OfFunctionCall: &openai.DecisionNewParamsInputArrayItemFunctionCall{CallID: "c1", Name: "track", Arguments: `{"id":7}`}},
		{OfFunctionCallOutput: &openai.DecisionNewParamsInputArrayItemFunctionCallOutput{
			CallID: "c1", Output: openai.DecisionNewParamsInputArrayItemFunctionCallOutputOutputUnion{OfString: openai.String("delivered")},
		}},
		{OfCustomToolCall: &openai.DecisionNewParamsInputArrayItemCustomToolCall{CallID: "c2", Name: "note", Input: "late"}},
		{OfCustomToolCallOutput: &openai.DecisionNewParamsInputArrayItemCustomToolCallOutput{
			CallID: "c2", Output: openai.DecisionNewParamsInputArrayItemCustomToolCallOutputOutputUnion{OfString: openai.String("noted")},
		}},
	}
}

func helpers() []openai.DecisionNewParamsInputArrayItemUnion {
	return []openai.DecisionNewParamsInputArrayItemUnion{
		{OfDecisionInputMessage: new(openai.DecisionInputMessageParamOfUser("a parcel"))},
		{OfDecisionInputMessage: new(openai.DecisionInputMessageParamOfDeveloper("be strict"))},
		{OfDecisionInputMessage: new(openai.DecisionInputMessageParamOfSystem("be fair"))},
		{OfDecisionInputMessage: new(openai.DecisionInputMessageParamOfAssistant("it is late"))},
	}
}
