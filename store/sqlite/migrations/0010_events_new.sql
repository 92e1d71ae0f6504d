-- Lists of events that the sums by day do not count yet, each of one account and a
-- transaction: JSON, with how many there are. Whoever reads the sums looks these up, too.
CREATE TABLE events_new (
	id      INTEGER PRIMARY KEY,
	account TEXT NOT NULL,
	size    INTEGER NOT NULL,
	events  TEXT NOT NULL
) STRICT;

-- They were left as sums before.
INSERT INTO usage_by_key AS u (account, key_hash, day, member, workspace, model, permaslug, endpoint, provider,
	requests, prompt, completion, reasoning, cached, credit, total)
SELECT account, key_hash, day, member, workspace, model, permaslug, endpoint, provider,
	sum(requests), sum(prompt), sum(completion), sum(reasoning), sum(cached), sum(credit), sum(total)
FROM usage_new WHERE true GROUP BY account, key_hash, day, member, workspace, model, permaslug, endpoint, provider
ON CONFLICT (account, key_hash, day, member, workspace, model, permaslug, endpoint, provider) DO UPDATE SET
	requests = u.requests + excluded.requests, prompt = u.prompt + excluded.prompt, completion = u.completion + excluded.completion,
	reasoning = u.reasoning + excluded.reasoning, cached = u.cached + excluded.cached, credit = u.credit + excluded.credit, total = u.total + excluded.total;

INSERT INTO usage_by_account AS u (account, day, workspace, model, permaslug, endpoint, provider,
	requests, prompt, completion, reasoning, cached, credit, total)
SELECT account, day, workspace, model, permaslug, endpoint, provider,
	sum(requests), sum(prompt), sum(completion), sum(reasoning), sum(cached), sum(credit), sum(total)
FROM usage_new WHERE true GROUP BY account, day, workspace, model, permaslug, endpoint, provider
ON CONFLICT (account, day, workspace, model, permaslug, endpoint, provider) DO UPDATE SET
	requests = u.requests + excluded.requests, prompt = u.prompt + excluded.prompt, completion = u.completion + excluded.completion,
	reasoning = u.reasoning + excluded.reasoning, cached = u.cached + excluded.cached, credit = u.credit + excluded.credit, total = u.total + excluded.total;

DROP TABLE usage_new;
