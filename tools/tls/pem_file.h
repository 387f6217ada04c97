// Files of certificates and keys (PEM): read whole, and written where there was none.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PEM_FILE_BYTES_MAX (1u << 20)

// NUL-terminated; the caller frees with pem_text_free. NULL: a sentence in message, which begins with what.
char *pem_file_read(const char *what, const char *path, char *message, uint32_t message_size);
// Wipes the text, because it may be a key. NULL is fine.
void pem_text_free(char *text);
// Writes a new file with this mode. Returns 0 or -errno, -EEXIST when there is such a file.
int pem_file_write(const char *path, unsigned mode, const char *text);
