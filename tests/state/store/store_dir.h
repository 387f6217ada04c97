// A directory of its own for each test, removed at its end, and small helpers on files.
#pragma once
#include <stddef.h>
#include <stdint.h>

// A new empty directory; static text until the next call.
const char *dir_create(void);
// Removes it with all that is in it.
void dir_remove(const char *path);
size_t dir_bytes(const char *path);              // of all files in it
void dir_copy(const char *from, const char *to); // files and one level of folders

// The whole file; the caller frees. Fails the test when there is none.
uint8_t *file_read(const char *path, size_t *size);
void file_write(const char *path, const void *data, size_t size);
void file_write_byte(const char *path, size_t at, uint8_t byte);
