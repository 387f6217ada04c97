// Bytes in JSON, as Go writes them: base64 with padding.
#pragma once
#include "state/base/text.h"
#include <stddef.h>

// Most bytes that size characters decode to.
#define BASE64_DECODED_MAX(size) ((size) / 4 * 3)

// False when text is not base64 of whole bytes with its padding. *decoded: how many bytes were written.
bool base64_decode(const char *text, size_t size, uint8_t *bytes, size_t *decoded);

// A NUL-terminated text; the caller frees.
char *base64_encode(struct text bytes);
