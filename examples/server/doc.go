// Command server serves Signalbox over HTTP.
//
//	go run ./examples/server
//
// It answers on http://127.0.0.1:8080 with the embedded model
// signalbox/similarity-en-1, so it needs no configuration, no provider's key and no
// network. It prints its base URL, a management key, an inference key and a curl
// command to paste. By default everything is in memory, and every start makes new
// keys. These commands store everything in a folder, or in PostgreSQL:
//
//	go run ./examples/server -data DIR
//	SIGNALBOX_POSTGRES=DSN SIGNALBOX_SEALING_KEY=HEX go run ./examples/server
//
// # Flags
//
//	-addr HOST:PORT   where to listen (default 127.0.0.1:8080); port 0 picks a free one.
//	                  Without a HOST, or with 0.0.0.0, the server listens on every
//	                  address of the machine and prints a loopback base URL
//	-metrics-addr HOST:PORT
//	                  serve metrics for Prometheus at /metrics there, and /healthz and
//	                  /readyz (default: no metrics). Port 0 picks a free one. Nothing
//	                  there needs a key, so keep the address inside your network
//	-keys-file FILE   write {"base_url","management_key","inference_key"} to FILE
//	                  (atomically, mode 0600) once the server listens
//	-config FILE      replace the built-in catalog
//	-data DIR         store everything in DIR, for one process at a time; a missing
//	                  DIR is created with mode 0700
//	-postgres DSN     store everything in a PostgreSQL database, for any number of
//	                  processes. DSN is a URL or a list of keywords and values. Put a
//	                  DSN with a password into the variable SIGNALBOX_POSTGRES instead,
//	                  because other users of a machine can read flags
//	-leases           with PostgreSQL, admit calls from slices of the budgets that
//	                  this process leases, without waiting for the database
//	-bodies SIZE      hold at most SIZE of request bodies at a time, in bytes or
//	                  with KiB, MiB or GiB (default 256MiB)
//	-key-bodies SIZE  of these at most SIZE for one key (default a quarter)
//	-account-bodies SIZE
//	                  of these at most SIZE for all keys of an account (default half)
//	-key-rate N/DURATION, -workspace-rate N/DURATION, -account-rate N/DURATION
//	                  take at most N requests in any DURATION, as in 100/1s, for one
//	                  key, all keys of a workspace, all keys of an account
//	                  (default: no bound)
//	-key-concurrent N, -workspace-concurrent N, -account-concurrent N
//	                  answer at most N of their requests at a time (default: no bound)
//	-abandoned MODE   cost of an attempt whose caller hangs up, or whose own time limit
//	                  ends first: estimate (the request fee and the estimated prompt;
//	                  the default), void (nothing) or finish (the attempt goes on, and
//	                  costs what its answer says)
//	-origins LIST     allow browser pages of these origins to send requests. Origins are
//	                  as browsers write them, separated by commas
//	                  (https://app.example,http://localhost:3000); default none. Every
//	                  visitor of a page can read a key in it, so give such a key a
//	                  limit or an expiry
//	-credits-url URL  where credits are bought; the refusal of a call without credits
//	                  names it
//	-retention-days DAYS
//	                  delete events, records of changes and past windows after DAYS
//	                  (default 400, at least 40); 0 keeps them
//	-otlp URL         send a trace of every call to the OpenTelemetry collector at URL,
//	                  such as http://localhost:4318 (OTLP over HTTP in JSON;
//	                  /v1/traces is appended)
//	-traces FILE      append the same to FILE, as JSON Lines
//	-check            check the configuration (that of -config, or the built-in one),
//	                  list possible mistakes, and exit without serving: status 0 if the
//	                  configuration is valid, 2 if not
//
// SIGINT and SIGTERM finish the requests in flight, close the storage and exit
// with 0. An error is one line on standard error. The exit status is 2 for errors
// that a new start repeats: in the flags, the configuration or the storage (a folder
// in use, a schema of a later version). It is 1 for errors that may pass, such as a
// database that cannot be reached.
//
// Refusals and failures are logged on standard error, with the request id of the
// reply. Failed attempts are logged with their cause, also if another provider then
// answered. Answers are not logged, because a line for each would cost about a tenth
// of a request's processor time. The library logs them at level Info, and a
// router.Observer sees every outcome.
//
// Unless the environment sets GOMEMLIMIT, the memory limit of the runtime is two and
// a quarter times -bodies, plus 128 MiB: the bodies, their copies on the way upstream,
// and garbage. A quiet process, which allocates less than 64 MiB in ten seconds,
// returns memory to the operating system. A caller that opens a connection, sends its
// key and no body takes some 15 KB for ten seconds; -key-concurrent bounds how many
// such requests one key has.
//
// Unless the environment sets GOGC, it is 400: the heap grows to five times the live
// data before a collection. Little data is live, so that costs megabytes. With the
// default of 100 a request takes a tenth more processor time.
//
// # Storage
//
// A start creates or migrates the tables. In PostgreSQL they are in the schema
// "signalbox". The role needs the right to create it only if it does not exist yet
// (the documentation of store/postgres has the grants).
//
// The first start makes a small organization and its first keys. It prints the keys
// and writes them to the keys file, once, because only their hashes are stored. If
// several processes start at once, one of them makes the keys. If it dies before it
// has shown them, the next start makes new ones. Later starts print that there are
// keys. They update the address in a keys file that the first start wrote, and never
// create one.
//
// Provider credentials of callers are encrypted with a sealing key of 32 bytes. With
// -data the first start writes it to the file sealing.key beside the database; a
// backup needs both files. With PostgreSQL it is in the variable
// SIGNALBOX_SEALING_KEY, as 64 random hex digits (openssl rand -hex 32), the same for
// every process.
//
// A process that dies leaves holds. Some time after their deadline a task that runs
// every minute counts them as spent. If the process was only suspended, it may still
// settle them within a day.
//
// A change of limits, budgets or credits in one process takes effect in the others on
// the next call that costs something. So does disabling or deleting a key. Rules,
// filters and calls that cost nothing follow within ten seconds. While the database
// cannot be reached all calls are answered with 503 and Retry-After.
//
// A call that costs more than was reserved for it is charged in full and logged at
// Warn, with the key's label, the endpoint and both amounts.
//
// With -leases a process leases a slice of what is left of a budget, and admits calls
// from the slice. So a key that is busy in many processes does not wait for its rows
// before every call. Limits are never exceeded, but there are three costs. A call may
// be refused while other processes hold money of the same budget; they give unused
// money back within two minutes, or when they stop. A limit that is lowered, or a key
// that is disabled, takes effect in another process when its slice is used up; a slice
// is at most a thousand times the most that a call may cost ($2 for $0.002). And the
// slice of a process that dies counts as spent, some six minutes later. Processes with
// and without the flag may share a database. docs/adr/0016-leases.md has the reasons.
//
// # Routes
//
// The documented interface is mounted under /api/v1, and the native System One
// dialect (POST /v1/systemone, GET /v1/models) under /v1. POST /api/v1/decisions and
// POST /v1/decisions take the same questions in the Decisions dialect of OpenAI.
// POST /api/alpha/decisions is the same as POST /api/v1/systemone, for clients that
// expect it there. docs/openapi.yaml describes all of them.
//
// GET /healthz answers 200 while the process runs. GET /readyz answers 200 while the
// storage can be reached, and 503 if it cannot or if the server is stopping. It reads
// the storage at most once a second. Neither needs a key. With -metrics-addr both are
// served there, too, beside GET /metrics: the metrics of router/prommetrics, of the Go
// runtime and of the process.
//
// The listener speaks HTTP/1, and HTTP/2 without TLS with prior knowledge (h2c). Use a
// proxy in front for TLS.
//
// # Users
//
// The user of a request is sent upstream as a keyed hash, if the provider supports it.
// The hash key is derived from the sealing key. In memory that is random at every
// start, so the hash of a user differs from run to run.
//
// # Configuration
//
// The file is one JSON object with three lists: providers, models and endpoints. None
// may be empty. Unknown members are errors. Members without "default" below are
// required. config.example.json beside this file has every service with a profile.
//
// A provider is a service that answers:
//
//	slug         lower-case letters, digits and ._- between them; what requests name
//	name         display name; default: the slug
//	kind         "systemone", "openai" (the OpenAI Decisions dialect), "gemini" (the
//	             Gemini Decisions dialect) or "similarity" (the embedded model; takes
//	             no further member but cascade)
//	profile      how a "systemone" service differs from the plain dialect:
//	             see the list below; default "systemone"
//	base_url     up to and including its version, e.g. https://api.typesafe.ai/v1;
//	             http and loopback addresses are allowed, credentials are not
//	api_key_env  name of the environment variable that holds the credential;
//	             default: no credential is sent. If the variable is unset or empty
//	             the provider is disabled with a warning, and its endpoints are
//	             switched off
//	cascade      for "similarity": the id of a strong model. The server then lists the
//	             model signalbox/cascade-en-1: see below
//	silence_refuses
//	             whether a "systemone" service refuses a question by leaving its
//	             answer out; default: that of the profile, which is true for openrouter.
//	             With false such a reply is a failure
//	send_trace   whether the service gets the trace of each attempt (the headers
//	             traceparent and tracestate, with -otlp or -traces); default false
//
// Accounts may store a credential of their own (POST /byok) for any provider where it
// can work. It cannot for "similarity", for the profile cloudflare-clef, whose address
// names the operator's account, and for ollama, which checks no credentials.
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
//	categories use cases for GET /models?category=, e.g. finance; default: none
//	stages     what the model is made of, which then has no endpoints; default: nothing
//	max_escalated
//	           the largest share of the calls for a model with stages that may ask a
//	           stage after the first, e.g. 0.3; default: no limit
//
// Stages are a list of models, as "models" of a request: a text is a model's name, and
// an object {"model","when","scope","required","shop_refusals"} begins the next stage.
// "when" says on which answers. A stage is asked only the questions that made it due.
// A request that names the model asks its stages. This one asks gpt-6-luna what
// jev-1.13 is unsure of:
//
//	{"id": "acme/triage", "permaslug": "acme/triage-20261122", "max_escalated": 0.3, "stages": [
//	  "typesafe/jev-1.13",
//	  {"model": "openai/gpt-6-luna", "when": {"any": [
//	    {"confidenceBelow": 0.6}, {"probabilityBetween": [0.25, 0.75]}]}}]}
//
// max_escalated counts the last 1,000 answered calls for the model, none older than
// ten minutes, in this process. While the share is above it, the first answers are
// kept, and the log warns once an hour. A broken first stage would otherwise send
// every call to the second one.
//
// signalbox/cascade-en-1 is such a model. Its stages are the embedded model and the
// "cascade" of its provider, which is asked for choices and scores with a confidence
// below 0.6, and for nouls from 0.25 to 0.75. go doc ./router/similarity has what was
// measured: of 3,000 sentences with five intents each, 16 in 100 go to the strong
// model, and 98 in 100 of the others are right.
//
// An endpoint is one model at one provider:
//
//	provider         a provider's slug
//	variant          tells several endpoints of one provider and model apart; default: none
//	model            a model's id
//	upstream_model   the provider's own name of the model; default: the id.
//	                 "similarity" does not allow it
//	pricing          {"prompt","completion","request"}: decimal texts, USD per
//	                 million input tokens, per million output tokens, per request;
//	                 default of each: "0"
//	quantization     int4, int8, fp4, mxfp4, nvfp4, fp6, fp8, mxfp8, fp16, bf16,
//	                 fp32 or unknown; default: int8 for "similarity", else unknown
//	data_collection  whether the provider collects user data; default: false if zdr
//	                 is true, else true
//	zdr              zero data retention; default false
//	distillable      whether the model's author allows text distillation; the
//	                 same for every endpoint of a model; default false
//	context_length   largest state in tokens, and the largest count of input tokens
//	                 that is accepted in a reply; default: that of the profile, else no
//	                 limit
//	max_prompt_tokens  largest count of input tokens that is accepted in a reply, if it
//	                 may exceed the largest state; default: that of the profile, else
//	                 context_length
//	max_completion_tokens  largest count of output tokens; default: that of the kind,
//	                 else what the form of the reply allows
//	tokens_per_byte  the most tokens that are estimated for a byte of a prompt, e.g.
//	                 0.5; default 1. A smaller figure reserves less of a limit for each
//	                 call; a call that costs more than was reserved is charged in full
//	rounding         unit to which probabilities are rounded, e.g. 0.0001 for four
//	                 decimals, or 0 for full precision; default: 0.01, but 0.0001 for
//	                 cloudflare-clef, 0.000001 for ollama and 0 for "similarity".
//	                 Replies are checked as exactly as that. A choice with more options
//	                 than the service takes is asked in parts only with 0.0001 or less
//	usage_required   whether a reply without token counts is a failure; default false:
//	                 the counts are estimated
//	last_resort      whether the endpoint is tried after every other endpoint of its
//	                 model and of the models that a request names earlier. It is tried
//	                 even if the attempts are used up, and time is reserved for it;
//	                 default true for "similarity", else false
//	attempt_timeout_ms
//	                 time limit of one attempt, in milliseconds; default 10,000
//	supported_parameters
//	                 optional parameters that the provider supports, today only "user";
//	                 default: those of the profile or the kind; [] means none, and is
//	                 all that "gemini" and "similarity" accept
//	limits           {"questions","options","levels","concurrency"}: the largest
//	                 number of each, where concurrency counts attempts in flight;
//	                 default: those of the profile, else no limit.
//	                 {"nulls","parts"}: whether the service accepts null guidance (such
//	                 as an option without a description), and a state made of parts;
//	                 default: those of the profile, and every profile accepts nulls.
//	                 With false, requests that need it go to other endpoints
//
// A fourth top-level member, "routing", switches on what is off by default:
//
//	share            whether calls of one account that ask the same at the same time
//	                 become one call of the provider, whose cost they split; default
//	                 false
//	remember         {"ttl_s","bytes"}: answers are remembered for ttl_s seconds (1 to
//	                 86,400; default 300), in about that many bytes of memory (default
//	                 67,108,864), and given again to calls of the same account that ask
//	                 the same, at no cost; {} has the defaults. A call that demands zero
//	                 retention is neither shared nor remembered. Absent: nothing is
//	                 remembered
//
// A fifth, "webhooks", is a list of addresses to which events are sent, as
// docs/events.md describes them:
//
//	name             for the log; default: its place in the list
//	url              where to send them; https and a public address unless private
//	secret_env       name of the environment variable that holds the signing secret,
//	                 "whsec_" and the base64 of 24 to 64 random bytes; several while it
//	                 is rotated, separated by spaces. If the variable is unset or empty
//	                 the webhook is disabled with a warning
//	events           the types that are sent, such as budget.reached; default: all
//	private          whether http, loopback and other addresses that are not public
//	                 are allowed; default false
package main
