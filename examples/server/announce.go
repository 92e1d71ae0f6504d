package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/signalbox/signalbox/router"
)

// handOut prints how to use the server. On the first start it also prints the keys,
// which are never shown again.
func (s *service) handOut(ctx context.Context, keysFile string, stdout io.Writer) error {
	if s.first == nil {
		if keysFile != "" {
			s.renew(ctx, keysFile, stdout)
		}
		s.announce(stdout)
		return nil
	}
	if keysFile != "" {
		if err := s.access.write(keysFile); err != nil {
			return err
		}
	}
	s.announce(stdout)
	// The keys are shown now, so this must be recorded even if the server is stopping.
	return s.first.shown(context.WithoutCancel(ctx))
}

// renew writes the address of this start into the keys file of the first one. It
// neither creates a missing file nor changes a file with other keys.
func (s *service) renew(ctx context.Context, keysFile string, stdout io.Writer) {
	a, err := readKeysFile(keysFile)
	for _, secret := range []router.Secret{a.management, a.inference} {
		if err != nil {
			break
		}
		_, err = s.Keys.Authenticate(ctx, secret)
	}
	if err == nil {
		a.baseURL = s.access.baseURL
		err = a.write(keysFile)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s is missing", keysFile)
	} else {
		err = fmt.Errorf("%s: %w", keysFile, cause(err))
	}
	if err != nil {
		_, _ = fmt.Fprintf(stdout, "The keys file was not written: the keys were made at the first start, and %v.\n\n", err)
	}
}

// announce prints how to use the server.
func (s *service) announce(stdout io.Writer) {
	_, _ = fmt.Fprintf(stdout, "Signalbox listens on %s\n\n", s.access.baseURL)
	if s.metricsURL != "" {
		_, _ = fmt.Fprintf(stdout, "Metrics are on %s\n\n", s.metricsURL)
	}
	inference := string(s.access.inference)
	if s.first != nil {
		_, _ = fmt.Fprintf(stdout, "management key  %s\ninference key   %s\n\n", string(s.access.management), inference)
	} else {
		_, _ = fmt.Fprint(stdout, "The keys were made and shown at the first start; only their hashes are kept.\n\n")
		inference = "YOUR-INFERENCE-KEY"
	}
	if s.model == "" {
		_, _ = fmt.Fprintln(stdout, "Nothing can be asked yet: every endpoint is switched off, as the warnings say.")
		return
	}
	_, _ = fmt.Fprintf(stdout, `Try it:

curl -sS "%[1]s/systemone" -H 'Authorization: Bearer %[2]s' -H 'Content-Type: application/json' -d '{
  "model": "%[3]s",
  "state": "I was charged twice for May and nobody answers my mails. Please send one payment back.",
  "questions": {
    "desk": {"type": "choice", "instructions": "Which team should take this?",
      "criteria": {"billing": "charges, payments and refunds", "technical": "something is broken", "sales": "questions before buying"}},
    "refund": {"type": "noul", "instructions": "Does the customer want money back?",
      "criteria": {"true": "wants a refund, money back", "false": "does not ask for money"}},
    "anger": {"type": "score", "instructions": "How upset is the customer?",
      "criteria": ["calm and friendly", "annoyed, still waiting for an answer", "furious, insulting and threatening"]}}}'
`, s.access.baseURL, inference, s.model)
}
