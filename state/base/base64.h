// Bytes in JSON, as Go writes them: base64 with padding.
#pragma once
#include "state/base/text.h"
#include <stddef.h>

// Most bytes that size characters decode to.
#define BASE64_DECODED_MAX(size) ((size) / 4 * 3)
// Characters of so many bytes.
#define BASE64_ENCODED(size) (((size_t)(size) + 2) / 3 * 4)

// False when text is not base64 of whole bytes with its padding. *decoded: how many bytes were written. The bytes may
// take the place of the text.
bool base64_decode(const char *text, size_t size, uint8_t *bytes, size_t *decoded);

// A NUL-terminated text; the caller frees.
char *base64_encode(struct text bytes);
// BASE64_ENCODED(size) characters, without a NUL.
void base64_write(char *to, const uint8_t *bytes, size_t size);
