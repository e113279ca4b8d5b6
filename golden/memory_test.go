package golden

import (
	"os"
	"syscall"
)

// peakMemory is the largest resident size of a finished process, in bytes; 0 where the system does not tell.
func peakMemory(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss << 10
	}
	return 0
}
