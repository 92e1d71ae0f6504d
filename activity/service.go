package activity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/typednil"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// Config sets up a [Service].
type Config struct {
	Store Store // required
	// Directory knows the accounts' workspaces. Nil: accounts have none, and a
	// query that names a workspace or a member is refused.
	Directory Directory
	// FreeUnrecorded lets calls that cost nothing succeed while Store returns
	// [router.ErrUnavailable]; their use is then missing from the reports. Set it
	// together with [router.Config.FreeWithoutLedger]. Default: such calls fail.
	FreeUnrecorded bool
	Now            func() time.Time // default time.Now
}

// recordTime bounds one Store.Record. It is counted from the end of the call, whose
// own deadline may have passed.
const recordTime = 10 * time.Second

// Service records and reports activity. It is safe for concurrent use.
type Service struct{ cfg Config }

// New checks cfg and fills in its defaults. A mistake is [ErrConfig].
func New(cfg Config) (*Service, error) {
	if name := typednil.Field(cfg); name != "" {
		return nil, fmt.Errorf("%w: %s holds a nil", ErrConfig, name)
	}
	if cfg.Store == nil {
		return nil, fmt.Errorf("%w: Store is required", ErrConfig)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Service{cfg: cfg}, nil
}

// Intercept records every answered call before its caller gets the answer, unless
// the ledger recorded it in this store when it settled the call. A call that its
// caller ended and that was charged is recorded too, with its tokens and its cost
// but not as a request. A call that cannot be recorded fails, because no report
// would show it; Config.FreeUnrecorded makes an exception. Calls without an
// account are the embedding program's own and are not recorded.
func (s *Service) Intercept(next router.Decider) router.Decider {
	return func(ctx context.Context, c *router.Call) (*router.Result, error) {
		res, err := next(ctx, c)
		if c.Principal.Account == "" || c.RecordedIn(s.cfg.Store) {
			return res, err
		}
		events := c.Events(res)
		if len(events) == 0 && (res == nil || c.DryRun) {
			return res, err
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
		defer cancel()
		failed := s.cfg.Store.Record(ctx, events)
		if s.cfg.FreeUnrecorded && areFree(events) && errors.Is(failed, router.ErrUnavailable) {
			return res, err
		}
		if failed != nil {
			failure := *router.Failure(fmt.Errorf("activity: record: %w", failed))
			failure.Err = errors.Join(failure.Err, err)
			return nil, &failure
		}
		return res, err
	}
}

func areFree(events []router.Event) bool {
	return !slices.ContainsFunc(events, func(e router.Event) bool { return e.Cost.Total != 0 })
}

// Query asks for a part of an account's activity. The zero value asks for all
// of the last thirty completed days.
type Query struct {
	Date        string // one day; "" is all
	KeyHash     string // SHA-256 hex; "" is all keys
	Member      string // user id; "" is everybody
	Workspace   string // UUID; "" is all
	ByWorkspace bool   // split by workspace
	ByReason    bool   // split by the reason for which legs were asked
}

// Items returns what the account used, by date descending, then model, endpoint,
// workspace and reason. Use without a workspace, or in a deleted one, is shown under
// the default workspace. Items whose figures are all zero are left out. A mistake in
// q is a [systemone.ErrInvalid] with the names of the interface as paths; a workspace
// that the account does not have is [ErrNotFound].
func (s *Service) Items(ctx context.Context, account string, q Query) ([]Item, error) {
	r, err := s.rangeOf(account, q)
	if err != nil {
		return nil, err
	}
	live, err := s.check(ctx, account, q)
	if err != nil {
		return nil, err
	}
	rows, err := s.cfg.Store.Items(ctx, r)
	if err != nil {
		return nil, err
	}
	return fold(rows, q, live), nil
}

// rangeOf returns the range of a query. It checks what needs no directory.
func (s *Service) rangeOf(account string, q Query) (Range, error) {
	r := Range{Account: account, KeyHash: q.KeyHash, Member: q.Member}
	r.From, r.To = Window(s.cfg.Now())
	var issues []systemone.Issue
	if q.Date != "" {
		day, err := time.Parse(time.DateOnly, q.Date)
		if err != nil || day.Format(time.DateOnly) != q.Date || q.Date < r.From || q.Date > r.To {
			issues = append(issues, systemone.Issue{
				Path: "date", Message: "must be a day from " + r.From + " to " + r.To + ", written YYYY-MM-DD",
			})
		}
		r.From, r.To = q.Date, q.Date
	}
	if q.KeyHash != "" && !isHash(q.KeyHash) {
		issues = append(issues, systemone.Issue{Path: "api_key_hash", Message: "must be 64 lower-case hexadecimal digits"})
	}
	if q.Workspace != "" && uuid.Validate(q.Workspace) != nil {
		issues = append(issues, systemone.Issue{Path: "workspace_id", Message: "must be a UUID"})
	}
	if issues != nil {
		return Range{}, &systemone.InvalidError{Issues: issues}
	}
	return r, nil
}

func isHash(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// check checks with the directory what the query names, and returns the account's
// workspaces, the default one first.
func (s *Service) check(ctx context.Context, account string, q Query) ([]string, error) {
	var live []string
	organization := false
	if d := s.cfg.Directory; d != nil {
		var err error
		if live, err = d.Workspaces(ctx, account); err != nil {
			return nil, err
		}
		if q.Member != "" {
			if organization, err = d.IsOrganization(ctx, account); err != nil {
				return nil, err
			}
		}
	}
	if q.Member != "" && !organization {
		return nil, &systemone.InvalidError{Issues: []systemone.Issue{{
			Path: "user_id", Message: "is for organizations only",
		}}}
	}
	if q.Workspace != "" && !slices.Contains(live, q.Workspace) {
		return nil, ErrNotFound
	}
	return live, nil
}

// group is the key by which items are added up.
type group struct {
	date, model, permaslug, provider, workspace string
	reason                                      router.LegReason
	endpoint                                    uuid.UUID
}

// fold moves the rows of deleted workspaces to the default one, leaves out rows that
// the query does not select, adds up the rows of each group, and drops empty sums.
func fold(rows []Item, q Query, live []string) []Item {
	at := map[group]int{}
	items := []Item{}
	for _, row := range rows {
		if len(live) > 0 && !slices.Contains(live, row.Workspace) {
			row.Workspace = live[0]
		}
		if q.Workspace != "" && row.Workspace != q.Workspace {
			continue
		}
		if !q.ByWorkspace {
			row.Workspace = ""
		}
		if !q.ByReason {
			row.Reason = ""
		}
		g := group{row.Date, row.Model, row.Permaslug, row.Provider, row.Workspace, row.Reason, row.Endpoint}
		if i, ok := at[g]; ok {
			items[i].Add(row)
			continue
		}
		at[g] = len(items)
		items = append(items, row)
	}
	items = slices.DeleteFunc(items, func(i Item) bool { return i.Empty() })
	slices.SortFunc(items, order)
	return items
}

func order(a, b Item) int {
	return cmp.Or(
		strings.Compare(b.Date, a.Date),
		strings.Compare(a.Model, b.Model),
		strings.Compare(a.Endpoint.String(), b.Endpoint.String()),
		strings.Compare(a.Workspace, b.Workspace),
		cmp.Compare(a.Reason, b.Reason),
		strings.Compare(a.Permaslug, b.Permaslug),
		strings.Compare(a.Provider, b.Provider),
	)
}
