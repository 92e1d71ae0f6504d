// Runs cases against the AI SDK. Standard input: {baseURL, cases: [{name, key, call:
// the provider, request: {model, state, questions, settings?, body?}}]}. Standard
// output: [{name, value} or {name, error}], in the order of the cases.
import { createOpenAI } from "@ai-sdk/openai";
import { createTypeSafeAi } from "@ai-sdk/typesafe-ai";
import { createOpenRouter } from "@openrouter/ai-sdk-provider";
import { experimental_evaluate as evaluate } from "ai";
import { text } from "node:stream/consumers";

const { baseURL, cases } = JSON.parse(await text(process.stdin));

const providers = { openrouter: createOpenRouter, openai: createOpenAI, typesafe: createTypeSafeAi };

// adding returns a fetch that adds members to the JSON of a body. It is how a program
// sends members that a provider has no setting for.
const adding = (members) => (url, init) =>
  fetch(url, { ...init, body: JSON.stringify({ ...JSON.parse(init.body), ...members }) });

// run makes one call as the provider's documentation does.
async function run({ key, call, request: { model, settings, body, ...questions } }) {
  const provider = providers[call || "openrouter"]({ apiKey: key, baseURL, ...(body && { fetch: adding(body) }) });
  const { answers, providerMetadata, usage, response } = await evaluate({
    model: provider.evaluationModel(model, settings),
    maxRetries: 0,
    ...questions,
  });
  return { answers, metadata: providerMetadata, usage, id: response?.id, model: response?.modelId };
}

const report = [];
for (const c of cases) {
  try {
    report.push({ name: c.name, value: await run(c) });
  } catch (err) {
    report.push({ name: c.name, error: { class: err.name, status: err.statusCode, message: err.message } });
  }
}
console.log(JSON.stringify(report));
