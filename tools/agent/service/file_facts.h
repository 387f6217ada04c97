// What Nomad tells of a file: its mode in Go's letters, what it holds, and both as JSON.
#pragma once
#include "tools/json/json_writer.h"
#include <sys/stat.h>

// "drwxr-xr-x", "dtrwxrwxrwx", "prw-------", …
#define FILE_MODE_BYTES 16u
void file_mode_text(mode_t, char text[static FILE_MODE_BYTES]);

// By the first bytes, up to 512: text or not.
#define FILE_BEGINNING_BYTES 512u
const char *file_content_type(const void *beginning, size_t size);
// By the name, or else by what the descriptor (-1: none) has.
const char *file_type_of(const char *name, int fd);

// content_type NULL: it is not told.
void file_facts_json(
	struct json_writer *, const char *name, const struct stat *, const char *content_type);
