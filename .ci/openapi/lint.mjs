// Lints an OpenAPI document with the recommended rules of Redocly, every warning
// being an error: node lint.mjs FILE.
import { createConfig, formatProblems, getTotals, lint } from "@redocly/openapi-core";

const config = await createConfig({ extends: ["recommended-strict"] });
const problems = await lint({ ref: process.argv[2], config });
formatProblems(problems, { format: "codeframe", totals: getTotals(problems), version: "" });
console.log(`${process.argv[2]}: ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;
