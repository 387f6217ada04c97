#include "tools/agent/prepare/env_file.h"
#include "state/base/bytes.h"
#include "state/base/memory.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static struct text trimmed(struct text t)
{
	for (; t.size && isspace((unsigned char)t.data[0]); t.data++, t.size--)
		;
	for (; t.size && isspace((unsigned char)t.data[t.size - 1]); t.size--)
		;
	return t;
}

static bool is_key(struct text key)
{
	for (uint32_t i = 0; i < key.size; i++)
		if (!(isalpha((unsigned char)key.data[i]) || key.data[i] == '_' ||
			    (i > 0 && isdigit((unsigned char)key.data[i]))))
			return false;
	return key.size > 0 && key.size < 256;
}

// What stands between double quotes. False: they are not closed.
static bool put_quoted_value(struct bytes_writer *w, struct text t)
{
	static const char letters[] = "nrt", meant[] = "\n\r\t";

	for (uint32_t i = 1; i < t.size; i++) {
		char c = t.data[i];
		if (c == '"')
			return true;
		if (c == '\\' && i + 1 < t.size) {
			c = t.data[++i];
			const char *known = c ? strchr(letters, c) : NULL;
			c = known ? meant[known - letters] : c;
		}
		bytes_put_u8(w, (uint8_t)c);
	}
	return false;
}

static bool put_env_value(struct bytes_writer *w, struct text t)
{
	const char *close;

	if (t.size && t.data[0] == '"')
		return put_quoted_value(w, t);
	if (t.size && t.data[0] == '\'') {
		close = memchr(t.data + 1, '\'', t.size - 1);
		if (close)
			bytes_put(w, t.data + 1, (size_t)(close - t.data - 1));
		return close;
	}
	for (uint32_t i = 0; i < t.size; i++)
		if (t.data[i] == '#' && (i == 0 || isspace((unsigned char)t.data[i - 1])))
			t = trimmed((struct text){t.data, i});
	bytes_put(w, t.data, t.size);
	return true;
}

static bool add_line(struct env_list *list, struct text line)
{
	const char *equals = line.size ? memchr(line.data, '=', line.size) : NULL;
	struct bytes_writer w = bytes_writer_growing(64);
	struct text key = line;
	bool good = false;

	if (equals) {
		uint32_t size = (uint32_t)(equals - line.data);
		key = trimmed((struct text){line.data, size});
		if (key.size > 7 && memcmp(key.data, "export ", 7) == 0)
			key = trimmed((struct text){key.data + 7, key.size - 7});
		bytes_put(&w, key.data, key.size);
		bytes_put_u8(&w, '=');
		good = is_key(key) &&
		       put_env_value(
			       &w, trimmed((struct text){equals + 1, line.size - size - 1})) &&
		       !memchr(w.data, 0, w.size) && list->count < ENV_LIST_MAX;
	}
	if (good) {
		bytes_put_u8(&w, 0);
		list->entries =
			memory_resize(list->entries, (list->count + 2) * sizeof list->entries[0]);
		list->entries[list->count++] = (char *)w.data;
		list->entries[list->count] = NULL;
		return true;
	}
	bytes_writer_free(&w);
	return false;
}

bool env_list_add(struct env_list *list, struct text text, char *message, uint32_t message_size)
{
	for (uint32_t number = 1; text.size; number++) {
		const char *end = memchr(text.data, '\n', text.size);
		uint32_t size = end ? (uint32_t)(end - text.data) : text.size;
		struct text line = trimmed((struct text){text.data, size});
		text = (struct text){text.data + size + !!end, text.size - size - !!end};
		if (line.size == 0 || line.data[0] == '#' || add_line(list, line))
			continue;
		snprintf(message, message_size, "line %u is not KEY=value", number);
		return false;
	}
	return true;
}

void env_list_free(struct env_list *list)
{
	for (uint32_t i = 0; i < list->count; i++)
		free(list->entries[i]);
	free(list->entries);
	*list = (struct env_list){0};
}
