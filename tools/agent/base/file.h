// Files that are written as a whole.
#pragma once
#include <stddef.h>
#include <sys/types.h>

// flags: O_TRUNC over what is there, or O_EXCL instead of it. 0, or -errno; then it may be there in part.
int file_write(const char *path, int flags, mode_t mode, const void *bytes, size_t size);
