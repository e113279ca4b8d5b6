// Package golden holds the cases, scripts and runners that test the whole of inject. Nothing imports it.
package golden
