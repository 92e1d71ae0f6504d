package hooks

import "context"

// Handler receives events, one at a time in the order in which they happened. It may
// block: other receivers and callers of the service do not wait for it. It must return
// soon after ctx ends, which is at the latest five minutes after the event was passed.
// Where it returns an error, an alert of a budget is delivered again later, under the
// same ID. Any other event is not.
type Handler interface {
	Handle(ctx context.Context, e Event) error
}

// Funcs is a [Handler] with one function for each kind of data. Events whose function
// is nil are ignored.
type Funcs struct {
	Budget  func(ctx context.Context, e Event, b Budget) error
	Outage  func(ctx context.Context, e Event, o Outage) error
	Overrun func(ctx context.Context, e Event, o Overrun) error
	Change  func(ctx context.Context, e Event, c Change) error
}

// Handle calls the function of the event's data.
func (f Funcs) Handle(ctx context.Context, e Event) error {
	switch data := e.Data.(type) {
	case Budget:
		return call(ctx, f.Budget, e, data)
	case Outage:
		return call(ctx, f.Outage, e, data)
	case Overrun:
		return call(ctx, f.Overrun, e, data)
	case Change:
		return call(ctx, f.Change, e, data)
	}
	return nil
}

func call[T Data](ctx context.Context, f func(context.Context, Event, T) error, e Event, data T) error {
	if f == nil {
		return nil
	}
	return f(ctx, e, data)
}

// Receiver is a handler with the events that it wants.
type Receiver struct {
	Name    string  // for logs and [Hooks.Counts]; default "receiver 1" and so on
	Handler Handler // required
	Types   []Type  // nil: all
}
