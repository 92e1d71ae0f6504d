package organization

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/router"
)

// Credits is an account's money.
type Credits struct {
	Total router.USD // all that was ever paid in
	Used  router.USD // all that was ever charged
	// Prepaid says that calls are refused once Total is spent. An account without
	// payments is not limited by its credits.
	Prepaid bool
}

// TopUp adds a payment to the credits of the actor's account. From the first payment
// on, calls are refused once the credits are spent. A payment whose id was used
// before adds nothing, and is refused if its amount differs.
func (s *Service) TopUp(ctx context.Context, by router.Actor, payment string, amount router.USD) (Account, error) {
	var wrong issues
	if payment == "" || len(payment) > maxID {
		wrong.add("payment", "must have 1 to %d bytes", maxID)
	}
	wrong.storable("payment", payment)
	if amount <= 0 || amount > maxAmount {
		wrong.add("amount", "must be above 0 and at most %s", maxAmount)
	}
	if err := refuse(wrong); err != nil {
		return Account{}, err
	}
	p := Payment{ID: payment, Account: by.Principal.Account, Amount: amount, At: s.now()}
	var a Account
	err := retry(func() (err error) {
		a, err = s.topUp(ctx, by, p)
		if errors.Is(err, ErrExists) { // a concurrent call added the same payment
			err = ErrConflict
		}
		return err
	})
	s.forget(p.Account) // also after a failure, because the store may have made the change
	return a, err
}

// topUp makes one attempt.
func (s *Service) topUp(ctx context.Context, by router.Actor, p Payment) (Account, error) {
	before, err := s.cfg.Store.Account(ctx, p.Account)
	if err != nil {
		return Account{}, err
	}
	known, err := s.cfg.Store.Payment(ctx, p.Account, p.ID)
	switch {
	case err == nil && known.Amount != p.Amount:
		return Account{}, invalid("payment", "%s was another amount", p.ID)
	case err == nil:
		return before, nil
	case !errors.Is(err, ErrNotFound):
		return Account{}, err
	case before.Credits > maxAmount-p.Amount:
		return Account{}, invalid("amount", "the account would hold more than %s", maxAmount)
	}
	a := before
	a.Credits += p.Amount
	a.Prepaid, a.UpdatedAt = true, s.now()
	change, err := s.change(by, "top_up", "account", a.ID, before, a)
	if err != nil {
		return Account{}, err
	}
	if err := s.cfg.Store.AddPayment(ctx, p, a, change); err != nil {
		return Account{}, err
	}
	a.Version++
	return a, nil
}

// Credits returns what was paid into an account and what was charged to it.
func (s *Service) Credits(ctx context.Context, account string) (Credits, error) {
	a, err := s.cfg.Store.Account(ctx, account)
	if err != nil {
		return Credits{}, err
	}
	c := Credits{Total: a.Credits, Prepaid: a.Prepaid}
	if s.cfg.Ledger == nil {
		return c, nil
	}
	line := router.OwnerAccount.Line(router.Principal{Account: account}, router.Lifetime.Window(s.now()))
	balances, err := s.cfg.Ledger.Balances(ctx, []router.Line{line})
	if err != nil {
		return Credits{}, err
	}
	c.Used = balances[0].Spent.Credit
	return c, nil
}
