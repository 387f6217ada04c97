// A slice of characters that it does not own; not NUL-terminated.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct text {
	const char *data;
	uint32_t size;
};

#define TEXT(literal) ((struct text){(literal), sizeof(literal) - 1})

static inline struct text text_of(const char *string)
{
	return (struct text){string, string ? (uint32_t)strlen(string) : 0};
}

static inline bool text_equal(struct text a, struct text b)
{
	return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

// A new NUL-terminated copy; the caller frees. Aborts the process when memory is exhausted.
char *text_copy(struct text);
// True when every byte is part of well-formed UTF-8 and none is a control character.
bool text_is_printable(struct text);
// Whether it may name a record: printable, not empty, at most STORED_NAME_BYTES_MAX bytes.
bool text_is_name(const char *string);
// Whether it may be the id of a job: as a name, but with any character that clients may send, line breaks included.
bool text_is_job_id(const char *string);
// Whether it has nothing but ASCII letters, digits and characters of `more`; none at all is fine.
bool text_is_word(struct text, const char *more);
// Whether it is an IPv4 or IPv6 address, and nothing else.
bool text_is_ip_address(struct text);
// Replaces each byte that is not printable text with a question mark.
void text_make_printable(char *string);
// Bytes of the well-formed UTF-8 sequence that t begins with; 0 when there is none.
uint32_t text_utf8_bytes(struct text t);
// "dc*-east": '*' stands for any characters, none included.
bool glob_matches(const char *pattern, const char *text);
