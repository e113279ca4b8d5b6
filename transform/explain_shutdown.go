package transform

// Shutdown are the durations that decide how the pod stops, side by side.
type Shutdown struct{}

func (x *explaining) shutdown() *Shutdown { return nil }
