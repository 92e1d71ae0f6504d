package dataset

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

// usage is what a key used on one day at one endpoint: a number of equal requests.
type usage struct {
	by       router.Principal
	day      int
	endpoint int
	requests int
	one      figures // of each request
}

// figures are the figures of a roll-up without the number of requests.
type figures [6]int64 // prompt, completion, reasoning, cached, credit, total

func (f figures) times(n int) figures {
	for i := range f {
		f[i] *= int64(n)
	}
	return f
}

func (f figures) plus(g figures) figures {
	for i := range f {
		f[i] += g[i]
	}
	return f
}

func (f figures) cost() router.Amount {
	return router.Amount{Credit: router.USD(f[4]), Total: router.USD(f[5])}
}

// month generates the activity of a month.
type month struct {
	data   *Data
	random *rand.Rand
	row    int // rows generated so far
	rows   int
}

func (d *Data) month() *month {
	return &month{data: d, random: rand.New(rand.NewPCG(d.seed, 1)), rows: d.rows()}
}

// of returns the activity of the next account, and its largest number of requests.
func (m *month) of(account int) (list []usage, most int) {
	for i, p := range m.data.used(account) {
		for day := i % everyDay; day < days; day += everyDay {
			events := m.data.size.Events
			requests := events*(m.row+1)/m.rows - events*m.row/m.rows
			m.row++
			if requests == 0 {
				continue
			}
			one := figures{m.random.Int64N(2000), m.random.Int64N(100), m.random.Int64N(50), m.random.Int64N(500), 0, 1000 + m.random.Int64N(1_000_000)}
			if m.random.IntN(10) > 0 { // otherwise with the caller's own credential
				one[4] = one[5]
			}
			list = append(list, usage{by: p, day: day, endpoint: m.random.IntN(endpoints), requests: requests, one: one})
			most = max(most, requests)
		}
	}
	return list, most
}

// byKey returns a row of the roll-up by key.
func (d *Data) byKey(u *usage) []any {
	return d.row(u.day, u.by, u.endpoint, u.requests, u.one.times(u.requests))
}

func (d *Data) row(day int, p router.Principal, endpoint, requests int, f figures) []any {
	model := fmt.Sprintf("maker-%d/model-%d", endpoint/2%7, endpoint/2)
	row := []any{
		router.Daily.Window(d.day(day)), p.Account, p.Workspace, p.Member, p.KeyHash, model, model + "-20260901",
		uuid.UUID{0: 1, 15: byte(endpoint)}.String(), fmt.Sprintf("Provider %d", endpoint%8), string(router.LegFirst), int64(requests),
	}
	for _, n := range f {
		row = append(row, n)
	}
	return row
}

// byAccount returns the rows of the roll-up by account, in their order.
func (d *Data) byAccount(list []usage) [][]any {
	type group struct {
		day       int
		workspace string
		endpoint  int
	}
	type sum struct {
		requests int
		figures
	}
	sums := map[group]sum{}
	for i := range list {
		u := &list[i]
		g := group{u.day, u.by.Workspace, u.endpoint}
		s := sums[g]
		sums[g] = sum{s.requests + u.requests, s.plus(u.one.times(u.requests))}
	}
	var rows [][]any
	for _, g := range slices.SortedFunc(maps.Keys(sums), func(a, b group) int {
		return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.workspace, b.workspace), cmp.Compare(a.endpoint, b.endpoint))
	}) {
		p := router.Principal{Account: list[0].by.Account, Workspace: g.workspace}
		rows = append(rows, d.row(g.day, p, g.endpoint, sums[g].requests, sums[g].figures))
	}
	return rows
}

// lines returns the lines of an account, sorted by name.
func (d *Data) lines(list []usage) [][]any {
	var windows [days][router.Daily + 1]string
	for day := range windows {
		for i := range windows[day] {
			windows[day][i] = router.Interval(i).Window(d.day(day))
		}
	}
	spent := map[router.Line]router.Amount{}
	for i := range list {
		u := &list[i]
		cost := u.one.times(u.requests).cost()
		for owner := router.OwnerAccount; owner <= router.OwnerKey; owner++ {
			name := owner.Line(u.by, "").Owner
			for _, window := range windows[u.day] {
				line := router.Line{Owner: name, Window: window}
				s := spent[line]
				spent[line] = router.Amount{Credit: s.Credit + cost.Credit, Total: s.Total + cost.Total}
			}
		}
	}
	var rows [][]any
	for _, line := range slices.SortedFunc(maps.Keys(spent), func(a, b router.Line) int {
		return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Window, b.Window))
	}) {
		rows = append(rows, []any{line.Owner, line.Window, int64(spent[line].Credit), int64(spent[line].Total)})
	}
	return rows
}
