//go:build !unix

package files

import "io/fs"

// ownerOf gives the numeric owner and group of a file; this system has none.
func ownerOf(fs.FileInfo) (uid, gid int, ok bool) { return 0, 0, false }

// hardLinks gives the number of names that a file has, as far as the system tells.
func hardLinks(fs.FileInfo) uint64 { return 1 }

// cannotSyncFolder is always true: a folder cannot be synced here.
func cannotSyncFolder(error) bool { return true }
