// Package content finds personal data, prompt injection and custom patterns in requests,
// and flags, redacts or blocks them.
//
// An [Engine] compiles a list of [Filter] values into a [Scanner], which can be kept and
// shared. [Scanner.Scan] never changes a request. Its [Verdict] contains a redacted copy,
// or the error that refuses the request. [Verdict.Names] restores the original names in
// the answers. Package guardrails applies scanners to calls; a program may also use this
// package alone.
//
// # What is scanned
//
// Filters scan every string and number inside the state, the instructions, the criteria
// and the provider's options, and the names of questions, options and members. Redacted
// text is removed from everything that is sent upstream. In strings and names a label
// replaces it; a number is replaced as a whole. Names that become equal are numbered:
// [EMAIL], [EMAIL_2]. The legend of a score repeats its levels as they were sent
// upstream.
//
// Fields that are not scanned are never sent upstream: the names of models, the session,
// the trace and the preset. The user is sent only as a keyed hash.
//
// # Folded forms
//
// Builtin filters compare texts in a folded form:
//
//   - in the Unicode normal form NFKC;
//   - without invisible characters, such as direction marks, joiners, soft hyphens,
//     variation selectors and controls;
//   - with ASCII digits for the digits of every script, including those in circles,
//     raised, or followed by a dot;
//   - with ASCII dashes, spaces, dots and quotes for those of many scripts;
//   - without the marks that combine with Latin, Greek and Cyrillic letters, with digits
//     and with ASCII.
//
// Builtin filters also search the text without the escapes of URLs (%40), HTML (&#64;)
// and programming languages (\x40, \u0040), up to three levels deep, and the text hidden
// in Unicode tag characters. The prompt injection filter also replaces lookalike letters
// of other alphabets, and decodes base64 and hexadecimal digits at any offset, up to
// three levels deep. Custom patterns are matched against the text as sent and against its
// folded form.
//
// Every part of a form is mapped back to the bytes that it was derived from, and these
// bytes are replaced.
//
// # What is a card number
//
// One number in ten has a valid check digit, and issuers use every number that begins
// with 4. So one in ten ids of sixteen digits that begin with 4 looks like a card number,
// and only the context tells them apart:
//
//   - Digits in groups, the first of four, are a card number. They are not in longer
//     lists of such groups, nor under a name such as order or serial unless spaces
//     separate the groups.
//   - Digits in one run are a card number if a word such as card or visa is nearby, in a
//     name on the path to the value, or in its question.
//   - Otherwise digits in one run are not a card number after a word such as id, order or
//     timestamp, under a name that ends with such a word, after #, after letters and one
//     of - _ /, or if they are a whole name.
//   - All other digits in one run are a card number: without context one in ten of such
//     ids is redacted.
//
// A number that is found in one place of a request is found everywhere in it. The same
// holds for two other kinds of numbers in one run, phone and social security numbers,
// which need a word nearby or in a name. Version numbers look like IP addresses; a word
// or name such as version excludes them.
//
// Of 6,750 benign texts 0.09 % are blocked. Of 20,000 generated states with ids,
// timestamps, hosts, versions and order numbers, as values, names and options, none is
// changed (TestFalseAlarms).
//
// # What is not found
//
// Filters find text, not meaning. They do not find
//
//   - numbers in words, in Chinese or Roman numerals, with letters for digits, in groups
//     of other sizes than cards have, with words, tags, more than three spaces or one of
//     , + : * | ~ between groups, glued to letters, or spread over several values;
//   - card numbers in one run without context that are a whole name or follow a word for
//     an id, and card numbers without a known issuer or a valid check digit;
//   - personal data in base64, hexadecimal digits or any other encoding except the
//     escapes above, or in reverse order;
//   - addresses like 10[.]1[.]2[.]3, and phone numbers that contain _ or line ends;
//   - e-mail addresses whose two sides are written in scripts without spaces, quoted
//     local parts, domains without a dot, and bob at example dot com;
//   - most names of persons and postal addresses: [Heuristic] knows some, and another
//     [EntityRecognizer] can find more;
//   - prompt injection in other words or languages than the known phrases, with digits
//     for letters, in base32, ROT13 or ciphers, in base64 that is split into pieces of
//     fewer than sixteen characters, or beyond the first 64 KiB of one encoded run.
//
// # What a scan may cost
//
// Tenants write filters, and their callers choose the texts, so the work is bounded.
// [Scanner.Scan] has a budget for each request, [PatternBudget] one for patterns that are
// stored together. Long scans share all processors but one, and the scans of one account
// may use at most half of that share, rounded up.
package content
