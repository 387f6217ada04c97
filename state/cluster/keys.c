#include "state/cluster/keys.h"
#include "state/base/check.h"
#include "state/base/text.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_CHARACTERS_MAX 63u
// The character after the slash: a key of a folder with it in the slash's place follows all keys in the folder.
#define AFTER_SLASH '0'

bool cluster_name_is_fit(const char *name)
{
	struct text text = text_of(name);
	return text.size > 0 && text.size <= NAME_CHARACTERS_MAX && text_is_word(text, "-_.");
}

struct cluster_key cluster_key(const char *name, const char *what)
{
	struct cluster_key key;
	int size = snprintf(key.text, sizeof key.text, "/berth/%s/%s", name, what);

	CHECK(size > 0 && (size_t)size < sizeof key.text);
	return key;
}

struct cluster_key cluster_key_of(const char *name, const char *folder, const char *id)
{
	char what[CLUSTER_KEY_BYTES / 2];
	int size = snprintf(what, sizeof what, "%s/%s", folder, id);

	CHECK(size > 0 && (size_t)size < sizeof what);
	return cluster_key(name, what);
}

struct cluster_key cluster_log_key(const char *name, uint64_t first_index, uint32_t piece)
{
	char id[32];

	snprintf(id, sizeof id, "%016" PRIx64 ".%04x", first_index, piece);
	return cluster_key_of(name, "log", id);
}

struct cluster_key cluster_folder_end(const char *name, const char *folder)
{
	struct cluster_key key = cluster_key(name, folder);
	size_t size = strlen(key.text);

	if (key.text[size - 1] == '/')
		size--;
	CHECK(size + 1 < sizeof key.text);
	key.text[size] = AFTER_SLASH;
	key.text[size + 1] = '\0';
	return key;
}

const char *cluster_key_last(const char *key)
{
	const char *slash = strrchr(key, '/');
	return slash ? slash + 1 : key;
}

static bool read_hex(const char *digits, size_t count, uint64_t *number)
{
	*number = 0;
	for (size_t i = 0; i < count; i++) {
		const char *found = digits[i] ? strchr("0123456789abcdef", digits[i]) : NULL;
		if (!found)
			return false;
		*number = *number << 4 | (uint64_t)(found - "0123456789abcdef");
	}
	return true;
}

bool cluster_log_key_read(const char *key, uint64_t *first_index, uint32_t *piece)
{
	const char *last = cluster_key_last(key);
	uint64_t number;

	if (strlen(last) != 21 || last[16] != '.' || !read_hex(last, 16, first_index) ||
		!read_hex(last + 17, 4, &number))
		return false;
	*piece = (uint32_t)number;
	return true;
}

bool cluster_number_read(const struct etcd_item *item, uint64_t *number)
{
	char digits[24];
	char *end;

	if (item->size == 0 || item->size >= sizeof digits)
		return false;
	memcpy(digits, item->value, item->size);
	digits[item->size] = '\0';
	*number = strtoull(digits, &end, 10);
	return digits[0] >= '0' && digits[0] <= '9' && *end == '\0';
}
