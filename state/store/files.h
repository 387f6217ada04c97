// Small helpers around paths and durable directories.
#pragma once
#include <stdint.h>

char *path_of(const char *directory, const char *name); // caller frees
// Makes creations, renames and removals in a directory durable. Returns 0 or -errno.
int directory_sync(const char *path);
// Puts a file of this text in the place of what has the name: durably, and as a whole or not at all. Returns 0 or
// -errno.
int file_replace(const char *directory, const char *name, const char *text);
