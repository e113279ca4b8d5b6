package transform

// Bootstrap previews what the agent starts.
type Bootstrap struct{}

func (x *explaining) bootstrap() *Bootstrap { return nil }
