#pragma once
#include "tools/berth/cli/session.h"
#include <jansson.h>
#include <stddef.h>

// Reads a whole file, NUL-terminated; "-" is standard input. At most FILE_BYTES_MAX. Caller frees.
#define FILE_BYTES_MAX (4u * 1024 * 1024)
enum exit_status file_read(const char *path, char **text, size_t *size);
// Reads a file as a JSON object without duplicate members. Caller releases; errors name the place.
enum exit_status file_read_object(const char *path, json_t **object);
// Writes a file that is not there yet; one that is there is refused and kept. Nothing is left of one that could not be
// written whole.
enum exit_status file_write_new(const char *path, const char *text);
