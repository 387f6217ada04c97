#pragma once
#include "tools/berth/cli/session.h"
#include <jansson.h>
#include <stddef.h>

// A whole file, NUL-terminated; "-" is standard input. At most FILE_BYTES_MAX. Caller frees.
#define FILE_BYTES_MAX (4u * 1024 * 1024)
enum exit_status file_read(const char *path, char **text, size_t *size);
// The same as a JSON object, which no member is in twice. Caller releases; says what is wrong, and where.
enum exit_status file_read_object(const char *path, json_t **object);
