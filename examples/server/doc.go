// Command server serves Signalbox over HTTP.
//
//	go run ./examples/server
//
// answers on http://127.0.0.1:8080 with the embedded model
// signalbox/similarity-en-1: no configuration, no key of anybody, no network.
// It prints its base URL, a management key, an inference key and a curl
// command to paste. Everything lives in memory, and the keys are new at every
// start, unless it is told where to keep things:
//
//	go run ./examples/server -data DIR
//	SIGNALBOX_POSTGRES=DSN SIGNALBOX_SEALING_KEY=HEX go run ./examples/server
//
// # Flags
//
//	-addr HOST:PORT   where to listen; port 0 picks a free one (default 127.0.0.1:8080);
//	                  without a HOST, or with 0.0.0.0, on every address of the
//	                  machine, and then the base URL that is told is the loopback one
//	-keys-file FILE   write {"base_url","management_key","inference_key"} to FILE
//	                  (atomically, mode 0600) once the server listens
//	-config FILE      replace the built-in catalog
//	-data DIR         keep everything in DIR, made (mode 0700) when missing, for
//	                  one process at a time
//	-postgres DSN     keep everything in a PostgreSQL database, for any number of
//	                  processes: a URL or a list of keywords and values. Who may
//	                  list the processes of a machine sees what is in a flag; the
//	                  variable SIGNALBOX_POSTGRES is the place for a DSN with a
//	                  password
//	-leases           with PostgreSQL, admit calls from slices of the budgets that
//	                  this process leases, without a wait for the database
//	-bodies SIZE      hold at most SIZE of request bodies at a time, in bytes or
//	                  with KiB, MiB or GiB (default 256MiB)
//	-key-bodies SIZE  of these at most SIZE of one key (default a quarter)
//	-account-bodies SIZE
//	                  of these at most SIZE of all keys of an account (default half)
//	-key-rate N/DURATION, -workspace-rate N/DURATION, -account-rate N/DURATION
//	                  take at most N requests in any DURATION, as in 100/1s, of one
//	                  key, of all keys of a workspace, of all keys of an account
//	                  (default: no bound)
//	-key-concurrent N, -workspace-concurrent N, -account-concurrent N
//	                  answer at most N of their requests at a time (default: no bound)
//	-abandoned MODE   what an attempt costs whose caller hangs up, or sets a time of
//	                  its own that ends first: estimate (the request fee and the
//	                  estimated prompt; the default), void (nothing) or finish (the
//	                  attempt goes on, and costs what its answer says)
//	-origins LIST     let browser pages of these origins send requests: origins as
//	                  browsers write them, separated by commas (https://app.example,
//	                  http://localhost:3000); default none. A key in a page is known
//	                  to all who open it: give it a limit, or an expiry
//	-credits-url URL  where credits are bought; named when a call is refused because
//	                  they are spent
//	-retention-days DAYS
//	                  drop events, records of changes and past windows after DAYS
//	                  (default 400, at least 40); 0 keeps them
//	-check            check the configuration (of -config, else the built-in one),
//	                  list what may be a mistake in it, and serve nothing: exit
//	                  status 0 for one that can be served, 2 for one that cannot
//
// SIGINT and SIGTERM finish the requests in flight, close the storage and exit
// with 0. A mistake in the flags, the configuration or what is kept (a folder
// that is in use, a schema of a later version) is one line on standard error and
// exit status 2; what may be better on the next try, such as a database that
// cannot be reached, exit status 1.
//
// Refusals and failures are logged on standard error, with the request id that
// the caller got; so are attempts that failed, with their cause, also where
// another provider answered then. Answers are not: a line for each would cost
// about a tenth of a request's processor time. They are there at level Info,
// and a router.Observer sees every outcome.
//
// Unless the environment sets GOMEMLIMIT, the runtime is told to get along with
// two and a quarter times -bodies and 128 MiB: a body, its copy on the way
// upstream, and what is not collected yet. In a quiet process, one that allocates
// less than 64 MiB in ten seconds, memory goes back to the operating system. A
// caller that opens a connection, shows its key and sends no body costs some
// 15 KB for ten seconds; -key-concurrent bounds how many of those one key has.
//
// Unless the environment sets GOGC, the heap grows to five times what is live
// before it is collected (GOGC=400): little is live, so that costs megabytes,
// and at the default of 100 a tenth more processor time goes into a request.
//
// # Storage
//
// A start creates the tables, or brings them up to date. In PostgreSQL they are in
// the schema "signalbox"; its role needs the right to create that only when there is
// something to create (the documentation of store/postgres has the grants).
//
// The first start makes a small organization and its first keys. Their texts
// are printed then, and written to the keys file, once: only hashes are kept.
// Of any number of processes that start at once one does so, and when it dies
// before the keys were shown, the next start makes others. Later starts say
// that there are keys; they put their address into the keys file that the first
// one wrote, and leave a path alone where that file is not.
//
// What callers bring as provider credentials is sealed with a key of 32 bytes.
// With -data it is in the file sealing.key beside the database, made on the
// first start: a copy of one is worth nothing without the other. With
// PostgreSQL it is in the environment, SIGNALBOX_SEALING_KEY, 64 hex digits
// from a source of randomness (openssl rand -hex 32), the same for every
// process.
//
// A process that dies leaves holds; they count as spent a while after their
// deadline, once a minute, unless it was only asleep and says otherwise within a
// day. What one process changes of limits, budgets and credits acts in the others
// on the next call that costs something, and so does a key that is disabled or
// deleted; rules, filters and calls that cost nothing follow within ten seconds.
// While the database is away calls are answered with 503 and Retry-After, those
// that cost nothing among them.
//
// A call that cost more than was set aside for it is charged in full, and in the
// log at Warn, with the key's label, the endpoint and both figures.
//
// With -leases a key that is busy in many processes does not wait at its rows
// before every call: each process draws a slice of what is left, and admits calls
// from it. No limit is ever passed. But a call may be refused while other
// processes have money of the same budget, which they give back within two
// minutes when they do not use it, or when they stop; what is lowered or disabled
// in one process acts in another one when its slice is used up, which is at most a
// thousand times what a call may cost ($2 where that is $0.002); and the slice of
// a process that dies is counted as spent, some six minutes later. Processes with and
// without the flag may share a database. docs/adr/0016-leases.md has the reasons.
//
// # Routes
//
// The documented interface is mounted under /api/v1, the native System One
// dialect (POST /v1/systemone, GET /v1/models) under /v1, and POST
// /api/alpha/decisions is /api/v1/systemone for clients that look for it there.
// docs/openapi.yaml describes all of them.
//
// GET /healthz answers 200 as long as the process serves. GET /readyz answers 200
// while the storage can be reached, and 503 when it cannot or when the server is
// stopping; it reads the storage once a second at most. Neither takes a key.
//
// The listener speaks HTTP/1, and HTTP/2 without TLS to clients that begin with
// it; TLS is for a proxy in front.
//
// # Users
//
// A request's user goes upstream as a keyed hash, where a provider takes one.
// The key comes from the sealing key. In memory it is drawn at random at every
// start, so the hashes of one user differ from one run to the next.
//
// # Configuration
//
// The file is one JSON object with three lists, none of them empty. Unknown
// members are errors.
// Members without "default" are required. See config.example.json beside this
// file for every service that has a profile.
//
// A provider is a service that answers:
//
//	slug         lower-case letters, digits and ._- between them; what requests name
//	name         display name; default: the slug
//	kind         "systemone", "openai" (the OpenAI Decisions dialect), "gemini" (the
//	             Gemini Decisions dialect) or "similarity" (the embedded model; takes
//	             no further member)
//	profile      how a "systemone" service differs from the plain dialect:
//	             see the list below; default "systemone"
//	base_url     up to and including its version, e.g. https://api.typesafe.ai/v1;
//	             http and loopback addresses are allowed; credentials in it are not
//	api_key_env  name of the environment variable that holds the credential;
//	             default: none is sent. When the variable is unset or empty the
//	             provider is disabled with one warning, and its endpoints show as
//	             switched off
//
// An account's own credential (POST /byok) is taken for a provider unless it
// could not work there: not for "similarity", nor for the profiles
// cloudflare-clef, whose address names the operator's account, and ollama, which
// checks none.
//
// Profiles: cloudflare-clef, fireworks, ollama, openrouter, perplexity, signalbox,
// systemone, typesafe, upstage.
//
// A model is what requests ask for:
//
//	id         "<author>/<name>"
//	permaslug  the id with a dated suffix, e.g. acme/judge-20260901
//	name       display name; default: the id
//	aliases    bare names that mean this model, e.g. judge-latest; default: none
//	categories use cases that GET /models?category= finds it by, e.g. finance;
//	           default: none
//
// An endpoint is one model at one provider:
//
//	provider         a provider's slug
//	variant          tells several endpoints of one provider and model apart; default: none
//	model            a model's id
//	upstream_model   the provider's own name of the model; default: the id
//	                 (not for "similarity")
//	pricing          {"prompt","completion","request"}: decimal texts, USD per
//	                 million input tokens, per million output tokens, per request;
//	                 default of each: "0"
//	quantization     int4, int8, fp4, mxfp4, nvfp4, fp6, fp8, mxfp8, fp16, bf16,
//	                 fp32 or unknown; default: what the kind knows of itself (int8
//	                 for "similarity"), else unknown
//	data_collection  whether the provider collects user data; default true (not
//	                 known to be safe), false where zdr is true
//	zdr              zero data retention; default false
//	distillable      whether the model's author allows text distillation; the
//	                 same for every endpoint of a model; default false
//	context_length   largest state in tokens, and largest count of input tokens
//	                 that is believed; default: what the profile states, else no limit
//	max_prompt_tokens  largest count of input tokens that is believed, where it may
//	                 be larger than the state's; default: what the profile states,
//	                 else context_length
//	max_completion_tokens  largest count of output tokens; default: what the kind
//	                 knows of itself, else what the reply's form allows
//	tokens_per_byte  the most tokens that are counted for a byte of a prompt, e.g.
//	                 0.5; default 1. With a smaller figure a call sets aside less of a
//	                 limit; what costs more than was set aside is charged all the same
//	usage_required   whether an answer is a failure that does not say how many
//	                 tokens it took; default false: they are estimated
//	last_resort      whether it is asked when all else has failed: behind every other
//	                 endpoint of its model, and of the models that a request names
//	                 before that; it is asked although the attempts are used up, and
//	                 time is kept for it; default true for "similarity", else false
//	attempt_timeout_ms
//	                 the most time that one attempt gets, in milliseconds; default:
//	                 10,000
//	supported_parameters
//	                 optional parameters that the provider takes, today "user"; the
//	                 default is what the profile or the kind states, [] is none (all
//	                 that "gemini" and "similarity" can have)
//	limits           {"questions","options","levels","concurrency"}: the largest
//	                 number of each, concurrency being attempts in flight; default:
//	                 what the profile states, otherwise no limit.
//	                 {"nulls","parts"}: whether null guidance (an option without a
//	                 description, most of all), and a state made of parts, are taken
//	                 as they are; default: what the profile states. Every profile
//	                 takes nulls; false is for a service that refuses such options,
//	                 and sends requests with them elsewhere
package main
