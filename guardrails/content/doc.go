// Package content finds personal data, prompt injection and a program's own patterns
// in requests, and flags, redacts or blocks them.
//
// An [Engine] compiles a list of [Filter] values into a [Scanner], which may be kept and
// shared. [Scanner.Scan] never changes a request: its [Verdict] has a redacted copy, or
// the refusal, and [Verdict.Names] gives the answers the names that were asked. Package
// guardrails applies this to calls. A program may also use it alone.
//
// # What is scanned
//
// Content filters see every string and number inside the state, the
// instructions, the criteria and the provider's options, and the names of
// questions, options and members. What is redacted is gone from all that goes
// upstream: in a string and in a name the label takes the place of what was
// found, a number becomes the label, and names that become equal are numbered,
// [EMAIL], [EMAIL_2]. The legend of a score repeats its levels as they were sent.
// What is not scanned never goes upstream: the names of models, the session, the trace
// and the preset. The user goes there as a keyed hash only.
//
// # Folded forms
//
// Builtins compare texts in a folded form: NFKC; without characters that do not
// show, such as marks of direction, joiners, soft hyphens, variation selectors and
// controls; with the digits of every script, and those in circles, raised or before
// a dot, as ASCII digits; with the dashes, spaces, dots and quotes of many scripts
// as those of ASCII; and without the marks that combine with Latin, Greek and
// Cyrillic letters, with digits and with ASCII. They also look at the text without
// the escapes of URLs (%40), HTML (&#64;) and programs (\x40, \u0040), up to three
// of them in each other, and at what characters of Unicode's tags hide. Prompt
// injection is looked for with letters of other alphabets as those that they look
// like, too, and in base64 and hexadecimal digits, which may begin anywhere and be
// encoded three times. Patterns of a guardrail see the text as sent and folded.
// Each part of a form is mapped back to the bytes that it was made of; these are
// replaced.
//
// # What is a card number
//
// One number in ten has the right check digit, and all numbers that begin with 4
// have an issuer. So one in ten ids of sixteen digits that begin with 4 looks like
// a card number, and only the context distinguishes them. Digits in groups, the
// first of four, are a card number, except in longer lists of such groups, and
// under a name such as order or serial unless spaces separate the groups. Digits in
// one run are a card number where a word such as card or visa stands nearby, in a
// name on the path to the value or in its question. They are not one after a word
// such as id, order or timestamp, under a name that ends with such a word, behind #
// or behind letters and one of - _ /, and where they are a whole name. Anywhere
// else they are: without such a context one in ten of these ids is redacted. A
// number that is found in one place of a request is found in all of them; so are
// numbers of phones and of social security, which need a word nearby or in a name
// where they are one run, and versions, which look like IP addresses but follow a
// word or name that says so.
//
// Of 6,750 benign texts 0.09 % are blocked, and of 20,000 generated states with
// ids, instants, hosts, versions and numbers of orders, as values, names and
// options, none is changed (TestFalseAlarms).
//
// # What stays open
//
// Filters find what is written, not what is meant. They do not find
//
//   - numbers in words, in Chinese or Roman numerals, with letters for digits, in
//     groups of other sizes than cards have, with words, tags, more than three
//     spaces or one of , + : * | ~ between groups, glued to letters, or spread over
//     several values;
//   - card numbers in one run that nothing explains where they are a whole name,
//     or stand where an id is expected; without issuer or check digit;
//   - personal data in base64, hexadecimal digits or any other code but the
//     escapes above, or in the reverse order;
//   - addresses like 10[.]1[.]2[.]3, and phone numbers with _ or line ends in them;
//   - addresses of e-mail whose two sides are written in scripts without spaces,
//     quoted local parts, domains without a dot, and bob at example dot com;
//   - most names of persons and postal addresses: [Heuristic] knows some. An
//     [EntityRecognizer] finds more;
//   - orders to a model in other words or languages than those that are known,
//     with digits for letters, in base32, ROT13 or ciphers, in base64 that is
//     broken into pieces of fewer than sixteen characters, or past the first 64
//     KiB of one run of it.
//
// # What a scan may cost
//
// Content filters are written by tenants and run on what their callers send, so
// their work is bounded: see [Scanner.Scan] for the budget of a request and
// [PatternBudget] for that of the patterns that are stored together. Scans that take
// long share all processors but one, and the scans of one account have at most half of
// these places.
package content
