#include "tools/keyring/variable_items.h"
#include "state/base/schema_table.h"
#include "state/records/variable.h"
#include <stdlib.h>

static const struct field variable_items_fields[] = {
	{"Items", FIELD_MAP, OF(variable_items, items)},
};
DESCRIBE(variable_items_description, variable_items);

uint64_t variable_items_bytes(const struct variable_items *items)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < items->items.count; i++) {
		const struct string_pair *pair = ARRAY_AT(&items->items, struct string_pair, i);
		bytes += text_of(pair->name).size + text_of(pair->value).size;
	}
	return bytes;
}

static void wipe_text(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
}

void variable_items_release(struct variable_items *items)
{
	for (uint32_t i = 0; i < items->items.count; i++)
		wipe_text(ARRAY_AT(&items->items, struct string_pair, i)->value);
	record_release(&variable_items_description, items);
}

bool variable_seal(
	struct keyring *keyring, struct variable *variable, const struct variable_items *items)
{
	// So large that it does not grow, which would leave a copy behind.
	size_t room = variable_items_bytes(items) + 16 + 8 * (size_t)items->items.count;
	struct bytes_writer w = bytes_writer_growing(room);
	record_encode(&variable_items_description, items, &w);
	free(variable->sealed);
	variable->sealed =
		keyring_seal(keyring, text_of(variable->name), w.data, w.size, &variable->key);
	explicit_bzero(w.data, w.size);
	bytes_writer_free(&w);
	return variable->sealed != NULL;
}

enum keyring_verdict variable_unseal(
	struct keyring *keyring, const struct variable *variable, struct variable_items *items)
{
	uint8_t *plain;
	size_t size = 0;
	record_init(&variable_items_description, items);
	enum keyring_verdict verdict = keyring_unseal(
		keyring, text_of(variable->name), &variable->key, variable->sealed, &plain, &size);
	if (verdict != KEYRING_OPENED)
		return verdict;
	struct bytes_reader r = bytes_reader_over(plain, size);
	bool fine =
		record_decode(&variable_items_description, items, &r) == 0 && bytes_left(&r) == 0;
	explicit_bzero(plain, size);
	free(plain);
	// Only a newer program encrypts what this one cannot read.
	return fine ? KEYRING_OPENED : KEYRING_TAMPERED;
}
