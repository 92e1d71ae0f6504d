// Runs cases against @openrouter/sdk. Standard input: {baseURL, cases: [{name,
// key, call: "systemOne.create", request, headers?, retry?}]}. Standard
// output: [{name, value} or {name, error}], in the order of the cases.
import { OpenRouter } from "@openrouter/sdk";
import { OpenRouterMetadata$inboundSchema } from "@openrouter/sdk/models";
import { text } from "node:stream/consumers";

// The SDK wants an instant of a request as a Date.
const instants = (name, value) => (name === "expiresAt" && value !== null ? new Date(value) : value);
const { baseURL, cases } = JSON.parse(await text(process.stdin), instants);

// run makes one call as a user of the SDK would.
async function run({ key, call, request, headers, retry }) {
  const client = new OpenRouter({ apiKey: key, serverURL: baseURL });
  const [group, method] = call.split(".");
  const value = await client[group][method](request, {
    headers,
    retries: retry ?? { strategy: "none" },
  });
  // models.list gives an iterator over pages; its page is in result.
  return value.result ?? value;
}

// pages walks all pages of the models, as a for loop over the iterator does.
async function pages({ key, request }) {
  const client = new OpenRouter({ apiKey: key, serverURL: baseURL });
  const ids = [];
  for await (const page of await client.models.list(request)) {
    ids.push(page.result.data.map((model) => model.id));
  }
  return ids;
}

// usable lists models for the key's user, who is named once more: the method
// takes its key as an argument.
async function usable({ key, request }) {
  const client = new OpenRouter({ serverURL: baseURL });
  const page = await client.models.listForUser({ bearer: key }, request, { retries: { strategy: "none" } });
  return page.result;
}

// metadata fetches a reply as it is and gives its router metadata to the
// SDK's own schema: systemOne.create drops that member of a success.
async function metadata({ key, request, headers }) {
  const reply = await fetch(`${baseURL}/systemone`, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json", ...headers },
    body: JSON.stringify(request),
  });
  const body = await reply.json();
  return { status: reply.status, metadata: OpenRouterMetadata$inboundSchema.parse(body.openrouter_metadata) };
}

function described(err) {
  return {
    class: err.constructor.name,
    status: err.statusCode,
    message: err.message,
    error: err.error,
    metadata: err.openrouterMetadata,
    userId: err.userId,
    retryAfter: err.headers?.get("retry-after") ?? undefined,
    requestId: err.headers?.get("x-request-id") ?? undefined,
  };
}

const report = [];
for (const c of cases) {
  try {
    report.push({ name: c.name, value: await ({ metadata, pages, usable }[c.call] ?? run)(c) });
  } catch (err) {
    report.push({ name: c.name, error: described(err) });
  }
}
console.log(JSON.stringify(report));
