// Triage asks questions about tickets in files, with no server, no key and no network: it uses the library
// in process with the embedded model signalbox/similarity-en-1.
//
//	go run ./examples/triage examples/triage/testdata/tickets.jsonl
//	go run ./examples/triage -state text -id ticket tickets.jsonl | jq -c 'select(.answers.urgency.score > 2)'
//	go run ./examples/triage -questions questions.json inbox.mbox letters/*.txt
//	tail -n 100 export.ndjson | go run ./examples/triage -format jsonl -
//
// # What it reads
//
// The name of a file says what it holds (.eml, .mbox, .jsonl, .ndjson, .txt, .md, .log), else how it begins:
// a "From " line is a mailbox, an object on the first line is JSON Lines, a mail's header is a mail, and
// everything else is text. The flag -format overrules both. "-" is standard input.
//
//   - Text is UTF-8 or UTF-16 with or without a byte order mark, else Windows-1252. A file is one item; its
//     state is a string.
//   - A mail's state is an object with subject and text, and with -envelope also from and date, as far as it
//     has them. (The embedded model takes each string for something that is said, so they make its answers
//     worse.) The text is the plain form, or else what HTML shows; of several parts it is all that are not
//     attachments. Enclosed mails count as text. A mail is called by its Message-ID, else by its number or
//     the file's name.
//   - In a mailbox a mail begins with a "From " line after an empty line; ">From " is unescaped.
//   - In JSON Lines the state is the whole value of a line, or the member that -state names; the name is the
//     line's number, or the member that -id names.
//
// What is broken and can be mended (a wrong charset, cut base64, a header line that is none) is told on
// standard error and read as far as it goes. Of a text, and of a mail's text, the first 5,000 bytes are asked
// about: that says what it is about, and the model would take longer over more. An item above 4 MiB is
// skipped. One item per worker, and as many waiting, are all that is in memory, however large a file is.
//
// # What it asks
//
// The built-in questions are for support tickets: which team, whether it is a complaint, how urgent. A file
// for -questions is a JSON object of questions by name, in the form that a decision request has:
//
//	{"refund": {"type": "noul", "instructions": "Does the customer want money back?",
//	  "criteria": {"true": ["I want a refund"], "false": ["Thank you", "I have a question"]}}}
//
// The embedded model compares meanings: it needs phrases for the possible answers, in English. The
// documentation of router/similarity says what it can and cannot do.
//
// # What it writes
//
// On a terminal, a table; else JSON Lines, {id, source, answers, provider, model, cost} or {id, source,
// error} for each item, in the order of the input. The last line on standard error counts items, failures,
// tokens, cost and items per second. It returns 0, or 1 when an item failed, 2 when the command line or the
// questions are wrong, and 130 when it was interrupted: then items at work are dropped, and what was done is
// written and counted.
package main
