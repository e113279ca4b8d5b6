package golden

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// peakMemory reads the largest resident size of a running process so far, in bytes; 0 where the system does not tell.
// What wait reports will not do: a child counts the memory of the process that forked it.
func peakMemory(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kb, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.ParseInt(kb, 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
}
