// Runs cases against openai. Standard input: {baseURL, cases: [{name, key, request,
// retry?, headers?}]}. Standard output: [{name, value, requestId} or {name, error}], in
// the order of the cases.
import OpenAI from "openai";
import { text } from "node:stream/consumers";

const { baseURL, cases } = JSON.parse(await text(process.stdin));

async function run({ key, request, retry, headers }) {
  const client = new OpenAI({ apiKey: key, baseURL, maxRetries: 0, ...retry });
  const { data, request_id } = await client.decisions.create(request, { headers }).withResponse();
  return { value: data, requestId: request_id };
}

function described(err) {
  return {
    class: err.constructor.name,
    status: err.status,
    message: err.message,
    type: err.type,
    param: err.param,
    code: err.code,
    requestId: err.requestID,
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
