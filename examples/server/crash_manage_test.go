package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/signalbox/signalbox/router"
)

// limit is what a caller knows of a key's limit: the last confirmed value, and the one
// requested last, which may or may not be stored.
type limit struct{ kept, asked router.USD }

// manage raises limits and reads them back until the server is dead. A confirmed
// change must survive the crash.
func (c *crash) manage(ctx context.Context, base string) error {
	client := newClient()
	defer client.CloseIdleConnections()
	for i := range c.limits {
		l := &c.limits[i]
		kept, _, there, err := c.key(ctx, client, base, i)
		if !there || err != nil {
			return err
		}
		if kept != l.kept && kept != l.asked {
			return fmt.Errorf("the limit is %v, neither %v nor %v", kept, l.kept, l.asked)
		}
		l.kept, l.asked = kept, l.asked+perCycle
		status, text, err := talk(ctx, client, c.admin, http.MethodPatch, base+"/keys/"+c.keys[i].hash, `{"limit":`+l.asked.String()+`}`)
		if err != nil {
			return nil
		}
		if status != http.StatusOK {
			return fmt.Errorf("status %d: %s", status, text)
		}
		l.kept = l.asked
	}
	for {
		for i, l := range c.limits {
			kept, usage, there, err := c.key(ctx, client, base, i)
			if !there || err != nil {
				return err
			}
			if kept != l.kept || usage > kept {
				return fmt.Errorf("the limit is %v, not %v; spent is %v", kept, l.kept, usage)
			}
		}
	}
}

// key reads the description of a key; there reports whether the server answered.
func (c *crash) key(ctx context.Context, client *http.Client, base string, i int) (limit, usage router.USD, there bool, err error) {
	status, text, err := talk(ctx, client, c.admin, http.MethodGet, base+"/keys/"+c.keys[i].hash, "")
	if there = err == nil; !there {
		return 0, 0, false, nil
	}
	if status != http.StatusOK {
		return 0, 0, true, fmt.Errorf("status %d: %s", status, text)
	}
	limit, usage, err = keyFigures(text)
	return limit, usage, true, err
}

// keyFigures reads the description of a key.
func keyFigures(text []byte) (limit, usage router.USD, err error) {
	var reply struct {
		Data struct {
			Limit json.Number `json:"limit"`
			Usage json.Number `json:"usage"`
		} `json:"data"`
	}
	if err := json.Unmarshal(text, &reply); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", text, err)
	}
	if limit, err = router.ParseUSD(cmp.Or(reply.Data.Limit.String(), "0")); err != nil {
		return 0, 0, err
	}
	usage, err = router.ParseUSD(reply.Data.Usage.String())
	return limit, usage, err
}
