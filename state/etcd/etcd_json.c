#include "state/etcd/etcd_json.h"
#include "state/base/base64.h"
#include "state/base/check.h"
#include <inttypes.h>
#include <stdio.h>

// etcd's answers are six deep.
#define DEPTH_MAX 32u

void etcd_json_put_bytes(struct bytes_writer *w, const void *bytes, size_t size)
{
	size_t characters = BASE64_ENCODED(size), at = w->size + 1;
	bytes_put_zeros(w, characters + 2);
	if (w->failed)
		return;
	w->data[at - 1] = '"';
	base64_write((char *)w->data + at, bytes, size);
	w->data[at + characters] = '"';
}

void etcd_json_put_key(struct bytes_writer *w, const char *key)
{
	etcd_json_put_bytes(w, key, strlen(key));
}

void etcd_json_put_u64(struct bytes_writer *w, uint64_t number)
{
	char text[32];
	int size = snprintf(text, sizeof text, "\"%" PRIu64 "\"", number);
	bytes_put(w, text, (size_t)size);
}

struct etcd_json etcd_json_over(void *text, size_t size)
{
	return (struct etcd_json){.at = text, .end = (char *)text + size};
}

// The next character that is no blank, or 0.
static char json_peek(struct etcd_json *j)
{
	while (j->at < j->end &&
		(*j->at == ' ' || *j->at == '\n' || *j->at == '\t' || *j->at == '\r'))
		j->at++;
	if (j->failed || j->at == j->end)
		return 0;
	return *j->at;
}

static bool json_fail(struct etcd_json *j)
{
	j->failed = true;
	return false;
}

static bool json_expect(struct etcd_json *j, char c)
{
	if (json_peek(j) != c)
		return json_fail(j);
	j->at++;
	return true;
}

void etcd_json_enter(struct etcd_json *j, char open)
{
	CHECK(open == '{' || open == '[');
	if (j->depth == DEPTH_MAX)
		json_fail(j);
	if (!json_expect(j, open))
		return;
	j->depth++;
	j->is_first = true;
}

// Whether something comes before `close`; behind the first there is a comma.
static bool json_next(struct etcd_json *j, char close)
{
	bool is_first = j->is_first;
	j->is_first = false;
	if (json_peek(j) == close) {
		CHECK(j->depth > 0);
		j->at++;
		j->depth--;
		return false;
	}
	if (!is_first && !json_expect(j, ','))
		return false;
	return json_peek(j) != 0 || json_fail(j);
}

bool etcd_json_member(struct etcd_json *j, struct text *name)
{
	*name = TEXT("");
	if (!json_next(j, '}'))
		return false;
	*name = etcd_json_text(j);
	return json_expect(j, ':');
}

bool etcd_json_element(struct etcd_json *j)
{
	return json_next(j, ']');
}

// Whether the quote is part of the text: an odd number of backslashes stands before it.
static bool quote_is_escaped(const char *begin, const char *quote)
{
	const char *before = quote;
	while (before > begin && before[-1] == '\\')
		before--;
	return (quote - before) % 2 == 1;
}

struct text etcd_json_text(struct etcd_json *j)
{
	if (!json_expect(j, '"'))
		return TEXT("");
	char *begin = j->at, *quote = begin;
	while ((quote = memchr(quote, '"', (size_t)(j->end - quote))) &&
		quote_is_escaped(begin, quote))
		quote++;
	if (!quote || quote - begin > UINT32_MAX) {
		json_fail(j);
		return TEXT("");
	}
	j->at = quote + 1;
	return (struct text){begin, (uint32_t)(quote - begin)};
}

// A number, true, false or null, as it stands.
static struct text json_word(struct etcd_json *j)
{
	json_peek(j);
	char *begin = j->at;
	while (!j->failed && j->at < j->end &&
		((*j->at >= '0' && *j->at <= '9') || (*j->at >= 'a' && *j->at <= 'z') ||
			*j->at == '-' || *j->at == '+' || *j->at == '.' || *j->at == 'E'))
		j->at++;
	if (j->at == begin)
		json_fail(j);
	return (struct text){begin, (uint32_t)(j->at - begin)};
}

static uint64_t digits_read(struct etcd_json *j, struct text text)
{
	uint64_t number = 0;
	for (uint32_t i = 0; i < text.size; i++) {
		uint64_t digit = (uint64_t)(uint8_t)text.data[i] - '0';
		if (digit > 9 || __builtin_mul_overflow(number, 10, &number) ||
			__builtin_add_overflow(number, digit, &number)) {
			json_fail(j);
			return 0;
		}
	}
	if (text.size == 0)
		json_fail(j);
	return number;
}

uint64_t etcd_json_u64(struct etcd_json *j)
{
	struct text text = json_peek(j) == '"' ? etcd_json_text(j) : json_word(j);
	return digits_read(j, text);
}

int64_t etcd_json_i64(struct etcd_json *j)
{
	struct text text = json_peek(j) == '"' ? etcd_json_text(j) : json_word(j);
	bool is_negative = text.size > 0 && text.data[0] == '-';
	if (is_negative)
		text = (struct text){text.data + 1, text.size - 1};
	uint64_t number = digits_read(j, text);
	if (number > INT64_MAX) {
		json_fail(j);
		return 0;
	}
	return is_negative ? -(int64_t)number : (int64_t)number;
}

bool etcd_json_bool(struct etcd_json *j)
{
	struct text word = json_word(j);
	bool is_true = text_equal(word, TEXT("true"));
	if (!is_true && !text_equal(word, TEXT("false")))
		json_fail(j);
	return is_true;
}

void *etcd_json_bytes(struct etcd_json *j, uint32_t *size)
{
	struct text text = etcd_json_text(j);
	static char nothing[1];
	size_t decoded = 0;
	*size = 0;
	if (j->failed)
		return nothing;
	// Within what was read, whose closing quote leaves room for the NUL.
	char *bytes = j->at - 1 - text.size;
	if (!base64_decode(text.data, text.size, (uint8_t *)bytes, &decoded)) {
		json_fail(j);
		return nothing;
	}
	bytes[decoded] = 0;
	*size = (uint32_t)decoded;
	return bytes;
}

void etcd_json_skip(struct etcd_json *j)
{
	struct text name;
	switch (json_peek(j)) {
	case '"': etcd_json_text(j); return;
	case '{':
		etcd_json_enter(j, '{');
		while (etcd_json_member(j, &name))
			etcd_json_skip(j);
		return;
	case '[':
		etcd_json_enter(j, '[');
		while (etcd_json_element(j))
			etcd_json_skip(j);
		return;
	default: json_word(j);
	}
}

bool etcd_json_is(struct text name, const char *literal)
{
	return text_equal(name, text_of(literal));
}
