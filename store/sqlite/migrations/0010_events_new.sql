-- Lists of events that the sums by day do not count yet, each of one account and a
-- transaction: JSON, with how many there are. Whoever reads the sums looks these up, too.
CREATE TABLE events_new (
	id      INTEGER PRIMARY KEY,
	account TEXT NOT NULL,
	size    INTEGER NOT NULL,
	events  TEXT NOT NULL
) STRICT;

-- They were left as sums before. They are added one by one, and stay at the largest number:
-- beyond it sum() fails.
INSERT INTO usage_by_key AS u (account, key_hash, day, member, workspace, model, permaslug, endpoint, provider,
	requests, prompt, completion, reasoning, cached, credit, total)
SELECT account, key_hash, day, member, workspace, model, permaslug, endpoint, provider,
	requests, prompt, completion, reasoning, cached, credit, total
FROM usage_new WHERE true
ON CONFLICT (account, key_hash, day, member, workspace, model, permaslug, endpoint, provider) DO UPDATE SET
	requests = CASE WHEN excluded.requests > 0 AND u.requests > 9223372036854775807 - excluded.requests THEN 9223372036854775807
		WHEN excluded.requests < 0 AND u.requests < -9223372036854775807 - excluded.requests THEN -9223372036854775807 ELSE u.requests + excluded.requests END,
	prompt = CASE WHEN excluded.prompt > 0 AND u.prompt > 9223372036854775807 - excluded.prompt THEN 9223372036854775807
		WHEN excluded.prompt < 0 AND u.prompt < -9223372036854775807 - excluded.prompt THEN -9223372036854775807 ELSE u.prompt + excluded.prompt END,
	completion = CASE WHEN excluded.completion > 0 AND u.completion > 9223372036854775807 - excluded.completion THEN 9223372036854775807
		WHEN excluded.completion < 0 AND u.completion < -9223372036854775807 - excluded.completion THEN -9223372036854775807 ELSE u.completion + excluded.completion END,
	reasoning = CASE WHEN excluded.reasoning > 0 AND u.reasoning > 9223372036854775807 - excluded.reasoning THEN 9223372036854775807
		WHEN excluded.reasoning < 0 AND u.reasoning < -9223372036854775807 - excluded.reasoning THEN -9223372036854775807 ELSE u.reasoning + excluded.reasoning END,
	cached = CASE WHEN excluded.cached > 0 AND u.cached > 9223372036854775807 - excluded.cached THEN 9223372036854775807
		WHEN excluded.cached < 0 AND u.cached < -9223372036854775807 - excluded.cached THEN -9223372036854775807 ELSE u.cached + excluded.cached END,
	credit = CASE WHEN excluded.credit > 0 AND u.credit > 9223372036854775807 - excluded.credit THEN 9223372036854775807
		WHEN excluded.credit < 0 AND u.credit < -9223372036854775807 - excluded.credit THEN -9223372036854775807 ELSE u.credit + excluded.credit END,
	total = CASE WHEN excluded.total > 0 AND u.total > 9223372036854775807 - excluded.total THEN 9223372036854775807
		WHEN excluded.total < 0 AND u.total < -9223372036854775807 - excluded.total THEN -9223372036854775807 ELSE u.total + excluded.total END;

INSERT INTO usage_by_account AS u (account, day, workspace, model, permaslug, endpoint, provider,
	requests, prompt, completion, reasoning, cached, credit, total)
SELECT account, day, workspace, model, permaslug, endpoint, provider,
	requests, prompt, completion, reasoning, cached, credit, total
FROM usage_new WHERE true
ON CONFLICT (account, day, workspace, model, permaslug, endpoint, provider) DO UPDATE SET
	requests = CASE WHEN excluded.requests > 0 AND u.requests > 9223372036854775807 - excluded.requests THEN 9223372036854775807
		WHEN excluded.requests < 0 AND u.requests < -9223372036854775807 - excluded.requests THEN -9223372036854775807 ELSE u.requests + excluded.requests END,
	prompt = CASE WHEN excluded.prompt > 0 AND u.prompt > 9223372036854775807 - excluded.prompt THEN 9223372036854775807
		WHEN excluded.prompt < 0 AND u.prompt < -9223372036854775807 - excluded.prompt THEN -9223372036854775807 ELSE u.prompt + excluded.prompt END,
	completion = CASE WHEN excluded.completion > 0 AND u.completion > 9223372036854775807 - excluded.completion THEN 9223372036854775807
		WHEN excluded.completion < 0 AND u.completion < -9223372036854775807 - excluded.completion THEN -9223372036854775807 ELSE u.completion + excluded.completion END,
	reasoning = CASE WHEN excluded.reasoning > 0 AND u.reasoning > 9223372036854775807 - excluded.reasoning THEN 9223372036854775807
		WHEN excluded.reasoning < 0 AND u.reasoning < -9223372036854775807 - excluded.reasoning THEN -9223372036854775807 ELSE u.reasoning + excluded.reasoning END,
	cached = CASE WHEN excluded.cached > 0 AND u.cached > 9223372036854775807 - excluded.cached THEN 9223372036854775807
		WHEN excluded.cached < 0 AND u.cached < -9223372036854775807 - excluded.cached THEN -9223372036854775807 ELSE u.cached + excluded.cached END,
	credit = CASE WHEN excluded.credit > 0 AND u.credit > 9223372036854775807 - excluded.credit THEN 9223372036854775807
		WHEN excluded.credit < 0 AND u.credit < -9223372036854775807 - excluded.credit THEN -9223372036854775807 ELSE u.credit + excluded.credit END,
	total = CASE WHEN excluded.total > 0 AND u.total > 9223372036854775807 - excluded.total THEN 9223372036854775807
		WHEN excluded.total < 0 AND u.total < -9223372036854775807 - excluded.total THEN -9223372036854775807 ELSE u.total + excluded.total END;

DROP TABLE usage_new;
