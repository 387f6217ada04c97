#pragma once
#include "tools/berth/session.h"
#include <stddef.h>

// A whole file, NUL-terminated; "-" is standard input. At most FILE_BYTES_MAX. Caller frees.
#define FILE_BYTES_MAX (4u * 1024 * 1024)
enum exit_status file_read(const char *path, char **text, size_t *size);
