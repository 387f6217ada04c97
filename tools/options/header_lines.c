#include "tools/options/header_lines.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

// What is said of the connection, of the body or of the API, by the server itself. One that ends with a dash stands
// for all that begin so.
static const struct {
	const char *name, *hint;
} said_by_server[] = {
	{"Access-Control-", "; http.origins names sites that may read"},
	{"Connection", ""},
	{"Content-Encoding", ""},
	{"Content-Length", ""},
	{"Content-Range", ""},
	{"Content-Type", ""},
	{"Date", ""},
	{"Digest", ""},
	{"ETag", ""},
	{"Keep-Alive", ""},
	{"Location", ""},
	{"Proxy-", ""},
	{"Retry-After", ""},
	{"Sec-WebSocket-", ""},
	{"TE", ""},
	{"Trailer", ""},
	{"Transfer-Encoding", ""},
	{"Upgrade", ""},
	{"Vary", ""},
	{"X-Berth-", ""},
	{"X-Nomad-", ""},
};

static struct text without_blanks(struct text text)
{
	while (text.size && (*text.data == ' ' || *text.data == '\t'))
		text = (struct text){text.data + 1, text.size - 1};
	while (text.size && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\t'))
		text.size--;
	return text;
}

static struct text next_line(struct text *lines)
{
	const char *end = memchr(lines->data, '\n', lines->size);
	struct text line = {lines->data, end ? (uint32_t)(end - lines->data) : lines->size};
	uint32_t taken = line.size + (end != NULL);
	*lines = (struct text){lines->data + taken, lines->size - taken};
	return without_blanks(line);
}

bool header_lines_next(struct text *lines, struct text *name, struct text *value)
{
	while (lines->size) {
		struct text line = next_line(lines);
		if (!line.size)
			continue;
		const char *colon = memchr(line.data, ':', line.size);
		uint32_t size = colon ? (uint32_t)(colon - line.data) : line.size;
		uint32_t rest = colon ? size + 1 : size;
		*name = (struct text){line.data, size};
		*value = without_blanks((struct text){line.data + rest, line.size - rest});
		return true;
	}
	return false;
}

static bool is_token(struct text text)
{
	return text.size > 0 && text_is_word(text, "!#$%&'*+-.^_`|~");
}

// Tabs, which the grammar has, are not sent by what sends the answers.
static bool is_value(struct text text)
{
	for (uint32_t i = 0; i < text.size; i++)
		if ((unsigned char)text.data[i] < 0x20 || text.data[i] == 0x7f)
			return false;
	return text.size > 0;
}

// NULL: not by the server.
static const char *hint_of_server(struct text name)
{
	for (size_t i = 0; i < sizeof said_by_server / sizeof said_by_server[0]; i++) {
		const char *said = said_by_server[i].name;
		size_t size = strlen(said);
		bool begins = name.size >= size && strncasecmp(said, name.data, size) == 0;
		if (begins && (name.size == size || said[size - 1] == '-'))
			return said_by_server[i].hint;
	}
	return NULL;
}

static bool is_there_again(struct text rest, struct text wanted)
{
	struct text name, value;
	while (header_lines_next(&rest, &name, &value))
		if (name.size == wanted.size &&
			strncasecmp(name.data, wanted.data, wanted.size) == 0)
			return true;
	return false;
}

static bool refuse_header(char *message, size_t size, struct text name, const char *what)
{
	snprintf(message, size, "\"%.*s\" %s", name.size < 60 ? (int)name.size : 60, name.data,
		what);
	return false;
}

static bool header_is_sound(
	struct text name, struct text value, struct text rest, char *message, size_t size)
{
	char what[100];
	const char *hint = hint_of_server(name);
	if (!is_token(name))
		return refuse_header(message, size, name, "is no name of a header");
	if (!is_value(value))
		return refuse_header(message, size, name,
			"has no value, or one with characters that no header has; write NAME: "
			"VALUE");
	if (hint) {
		snprintf(what, sizeof what, "is said by the server itself%s", hint);
		return refuse_header(message, size, name, what);
	}
	return !is_there_again(rest, name) ||
	       refuse_header(message, size, name, "is there more than once");
}

bool header_lines_are_sound(const char *lines, char *message, size_t size)
{
	struct text left = text_of(lines), name, value;
	uint32_t count = 0;
	while (header_lines_next(&left, &name, &value)) {
		if (!header_is_sound(name, value, left, message, size))
			return false;
		if (++count > HEADER_LINES_MAX) {
			snprintf(message, size, "has more than %u headers", HEADER_LINES_MAX);
			return false;
		}
	}
	return true;
}
