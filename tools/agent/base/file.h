// Files that are written as a whole.
#pragma once
#include <stddef.h>
#include <sys/types.h>

// flags: O_TRUNC replaces a file, O_EXCL refuses to. 0, or -errno; the file may then be there in part.
int file_write(const char *path, int flags, mode_t mode, const void *bytes, size_t size);
