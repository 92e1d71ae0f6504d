package sqlledger

// The statements of the ledger and of the activity. {n} stands for the rows of a
// statement; see [sqldb.RowsStatement].
const (
	loadHolds = `SELECT id, state, lines, credit, total, deadline, event FROM {holds}
		WHERE id IN (SELECT n.id FROM {n}) ORDER BY id FOR UPDATE`
	lockHolds    = `SELECT id FROM {holds} WHERE id IN (SELECT n.id FROM {n}) ORDER BY id FOR UPDATE`
	linesOfHolds = `SELECT lines FROM {holds} WHERE id IN (SELECT n.id FROM {n})`
	newHolds     = `INSERT INTO {holds} (id, state, lines, credit, total, deadline, event)
		SELECT id, state, lines, credit, total, deadline, event FROM {n} WHERE true ORDER BY id`
	addHolds  = newHolds + unlessThere
	saveHolds = `UPDATE {holds} AS holds SET state = n.state, credit = n.credit, total = n.total, deadline = n.deadline, event = n.event
		FROM {n} WHERE holds.id = n.id`
	dueHolds = `SELECT id FROM {holds} WHERE state = 0 AND deadline < $1 ORDER BY deadline LIMIT $2`
	// nextHolds returns the last of the next holds, their number, and how many of
	// them may be dropped.
	nextHolds = `SELECT coalesce(max(id), ''), count(*), count(CASE WHEN state <> 0 AND deadline < $3 THEN 1 END)
		FROM (SELECT id, state, deadline FROM {holds} WHERE id > $1 ORDER BY id LIMIT $2) AS next`
	forgetHolds = `DELETE FROM {holds} WHERE id > $1 AND id <= $2 AND state <> 0 AND deadline < $3`

	findLines = `SELECT lines.id, lines.owner, lines.win FROM {n} JOIN {lines} AS lines ON lines.owner = n.owner AND lines.win = n.win`
	addLines  = `INSERT INTO {lines} (owner, win) SELECT owner, win FROM {n} WHERE true ORDER BY owner, win
		ON CONFLICT (owner, win) DO NOTHING`
	loadLines = `SELECT id, spent_credit, spent_total, held_credit, held_total, version, guards FROM {lines}
		WHERE id IN (SELECT n.id FROM {n}) ORDER BY id DESC FOR UPDATE`
	saveLines = `UPDATE {lines} AS lines SET spent_credit = n.spent_credit, spent_total = n.spent_total,
			held_credit = n.held_credit, held_total = n.held_total
		FROM {n} WHERE lines.id = n.id`
	raiseGuards = `UPDATE {lines} AS lines SET guards = guards + 1 FROM {n} WHERE lines.id = n.id`
	// changeLines changes a line only if it has room and its versions are not newer.
	// Sums of what is spent stay at the largest USD. Where what is held would pass
	// it, no row changes.
	changeLines = `UPDATE {lines} AS lines SET
			spent_credit = lines.spent_credit + CASE WHEN n.spent_credit > 9223372036854775807 - lines.spent_credit
				THEN 9223372036854775807 - lines.spent_credit ELSE n.spent_credit END,
			spent_total = lines.spent_total + CASE WHEN n.spent_total > 9223372036854775807 - lines.spent_total
				THEN 9223372036854775807 - lines.spent_total ELSE n.spent_total END,
			held_credit = lines.held_credit - n.less_credit + n.more_credit,
			held_total = lines.held_total - n.less_total + n.more_total
		FROM {n} WHERE lines.id = n.id AND lines.held_total <= 9223372036854775807 - n.more_total
			AND n.room_credit - lines.spent_credit - lines.held_credit >= n.spent_credit - n.less_credit + n.more_credit
			AND n.room_total - lines.spent_total - lines.held_total >= n.spent_total - n.less_total + n.more_total
			AND lines.version <= n.version AND lines.guards <= n.guards`
	// closeHolds closes open holds that are as this process remembers them. It
	// compares the lines because a forgotten ID may have been used again. It says
	// "state < 1" in place of "state = 0": for the latter PostgreSQL would choose the
	// partial index of open holds, which was small when the plan was made.
	closeHolds = `UPDATE {holds} AS holds SET state = n.state, credit = n.credit, total = n.total, event = NULL
		FROM {n} WHERE holds.id = n.id AND holds.state < 1 AND holds.credit = n.was_credit AND holds.total = n.was_total
			AND holds.lines = n.was_lines`
	// takeParts takes parts from open holds that are as this process remembers them
	// and have enough. The rest must not have more credit than total.
	takeParts = `UPDATE {holds} AS holds SET credit = holds.credit - n.credit, total = holds.total - n.total
		FROM {n} WHERE holds.id = n.id AND holds.state < 1 AND n.total <= holds.total AND n.credit <= holds.credit
			AND holds.credit - n.credit <= holds.total - n.total AND holds.lines = n.was_lines`
	balances = `SELECT n.at, spent_credit, spent_total, held_credit, held_total
		FROM {n} JOIN {lines} AS lines ON lines.owner = n.owner AND lines.win = n.win`

	// unlessThere costs PostgreSQL a lookup before each row and a log record after it.
	unlessThere = ` ON CONFLICT (id) DO NOTHING`

	figures   = `requests, prompt, completion, reasoning, cached, credit, total`
	eventText = `id, admitted, day, account, workspace, member, key_hash, model, permaslug, endpoint, provider, reason, ` + figures
	newEvents = `INSERT INTO {events} (` + eventText + `) SELECT ` + eventText + ` FROM {n} WHERE true ORDER BY id`
	addEvents = newEvents + unlessThere
	usage     = `day, account, workspace, member, key_hash, model, permaslug, endpoint, provider, reason, ` + figures
	// The lists of events that the roll-ups do not count yet.
	addLists  = `INSERT INTO {events_new} (account, size, events) SELECT account, size, events FROM {n} WHERE true`
	oldLists  = `SELECT id, size FROM {events_new} ORDER BY id LIMIT $1`
	theLists  = `SELECT id, size, account, events FROM {events_new}`
	loadLists = theLists + ` WHERE id IN (SELECT n.id FROM {n}) ORDER BY id FOR UPDATE`
	dropLists = `DELETE FROM {events_new} WHERE id IN (SELECT n.id FROM {n})`
	byKey     = `account, key_hash, day, member, workspace, model, permaslug, endpoint, provider, reason`
	addByKey  = `INSERT INTO {usage_by_key} AS u (` + byKey + `, ` + figures + `)
		SELECT ` + byKey + `, ` + figures + ` FROM {n} WHERE true ORDER BY ` + byKey + `
		ON CONFLICT (` + byKey + `) DO UPDATE SET `
	byAccount    = `account, day, workspace, model, permaslug, endpoint, provider, reason`
	addByAccount = `INSERT INTO {usage_by_account} AS u (` + byAccount + `, ` + figures + `)
		SELECT ` + byAccount + `, ` + figures + ` FROM {n} WHERE true ORDER BY ` + byAccount + `
		ON CONFLICT (` + byAccount + `) DO UPDATE SET `
)

// The columns of {n}, by statement.
func idColumns() []string     { return []string{"id text"} }
func numberColumns() []string { return []string{"id bigint"} }
func lineColumns() []string   { return []string{"at bigint", "owner text", "win text"} }

func holdColumns() []string {
	return []string{"id text", "state bigint", "lines text", "credit bigint", "total bigint", "deadline bigint", "event text"}
}

func changeColumns() []string {
	return []string{
		"id bigint", "spent_credit bigint", "spent_total bigint", "more_credit bigint", "more_total bigint",
		"less_credit bigint", "less_total bigint", "room_credit bigint", "room_total bigint",
		"version bigint", "guards bigint",
	}
}

func closingColumns() []string {
	return []string{"id text", "state bigint", "credit bigint", "total bigint", "was_credit bigint", "was_total bigint", "was_lines text"}
}

func partColumns() []string {
	return []string{"id text", "credit bigint", "total bigint", "was_lines text"}
}

func balanceColumns() []string {
	return []string{"id bigint", "spent_credit bigint", "spent_total bigint", "held_credit bigint", "held_total bigint"}
}

func listColumns() []string { return []string{"account text", "size bigint", "events text"} }

func usageColumns() []string {
	return []string{
		"day text", "account text", "workspace text", "member text", "key_hash text",
		"model text", "permaslug text", "endpoint text", "provider text", "reason text", "requests bigint", "prompt bigint",
		"completion bigint", "reasoning bigint", "cached bigint", "credit bigint", "total bigint",
	}
}

func eventColumns() []string {
	return append([]string{"id text", "admitted bigint"}, usageColumns()...)
}
