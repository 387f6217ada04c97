#include "tools/forms/node_pool_json.h"
#include "state/base/check.h"
#include "tools/json/json_record.h"
#include <sodium.h>
#include <string.h>

#define HASH_BYTES 32u
#define HASH_TEXT_BYTES 64u

static void hash_add(crypto_generichash_state *hash, const char *text)
{
	struct text bytes = text_of(text);
	CHECK(crypto_generichash_update(hash, (const uint8_t *)bytes.data, bytes.size) == 0);
}

static void hash_add_scheduler(
	crypto_generichash_state *hash, const struct node_pool_scheduler *scheduler)
{
	if (!scheduler)
		return;
	if (scheduler->algorithm)
		hash_add(hash, scheduler_algorithm_names[scheduler->algorithm - 1]);
	if (scheduler->memory_oversubscription.set)
		hash_add(hash, scheduler->memory_oversubscription.value
				       ? "memory_oversubscription_enabled"
				       : "memory_oversubscription_disabled");
}

// Nomad compares pools of two regions by this: BLAKE2b of the texts that an operator set.
static void put_hash(struct json_writer *w, const struct node_pool *pool)
{
	crypto_generichash_state hash;
	uint8_t sum[HASH_BYTES];
	char text[HASH_TEXT_BYTES];
	CHECK(crypto_generichash_init(&hash, NULL, 0, sizeof sum) == 0);
	hash_add(&hash, pool->name);
	hash_add(&hash, pool->description);
	hash_add_scheduler(&hash, pool->scheduler);
	for (uint32_t i = 0; i < pool->meta.count; i++) {
		const struct string_pair *pair = ARRAY_AT(&pool->meta, struct string_pair, i);
		hash_add(&hash, pair->name);
		hash_add(&hash, pair->value);
	}
	CHECK(crypto_generichash_final(&hash, sum, sizeof sum) == 0);
	json_put_string(w, "Hash",
		sodium_bin2base64(
			text, sizeof text, sum, sizeof sum, sodium_base64_VARIANT_ORIGINAL));
}

void node_pool_json(struct json_writer *w, const struct node_pool *pool)
{
	json_begin_object(w);
	json_record_members(w, &node_pool_description, pool, 0);
	put_hash(w, pool);
	json_end_object(w);
}

static const char *description_of(const char *name)
{
	if (strcmp(name, NODE_POOL_ALL) == 0)
		return "Node pool with all nodes in the cluster.";
	return strcmp(name, NODE_POOL_DEFAULT) == 0 ? "Default node pool." : "";
}

void node_pool_json_undescribed(struct json_writer *w, const char *name)
{
	json_begin_object(w);
	json_put_string(w, "Name", name);
	json_put_string(w, "Description", description_of(name));
	json_put_null(w, "Meta");
	json_put_null(w, "SchedulerConfiguration");
	json_put_null(w, "Hash");
	json_put_u64(w, "CreateIndex", 1);
	json_put_u64(w, "ModifyIndex", 1);
	json_end_object(w);
}
