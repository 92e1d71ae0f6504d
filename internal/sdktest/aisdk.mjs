// Runs cases against the AI SDK with @openrouter/ai-sdk-provider. Standard input:
// {baseURL, cases: [{name, key, request: {model, state, questions, settings?}}]}.
// Standard output: [{name, value} or {name, error}], in the order of the cases.
import { createOpenRouter } from "@openrouter/ai-sdk-provider";
import { experimental_evaluate as evaluate } from "ai";
import { text } from "node:stream/consumers";

const { baseURL, cases } = JSON.parse(await text(process.stdin));

// run makes one call as the provider's documentation does.
async function run({ key, request: { model, settings, ...questions } }) {
  const openrouter = createOpenRouter({ apiKey: key, baseURL });
  const { answers, providerMetadata, usage, response } = await evaluate({
    model: openrouter.evaluationModel(model, settings),
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
