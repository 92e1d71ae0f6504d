// Triage asks questions about tickets in files, with no server, no key and no network: it uses the library in process
// with the embedded model signalbox/similarity-en-1.
//
//	go run ./examples/triage examples/triage/testdata/tickets.jsonl
//	go run ./examples/triage -state text -id ticket tickets.jsonl | jq -c 'select(.answers.urgency.score > 2)'
//	tail -n 100 export.ndjson | go run ./examples/triage -format jsonl -questions questions.json -
//
// A file is a text (UTF-8, UTF-16 with a byte order mark, else Windows-1252), a mail, a mailbox or JSON Lines: its
// extension says which, else its beginning, and -format overrules both. The state of a text is a string, that of a mail
// an object with subject and text, that of a line its value. Of a mail it is the plain form, or else what HTML shows,
// of all parts that are not attachments; what cannot be read is left out and said on standard error. An item above
// 4 MiB is skipped, and only the first 5,000 bytes of a text are asked about.
//
// The built-in questions are for support tickets: which team, whether it is a complaint, how urgent. A file for
// -questions has questions by name, in the form of a decision request:
//
//	{"refund": {"type": "noul", "instructions": "Does the customer want money back?",
//	  "criteria": {"true": ["I want a refund"], "false": ["Thank you", "I have a question"]}}}
//
// The output is JSON Lines in the order of the input, {id, source, answers, provider, model, cost} or {id, source,
// error}. The exit code is 0, or 1 when an item failed, 2 for mistakes in the command line or the questions, and 130
// when the program was interrupted: what was done by then is written and counted.
package main
