package sqlstore

// texts are the statements of the ledger and of the activity. Whole batches are
// handed to them as one JSON text.
type texts struct {
	loadHolds, addHolds, saveHolds            string
	findLines, addLines, loadLines, saveLines string
	balances, due, forget                     string
	addEvents, addByKey, addByAccount         string
}

const usage = `requests, prompt, completion, reasoning, cached, credit, total`

func textsFor(db DB) texts {
	line := db.Table("at bigint", "owner text", "win text")
	holds := db.Table("id text", "state bigint", "lines text", "credit bigint", "total bigint", "deadline bigint", "event text")
	what := []string{
		"day text", "account text", "workspace text", "member text", "key_hash text",
		"model text", "permaslug text", "endpoint text", "provider text",
		"requests bigint", "prompt bigint", "completion bigint", "reasoning bigint", "cached bigint", "credit bigint", "total bigint",
	}
	return texts{
		loadHolds: `SELECT id, state, lines, credit, total, deadline, event FROM holds
			WHERE id IN (SELECT value FROM ` + db.List("text") + `) ORDER BY id FOR UPDATE`,
		addHolds: `INSERT INTO holds (id, state, lines, credit, total, deadline, event)
			SELECT id, state, lines, credit, total, deadline, event FROM ` + holds + ` WHERE true ORDER BY id
			ON CONFLICT (id) DO NOTHING`,
		saveHolds: `UPDATE holds SET state = n.state, credit = n.credit, total = n.total, deadline = n.deadline, event = n.event
			FROM ` + holds + ` WHERE holds.id = n.id`,
		findLines: `SELECT lines.id, lines.owner, lines.win FROM ` + line + `
			JOIN lines ON lines.owner = n.owner AND lines.win = n.win`,
		addLines: `INSERT INTO lines (owner, win) SELECT owner, win FROM ` + line + ` WHERE true ORDER BY owner, win
			ON CONFLICT (owner, win) DO NOTHING`,
		loadLines: `SELECT id, spent_credit, spent_total, held_credit, held_total FROM lines
			WHERE id IN (SELECT value FROM ` + db.List("bigint") + `) ORDER BY id FOR UPDATE`,
		saveLines: `UPDATE lines SET spent_credit = n.c1, spent_total = n.c2, held_credit = n.c3, held_total = n.c4
			FROM ` + db.Tuples(5) + ` WHERE lines.id = n.c0`,
		balances: `SELECT n.at, spent_credit, spent_total, held_credit, held_total FROM ` + line + `
			JOIN lines ON lines.owner = n.owner AND lines.win = n.win`,
		due:    `SELECT id FROM holds WHERE state = 0 AND deadline < $1 ORDER BY deadline LIMIT $2`,
		forget: `DELETE FROM holds WHERE id IN (SELECT id FROM holds WHERE state <> 0 AND deadline < $1 ORDER BY deadline LIMIT $2)`,
		addEvents: `INSERT INTO events (id, admitted, day, account, workspace, member, key_hash, model, permaslug, endpoint, provider, ` + usage + `)
			SELECT id, admitted, day, account, workspace, member, key_hash, model, permaslug, endpoint, provider, ` + usage + `
			FROM ` + db.Table(append([]string{"id text", "admitted bigint"}, what...)...) + ` WHERE true ORDER BY id
			ON CONFLICT (id) DO NOTHING RETURNING id`,
		addByKey: `INSERT INTO usage_by_key (day, account, workspace, member, key_hash, model, permaslug, endpoint, provider, ` + usage + `)
			SELECT day, account, workspace, member, key_hash, model, permaslug, endpoint, provider, ` + usage + `
			FROM ` + db.Table(what...) + ` WHERE true
			ORDER BY account, key_hash, day, member, workspace, model, permaslug, endpoint, provider
			ON CONFLICT (account, key_hash, day, member, workspace, model, permaslug, endpoint, provider) DO UPDATE SET ` + added("usage_by_key"),
		addByAccount: `INSERT INTO usage_by_account (day, account, workspace, model, permaslug, endpoint, provider, ` + usage + `)
			SELECT day, account, workspace, model, permaslug, endpoint, provider, ` + usage + `
			FROM ` + db.Table(what...) + ` WHERE true
			ORDER BY account, day, workspace, model, permaslug, endpoint, provider
			ON CONFLICT (account, day, workspace, model, permaslug, endpoint, provider) DO UPDATE SET ` + added("usage_by_account"),
	}
}

// added adds what is inserted to what a row of a rollup has.
func added(table string) (text string) {
	for i, column := range []string{"requests", "prompt", "completion", "reasoning", "cached", "credit", "total"} {
		if i > 0 {
			text += ", "
		}
		text += column + " = " + table + "." + column + " + excluded." + column
	}
	return text
}
