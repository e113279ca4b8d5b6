package print

import "fmt"

// ColorMode is the user's wish for colour; the zero value is ColorAuto.
type ColorMode int

// The three wishes.
const (
	// ColorAuto colours on a terminal that can show it.
	ColorAuto ColorMode = iota
	// ColorAlways colours whatever the stream is.
	ColorAlways
	// ColorNever does not colour.
	ColorNever
)

// ParseColor reads the value of --color.
func ParseColor(text string) (ColorMode, error) {
	switch text {
	case "auto":
		return ColorAuto, nil
	case "always":
		return ColorAlways, nil
	case "never":
		return ColorNever, nil
	}
	return ColorAuto, fmt.Errorf("%q is not a colour mode; use auto, always or never", text)
}

// Terminal is what is known about the stream that text goes to.
type Terminal struct {
	// IsTerminal says that the stream is a terminal.
	IsTerminal bool
	// NoColor is the value of NO_COLOR; any text at all forbids colour (no-color.org).
	NoColor string
	// Term is the value of TERM; "dumb" forbids colour.
	Term string
}

// Style decides about colour: always and never mean what they say, auto asks the terminal.
func (m ColorMode) Style(t Terminal) Style {
	switch m {
	case ColorAlways:
		return Style{On: true}
	case ColorNever:
		return Style{}
	}
	return Style{On: t.IsTerminal && t.NoColor == "" && t.Term != "dumb"}
}

// Style colours text with the eight basic colours, or leaves it as it is. The zero value is plain.
type Style struct {
	// On says that colour is wanted.
	On bool
}

// Bold makes text bold.
func (s Style) Bold(text string) string { return s.wrap("1", text) }

// Red is for errors and removed lines.
func (s Style) Red(text string) string { return s.wrap("31", text) }

// Green is for added lines and good news.
func (s Style) Green(text string) string { return s.wrap("32", text) }

// Yellow is for warnings.
func (s Style) Yellow(text string) string { return s.wrap("33", text) }

// Cyan is for notes and for the heads of a difference.
func (s Style) Cyan(text string) string { return s.wrap("36", text) }

func (s Style) wrap(code, text string) string {
	if !s.On || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
