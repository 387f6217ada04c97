// Writes whole files.
#pragma once
#include <stddef.h>
#include <sys/types.h>

// flags: O_TRUNC replaces an existing file, O_EXCL refuses to. 0, or -errno; part of the file may then exist.
int file_write(const char *path, int flags, mode_t mode, const void *bytes, size_t size);
