package keys_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

func ExampleService_Create() {
	s, err := keys.New(keys.Config{Store: memory.New().Keys, Prefix: "sk-shop"})
	if err != nil {
		fmt.Println(err)
		return
	}
	key, secret, err := s.Create(context.Background(), router.Actor{}, keys.Key{Name: "web shop"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(secret), len(key.Hash), secret) // the text itself needs a conversion to string
	// Output: 75 64 [redacted]
}

// A key is disabled, and its text is refused at once.
func ExampleService_Authenticate() {
	ctx := context.Background()
	s, err := keys.New(keys.Config{Store: memory.New().Keys})
	if err != nil {
		fmt.Println(err)
		return
	}
	program := router.Actor{Principal: router.Principal{Account: "acme"}} // the embedding program, for an account
	key, secret, err := s.Create(ctx, program, keys.Key{Name: "web shop"})
	if err != nil {
		fmt.Println(err)
		return
	}
	who, err := s.Authenticate(ctx, secret)
	fmt.Println(who.Account, err)
	if _, err = s.Update(ctx, program, key.Hash, keys.Patch{Disabled: router.To(true)}); err != nil {
		fmt.Println(err)
		return
	}
	_, err = s.Authenticate(ctx, secret)
	fmt.Println(errors.Is(err, keys.ErrDisabled))
	// Output:
	// acme <nil>
	// true
}
