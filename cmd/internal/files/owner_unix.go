//go:build unix

package files

import (
	"errors"
	"io/fs"
	"syscall"
)

// ownerOf gives the numeric owner and group of a file; ok is false where the system has none.
func ownerOf(info fs.FileInfo) (uid, gid int, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(stat.Uid), int(stat.Gid), true
}

// hardLinks gives the number of names that a file has.
func hardLinks(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink)
	}
	return 1
}

// cannotSyncFolder tells a file system that knows no sync of a folder from one where it failed.
func cannotSyncFolder(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP)
}
