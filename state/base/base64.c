#include "state/base/base64.h"
#include "state/base/memory.h"

// The value of a base64 character, or -1.
static int digit_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// How many of the last four characters are padding.
static size_t padding_of(const char *text, size_t size)
{
	if (size == 0 || text[size - 1] != '=')
		return 0;
	return text[size - 2] == '=' ? 2 : 1;
}

bool base64_decode(const char *text, size_t size, uint8_t *bytes, size_t *decoded)
{
	size_t padding = size % 4 == 0 ? padding_of(text, size) : 0;
	uint32_t bits = 0, count = 0;
	*decoded = 0;
	if (size % 4 != 0)
		return false;
	for (size_t i = 0; i < size - padding; i++) {
		int digit = digit_of(text[i]);
		if (digit < 0)
			return false;
		bits = bits << 6 | (uint32_t)digit;
		count += 6;
		if (count >= 8) {
			count -= 8;
			bytes[(*decoded)++] = (uint8_t)(bits >> count);
		}
	}
	// Bits left over must be zeros.
	return (bits & ((1u << count) - 1)) == 0;
}

char *base64_encode(struct text bytes)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *text = memory_take(((size_t)bytes.size + 2) / 3 * 4 + 1), *to = text;
	for (uint32_t i = 0; i < bytes.size; i += 3) {
		uint32_t left = bytes.size - i, word = 0;
		for (uint32_t k = 0; k < 3; k++)
			word = word << 8 | (k < left ? (uint8_t)bytes.data[i + k] : 0);
		for (uint32_t k = 0; k < 4; k++)
			*to++ = k <= left ? digits[word >> (18 - 6 * k) & 63] : '=';
	}
	return text;
}
