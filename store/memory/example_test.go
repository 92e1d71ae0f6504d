package memory_test

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

func ExampleNew() {
	set := memory.New()
	service, err := keys.New(keys.Config{Store: set.Keys, Ledger: set.Ledger})
	if err != nil {
		fmt.Println(err)
		return
	}
	by := router.Actor{Principal: router.Principal{Account: "acme"}}
	_, secret, err := service.Create(context.Background(), by, keys.Key{Name: "ci"})
	if err != nil {
		fmt.Println(err)
		return
	}
	who, err := service.Authenticate(context.Background(), secret)
	fmt.Println(who.Account, err)
	// Output: acme <nil>
}
