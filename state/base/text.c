#include "state/base/text.h"
#include "state/base/limits.h"
#include "state/base/memory.h"
#include <arpa/inet.h>

char *text_copy(struct text t)
{
	// All is written, so nothing is zeroed: the allocator's quick way, which calloc does not take.
	char *copy = memory_resize(NULL, (size_t)t.size + 1);
	if (t.size)
		memcpy(copy, t.data, t.size);
	copy[t.size] = 0;
	return copy;
}

// Bounds of the second byte exclude overlong forms, surrogates and code points past U+10FFFF.
static const struct {
	uint8_t first_least, first_most;
	uint8_t second_least, second_most;
	uint8_t bytes;
} utf8_forms[] = {
	{0x00, 0x7f, 0, 0, 1},
	{0xc2, 0xdf, 0x80, 0xbf, 2},
	{0xe0, 0xe0, 0xa0, 0xbf, 3},
	{0xe1, 0xec, 0x80, 0xbf, 3},
	{0xed, 0xed, 0x80, 0x9f, 3},
	{0xee, 0xef, 0x80, 0xbf, 3},
	{0xf0, 0xf0, 0x90, 0xbf, 4},
	{0xf1, 0xf3, 0x80, 0xbf, 4},
	{0xf4, 0xf4, 0x80, 0x8f, 4},
};

static bool utf8_tail_holds(const uint8_t *at, uint32_t bytes, uint8_t least, uint8_t most)
{
	if (bytes > 1 && (at[1] < least || at[1] > most))
		return false;
	for (uint32_t i = 2; i < bytes; i++)
		if (at[i] < 0x80 || at[i] > 0xbf)
			return false;
	return true;
}

uint32_t text_utf8_bytes(struct text t)
{
	const uint8_t *at = (const uint8_t *)t.data;
	for (uint32_t i = 0; t.size && i < sizeof utf8_forms / sizeof utf8_forms[0]; i++) {
		if (at[0] < utf8_forms[i].first_least || at[0] > utf8_forms[i].first_most)
			continue;
		uint32_t bytes = utf8_forms[i].bytes;
		if (bytes > t.size)
			return 0;
		return utf8_tail_holds(
			       at, bytes, utf8_forms[i].second_least, utf8_forms[i].second_most)
			       ? bytes
			       : 0;
	}
	return 0;
}

// C0, DEL and C1 (which UTF-8 writes as 0xc2 0x80..0x9f).
static bool is_control(const uint8_t *at, uint32_t bytes)
{
	return bytes == 1 ? at[0] < 0x20 || at[0] == 0x7f
			  : bytes == 2 && at[0] == 0xc2 && at[1] < 0xa0;
}

static bool is_plain(uint8_t byte)
{
	return byte >= 0x20 && byte < 0x7f;
}

// Whether all eight bytes are. A byte that is not leaves a high bit behind, and nothing else does: only a byte below
// 0x20 borrows from its neighbour, and without high bits nothing is carried.
static bool is_plain_word(const char *at)
{
	const uint64_t each = 0x0101010101010101u;
	uint64_t word;

	memcpy(&word, at, sizeof word);
	return (((word - 0x20 * each) | (word + each) | word) & 0x80 * each) == 0;
}

// Nearly every text is plain, and a node brings a hundred of them.
static bool is_plain_text(struct text t)
{
	uint32_t at = 0;

	if (t.size < 8) {
		while (at < t.size && is_plain((uint8_t)t.data[at]))
			at++;
		return at == t.size;
	}
	while (t.size - at > 8 && is_plain_word(t.data + at))
		at += 8;
	return t.size - at <= 8 && is_plain_word(t.data + t.size - 8);
}

static void skip_plain(struct text *t)
{
	while (t->size && is_plain((uint8_t)*t->data)) {
		t->data++;
		t->size--;
	}
}

bool text_is_printable(struct text t)
{
	if (is_plain_text(t))
		return true;
	for (skip_plain(&t); t.size; skip_plain(&t)) {
		uint32_t bytes = text_utf8_bytes(t);
		if (!bytes || is_control((const uint8_t *)t.data, bytes))
			return false;
		t.data += bytes;
		t.size -= bytes;
	}
	return true;
}

bool text_is_name(const char *string)
{
	struct text t = text_of(string);
	return t.size > 0 && t.size <= STORED_NAME_BYTES_MAX && text_is_printable(t);
}

bool text_is_job_id(const char *string)
{
	struct text t = text_of(string);
	if (t.size == 0 || t.size > STORED_NAME_BYTES_MAX)
		return false;
	for (uint32_t bytes; t.size; t.data += bytes, t.size -= bytes) {
		bytes = text_utf8_bytes(t);
		if (!bytes)
			return false;
	}
	return true;
}

static bool is_letter_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool text_is_word(struct text t, const char *more)
{
	for (uint32_t i = 0; i < t.size; i++)
		if (!is_letter_or_digit(t.data[i]) && !memchr(more, t.data[i], strlen(more)))
			return false;
	return true;
}

bool text_is_ip_address(struct text t)
{
	char copy[INET6_ADDRSTRLEN];
	struct in6_addr address;

	if (t.size >= sizeof copy)
		return false;
	memcpy(copy, t.data, t.size);
	copy[t.size] = '\0';
	return strlen(copy) == t.size && (inet_pton(AF_INET, copy, &address) == 1 ||
						 inet_pton(AF_INET6, copy, &address) == 1);
}

void text_make_printable(char *string)
{
	while (*string) {
		uint32_t bytes = text_utf8_bytes(text_of(string));
		if (bytes && !is_control((const uint8_t *)string, bytes)) {
			string += bytes;
			continue;
		}
		for (uint32_t i = 0; i < (bytes ? bytes : 1); i++)
			*string++ = '?';
	}
}

bool glob_matches(const char *pattern, const char *text)
{
	const char *star = NULL, *resume = NULL;
	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			resume = text;
		} else if (*pattern == *text) {
			pattern++;
			text++;
		} else if (star) { // let the last star take one more
			pattern = star + 1;
			text = ++resume;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == 0;
}
