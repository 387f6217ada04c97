// Small helpers around paths and durable directories.
#pragma once
#include <stdint.h>

char *path_of(const char *directory, const char *name); // caller frees
// Makes creations, renames and removals in a directory durable. Returns 0 or -errno.
int directory_sync(const char *path);
