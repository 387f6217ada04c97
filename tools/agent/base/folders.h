// Folders that tasks may write into. A task may put a link where the agent, which may be the superuser, is about to
// write: whatever is done below is done from one open folder to the next, and follows no link.
#pragma once
#include <stddef.h>
#include <sys/types.h>

// Opens the folder at a path of the operator's, in which links are fine; makes the last one with 0711. A descriptor,
// which the caller closes, or -errno.
int folder_open(const char *path);
// Makes each part of the path below the open folder that is not there, with 0711, and the last one with this mode (also
// if it is there already). A descriptor of the last, which the caller closes, or -errno; -ENOTDIR or -ELOOP: something
// else is in the way.
int folder_make(int top, const char *path, mode_t mode);
// As folder_make(), but a folder that is there keeps its mode; those that are made have this one.
int folder_reach(int top, const char *path, mode_t mode);
// As folder_reach(), but nothing is made: -ENOENT.
int folder_find(int top, const char *path);
// Writes a whole file of an open folder (AT_FDCWD: of this path), over one that is there. 0 or -errno; part of it may
// then exist.
int folder_write(int folder, const char *name, mode_t mode, const void *bytes, size_t size);
// Closes a file that was written. 0, or the error of before, or -errno: what was written may not be there.
int folder_close_file(int fd, int error);
// Removes the folder of this name and all that is in it, but not other file systems that are mounted there. Nothing
// outside of it is touched, whoever changes it meanwhile. What is left is said in the log.
void folder_remove(int top, const char *name);
