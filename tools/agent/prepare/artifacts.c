#include "tools/agent/prepare/artifacts.h"
#include "state/base/bytes.h"
#include "state/base/memory.h"
#include "tools/agent/prepare/inner_path.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_URL, TEXT_ARCHIVE, TEXT_FILE_NAME, TEXT_CHECKSUM };

uint32_t artifact_count(const struct task_spec *spec)
{
	return (uint32_t)json_array_size(json_object_get(spec->json, "Artifacts"));
}

static void put_escaped(struct bytes_writer *w, const char *text)
{
	static const char digits[] = "0123456789ABCDEF";
	for (; *text; text++) {
		uint8_t c = (uint8_t)*text;
		if (isalnum(c) || strchr("-_.~", c)) {
			bytes_put_u8(w, c);
			continue;
		}
		bytes_put_u8(w, '%');
		bytes_put_u8(w, (uint8_t)digits[c >> 4]);
		bytes_put_u8(w, (uint8_t)digits[c & 15]);
	}
}

static void put_parameter(struct bytes_writer *w, bool *has_query, const char *text, size_t size)
{
	bytes_put_u8(w, *has_query ? '&' : '?');
	bytes_put(w, text, size);
	*has_query = true;
}

// Options that are not for the server; they may stand in the URL's query, too.
static int own_option(const char *name, size_t size)
{
	static const char *const names[] = {NULL, "archive", "filename", "checksum"};
	for (int i = TEXT_ARCHIVE; i <= TEXT_CHECKSUM; i++)
		if (strlen(names[i]) == size && memcmp(names[i], name, size) == 0)
			return i;
	return -1;
}

static char *unescape(const char *text, size_t size)
{
	struct bytes_writer w = bytes_writer_growing(size + 1);
	for (size_t i = 0; i < size; i++) {
		unsigned value;
		if (text[i] == '%' && i + 2 < size && isxdigit((unsigned char)text[i + 1]) &&
			sscanf(text + i + 1, "%2x", &value) == 1) {
			bytes_put_u8(&w, (uint8_t)value);
			i += 2;
		} else {
			bytes_put_u8(&w, (uint8_t)text[i]);
		}
	}
	bytes_put_u8(&w, 0);
	return (char *)w.data;
}

// Takes the options out of the URL's query; what stays goes to the server.
static void split_query(struct artifact *a, struct bytes_writer *url, bool *has_query)
{
	char *query = strchr(a->source, '?');

	bytes_put(url, a->source, query ? (size_t)(query - a->source) : strlen(a->source));
	while (query && *query) {
		char *begin = query + 1;
		size_t size = strcspn(begin, "&"), name = strcspn(begin, "=&");
		int own = own_option(begin, name);
		if (own >= 0 && name < size) {
			free(a->texts[own]);
			a->texts[own] = unescape(begin + name + 1, size - name - 1);
		} else if (size > 0) {
			put_parameter(url, has_query, begin, size);
		}
		query = begin[size] ? begin + size : NULL;
	}
}

struct expansion {
	const struct environment *environment;
	const struct node_facts *node;
};

static void add_options(struct artifact *a, const json_t *options, const struct expansion *x,
	struct bytes_writer *url, bool *has_query)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)options, name, value)
	{
		const char *text = json_string_value(value);
		char *expanded = environment_expand(x->environment, x->node, text ? text : "");
		int own = own_option(name, strlen(name));
		if (own >= 0 && expanded) {
			free(a->texts[own]);
			a->texts[own] = expanded;
			continue;
		}
		put_parameter(url, has_query, "", 0);
		put_escaped(url, name);
		bytes_put_u8(url, '=');
		put_escaped(url, expanded ? expanded : "");
		free(expanded);
	}
}

static void read_headers(struct artifact *a, const json_t *headers, const struct expansion *x)
{
	const char *name;
	json_t *value;

	a->headers = json_object();
	json_object_foreach((json_t *)headers, name, value)
	{
		const char *text = json_string_value(value);
		char *expanded = environment_expand(x->environment, x->node, text ? text : "");
		json_object_set_new(a->headers, name, json_string(expanded ? expanded : ""));
		free(expanded);
	}
}

// Of a checksum without its type, the type is known by its size.
static void name_checksum(struct artifact *a)
{
	static const struct {
		size_t size;
		const char *name;
	} types[] = {{32, "md5"}, {40, "sha1"}, {64, "sha256"}, {128, "sha512"}};
	char *given = a->texts[TEXT_CHECKSUM];

	if (!given || strchr(given, ':'))
		return;
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (strlen(given) == types[i].size) {
			struct bytes_writer w = bytes_writer_growing(160);
			bytes_put(&w, types[i].name, strlen(types[i].name));
			bytes_put_u8(&w, ':');
			bytes_put(&w, given, types[i].size + 1);
			a->texts[TEXT_CHECKSUM] = (char *)w.data;
			free(given);
			return;
		}
}

static enum fetch_mode mode_of(const json_t *json)
{
	const char *mode = spec_text(json, "GetterMode");
	return strcmp(mode, "file") == 0  ? FETCH_FILE
	       : strcmp(mode, "dir") == 0 ? FETCH_DIR
					  : FETCH_ANY;
}

static bool read_place(struct artifact *a, const json_t *json, const struct expansion *x,
	const struct task_spec *spec, const struct task_folders *folders, char *message,
	uint32_t message_size)
{
	const char *said = spec_text(json, "RelativeDest");
	char *place = environment_expand(x->environment, x->node, *said ? said : "local/");
	bool good = place && inner_path(folders, spec->name, place, a->destination);

	if (!good)
		snprintf(message, message_size, "destination escapes allocation directory");
	free(place);
	return good;
}

bool artifact_read(struct artifact *a, uint32_t number, const struct task_spec *spec,
	const struct environment *e, const struct node_facts *node,
	const struct task_folders *folders, const struct artifact_limits *limits, char *message,
	uint32_t message_size)
{
	const json_t *json = json_array_get(json_object_get(spec->json, "Artifacts"), number);
	const struct expansion x = {e, node};
	struct bytes_writer url = bytes_writer_growing(256);
	bool has_query = false;

	*a = (struct artifact){
		.source = environment_expand(e, node, spec_text(json, "GetterSource"))};
	if (!a->source) {
		bytes_writer_free(&url);
		snprintf(message, message_size, "the source expands to too long a text");
		return false;
	}
	split_query(a, &url, &has_query);
	add_options(a, json_object_get(json, "GetterOptions"), &x, &url, &has_query);
	bytes_put_u8(&url, 0);
	a->texts[TEXT_URL] = (char *)url.data;
	read_headers(a, json_object_get(json, "GetterHeaders"), &x);
	name_checksum(a);
	if (!read_place(a, json, &x, spec, folders, message, message_size))
		return false;
	for (int i = 0; i < 4; i++)
		a->texts[i] = a->texts[i] ? a->texts[i] : text_copy(TEXT(""));
	a->request = (struct fetch_request){.url = a->texts[TEXT_URL],
		.destination = a->destination,
		.archive = a->texts[TEXT_ARCHIVE],
		.file_name = a->texts[TEXT_FILE_NAME],
		.checksum = a->texts[TEXT_CHECKSUM],
		.headers = a->headers,
		.mode = mode_of(json),
		.bytes_max = limits->bytes_max,
		.files_max = limits->files_max,
		.timeout_s = limits->timeout_s};
	return true;
}

void artifact_free(struct artifact *a)
{
	free(a->source);
	for (int i = 0; i < 4; i++)
		free(a->texts[i]);
	json_decref(a->headers);
	*a = (struct artifact){0};
}
