// Runs cases against @typesafe-ai/sdk. Standard input: {baseURL, cases: [{name,
// key, call: "systemOne" or "models.list", request?, retry?}]}. Standard output:
// [{name, value, requestId} or {name, error}], in the order of the cases.
import { TypeSafeClient, choice, noul, score } from "@typesafe-ai/sdk";
import { text } from "node:stream/consumers";

const { baseURL, cases } = JSON.parse(await text(process.stdin));

// Questions are made with the SDK's own helpers, which put nulls where the
// caller says nothing: [kind, ...arguments].
const helpers = { choice, noul, score };
const questions = (made) =>
  Object.fromEntries(Object.entries(made).map(([name, [kind, ...args]]) => [name, helpers[kind](...args)]));

async function run({ key, call, request, retry }) {
  const client = new TypeSafeClient({ apiKey: key, baseURL, retry: { maxRetries: 0, ...retry } });
  const promise =
    call === "models.list"
      ? client.models.list()
      : client.systemOne({ ...request, questions: questions(request.questions) });
  const { data, requestId } = await promise.withResponse();
  return { value: data, requestId };
}

function described(err) {
  return {
    class: err.constructor.name,
    status: err.status,
    message: err.message,
    body: err.body,
    requestId: err.requestId,
    retryAfterMs: err.retryAfterMs,
    retryAfter: err.headers?.get("retry-after") ?? undefined,
  };
}

const report = [];
for (const c of cases) {
  try {
    report.push({ name: c.name, ...(await run(c)) });
  } catch (err) {
    report.push({ name: c.name, error: described(err) });
  }
}
console.log(JSON.stringify(report));
