package dataset

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/internal/sqldb"
)

// atOnce is the number of keys in one transaction.
const atOnce = 100_000

// Fill writes the data to a migrated, empty database.
func (d *Data) Fill(ctx context.Context, db sqldb.DB) error {
	if err := d.fillAccounts(ctx, db); err != nil {
		return err
	}
	if err := d.fillKeys(ctx, db); err != nil {
		return err
	}
	m := d.month()
	for account := range d.size.Accounts {
		list, most := m.of(account)
		if err := d.fillUsage(ctx, db, account, list, most); err != nil {
			return err
		}
	}
	return nil
}

// insert is a statement and the rows for it.
type insert struct {
	text    string
	columns []string
	rows    [][]any
}

func write(ctx context.Context, db sqldb.DB, list ...insert) error {
	return db.Write(ctx, func(tx sqldb.Tx) error {
		statements := make([]sqldb.RowsStatement, len(list))
		for i, of := range list {
			statements[i] = sqldb.RowsStatement{Text: of.text, Columns: of.columns, Rows: of.rows, Changed: -1}
		}
		return db.RunRows(ctx, tx, statements...)
	})
}

func (d *Data) fillAccounts(ctx context.Context, db sqldb.DB) error {
	accounts := insert{
		`INSERT INTO {accounts} (id, name, personal, default_workspace, filtered_catalog, allowed, ignored, zdr, prepaid,
				credits_nano, created_at, updated_at, version)
			SELECT id, id, false, workspace, false, 'null', 'null', false, false, 0, made, made, 1 FROM {n} WHERE true`,
		[]string{"id text", "workspace text", "made bigint"},
		nil,
	}
	places := insert{
		`INSERT INTO {workspaces} (account, id, slug, name, description, created_by, default_guardrail, default_sort, budgets,
				include_byok, created_at, updated_at, version)
			SELECT account, id, slug, slug, NULL, 'user_00', '', '', 'null', false, made, made, 1 FROM {n} WHERE true`,
		[]string{"account text", "id text", "slug text", "made bigint"},
		nil,
	}
	made := d.day(-1).UnixMicro()
	for account := range d.size.Accounts {
		id := d.Account(account)
		accounts.rows = append(accounts.rows, []any{id, d.Workspace(account, 0), made})
		for w := range workspaces {
			places.rows = append(places.rows, []any{id, d.Workspace(account, w), "workspace-" + strconv.Itoa(w), made})
		}
	}
	return write(ctx, db, accounts, places)
}

// fillKeys writes the keys sorted by hash.
func (d *Data) fillKeys(ctx context.Context, db sqldb.DB) error {
	type key struct {
		hash   [32]byte
		number int
	}
	keys := make([]key, d.size.Keys)
	for i := range keys {
		keys[i].number = i
		if _, err := hex.Decode(keys[i].hash[:], []byte(d.Hash(i))); err != nil {
			return err
		}
	}
	slices.SortFunc(keys, func(a, b key) int { return cmp.Compare(string(a.hash[:]), string(b.hash[:])) })
	for part := range slices.Chunk(keys, atOnce) {
		i := insert{
			`INSERT INTO {keys} (hash, label, name, account, workspace, creator, management, provisioned, disabled, max_nano, reset,
					include_byok, external_user, external_hash, expires_at, created_at, updated_at, version)
				SELECT hash, 'sk-rt-v1-000...0000', name, account, workspace, member, false, false, false, 1000000000000, 1,
					false, '', '', never, made, made, 1 FROM {n} WHERE true`,
			[]string{"hash text", "name text", "account text", "workspace text", "member text", "never bigint", "made bigint"},
			nil,
		}
		for _, k := range part {
			p := d.principal(k.number)
			made := d.day(-1).Add(time.Duration(k.number) * time.Millisecond).UnixMicro()
			i.rows = append(i.rows, []any{p.KeyHash, fmt.Sprintf("Key %d", k.number), p.Account, p.Workspace, p.Member, time.Time{}.UnixMicro(), made})
		}
		if err := write(ctx, db, i); err != nil {
			return err
		}
	}
	return nil
}

const (
	byKey     = `day, account, workspace, member, key_hash, model, permaslug, endpoint, provider, reason, requests, prompt, completion, reasoning, cached, credit, total`
	byAccount = `day, account, workspace, model, permaslug, endpoint, provider, reason, requests, prompt, completion, reasoning, cached, credit, total`
)

func usageColumns() []string {
	return []string{
		"day text", "account text", "workspace text", "member text", "key_hash text", "model text", "permaslug text", "endpoint text", "provider text",
		"reason text", "requests bigint", "prompt bigint", "completion bigint", "reasoning bigint", "cached bigint", "credit bigint", "total bigint",
	}
}

// fillUsage writes the activity of an account. The database generates the events from the rows of
// the roll-up by key, one for each request.
func (d *Data) fillUsage(ctx context.Context, db sqldb.DB, account int, list []usage, most int) error {
	if len(list) == 0 {
		return nil
	}
	keys := insert{text: `INSERT INTO {usage_by_key} (` + byKey + `) SELECT ` + byKey + ` FROM {n} WHERE true`, columns: usageColumns()}
	for i := range list {
		keys.rows = append(keys.rows, d.byKey(&list[i]))
	}
	accounts := insert{
		`INSERT INTO {usage_by_account} (` + byAccount + `) SELECT ` + byAccount + ` FROM {n} WHERE true`,
		usageColumns(), d.byAccount(list),
	}
	lines := insert{
		`INSERT INTO {lines} (owner, win, spent_credit, spent_total) SELECT owner, win, credit, total FROM {n} WHERE true`,
		[]string{"owner text", "win text", "credit bigint", "total bigint"},
		d.lines(list),
	}
	events := insert{
		text: `INSERT INTO {events} (id, admitted, ` + byKey + `)
			WITH RECURSIVE turns (turn) AS (SELECT 0 UNION ALL SELECT turn + 1 FROM turns WHERE turn + 1 < ` + strconv.Itoa(most) + `)
			SELECT 'gen-dec-' || u.account || '-' || substr(u.key_hash, 1, 16) || '-' || u.day || '-' || turns.turn || '/0', n.start + turns.turn,
				u.day, u.account, u.workspace, u.member, u.key_hash, u.model, u.permaslug, u.endpoint, u.provider, u.reason, 1,
				u.prompt / u.requests, u.completion / u.requests, u.reasoning / u.requests, u.cached / u.requests,
				u.credit / u.requests, u.total / u.requests
			FROM {n} JOIN {usage_by_key} AS u ON u.account = n.account AND u.day = n.day JOIN turns ON turns.turn < u.requests`,
		columns: []string{"account text", "day text", "start bigint"},
	}
	for day := range days {
		start := d.day(day)
		events.rows = append(events.rows, []any{d.Account(account), start.Format(time.DateOnly), start.UnixMicro()})
	}
	return write(ctx, db, keys, accounts, lines, events)
}
