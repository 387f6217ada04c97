#include "tools/api/nomad/namespaces/namespace_json.h"
#include "state/base/check.h"
#include "tools/json/json_record.h"
#include <sodium.h>

#define HASH_BYTES 32u
#define HASH_TEXT_BYTES 64u
#define BUILT_IN_INDEX 1u

static void hash_add(crypto_generichash_state *hash, const char *text)
{
	struct text bytes = text_of(text);
	CHECK(crypto_generichash_update(hash, (const uint8_t *)bytes.data, bytes.size) == 0);
}

static void hash_add_all(crypto_generichash_state *hash, const struct array *names)
{
	for (uint32_t i = 0; i < names->count; i++)
		hash_add(hash, *ARRAY_AT(names, char *, i));
}

// Nomad compares namespaces of two regions by this: BLAKE2b of the texts that an operator set.
static void put_hash(struct json_writer *w, const struct job_namespace *n)
{
	crypto_generichash_state hash;
	uint8_t sum[HASH_BYTES];
	char text[HASH_TEXT_BYTES];
	CHECK(crypto_generichash_init(&hash, NULL, 0, sizeof sum) == 0);
	hash_add(&hash, n->name);
	hash_add(&hash, n->description);
	hash_add(&hash, n->quota);
	if (n->capabilities) {
		hash_add_all(&hash, &n->capabilities->enabled_drivers);
		hash_add_all(&hash, &n->capabilities->disabled_drivers);
	}
	for (uint32_t i = 0; i < n->meta.count; i++) {
		const struct string_pair *pair = ARRAY_AT(&n->meta, struct string_pair, i);
		hash_add(&hash, pair->name);
		hash_add(&hash, pair->value);
	}
	CHECK(crypto_generichash_final(&hash, sum, sizeof sum) == 0);
	json_put_string(w, "Hash",
		sodium_bin2base64(
			text, sizeof text, sum, sizeof sum, sodium_base64_VARIANT_ORIGINAL));
}

void namespace_json(struct json_writer *w, const struct job_namespace *n)
{
	json_begin_object(w);
	json_record_members(w, &job_namespace_description, n, 0);
	put_hash(w, n);
	json_put_null(w, "NodePoolConfiguration");
	json_end_object(w);
}

void namespace_json_built_in(struct json_writer *w)
{
	char name[] = NAMESPACE_DEFAULT, description[] = "Default shared namespace", none[] = "";
	struct job_namespace built_in = {
		.record = {.create_index = BUILT_IN_INDEX, .modify_index = BUILT_IN_INDEX},
		.name = name,
		.description = description,
		.quota = none};
	namespace_json(w, &built_in);
}
