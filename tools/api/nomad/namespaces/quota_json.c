#include "tools/api/nomad/namespaces/quota_json.h"
#include "state/base/check.h"
#include "tools/json/json_record.h"
#include <sodium.h>
#include <stdio.h>

#define HASH_BYTES 32u
#define HASH_TEXT_BYTES 64u

static void hash_add(crypto_generichash_state *hash, const char *text)
{
	struct text bytes = text_of(text);
	CHECK(crypto_generichash_update(hash, (const uint8_t *)bytes.data, bytes.size) == 0);
}

static void hash_add_number(crypto_generichash_state *hash, int64_t number)
{
	char text[32];
	snprintf(text, sizeof text, ",%lld", (long long)number);
	hash_add(hash, text);
}

static void hash_add_limit(crypto_generichash_state *hash, const struct quota_limit *limit)
{
	const struct quota_resources *r = &limit->resources;
	hash_add(hash, limit->region);
	hash_add_number(hash, r->cpu_mhz);
	hash_add_number(hash, r->memory_mb);
	hash_add_number(hash, r->instances);
	for (uint32_t i = 0; i < r->devices.count; i++) {
		const struct quota_device *d = ARRAY_AT(&r->devices, struct quota_device, i);
		hash_add(hash, d->name);
		hash_add_number(hash, d->count);
	}
}

static const char *hash_end(crypto_generichash_state *hash, char text[static HASH_TEXT_BYTES])
{
	uint8_t sum[HASH_BYTES];
	CHECK(crypto_generichash_final(hash, sum, sizeof sum) == 0);
	return sodium_bin2base64(
		text, HASH_TEXT_BYTES, sum, sizeof sum, sodium_base64_VARIANT_ORIGINAL);
}

static void hash_begin(crypto_generichash_state *hash)
{
	CHECK(crypto_generichash_init(hash, NULL, 0, HASH_BYTES) == 0);
}

static const char *limit_hash(const struct quota_limit *limit, char text[static HASH_TEXT_BYTES])
{
	crypto_generichash_state hash;
	hash_begin(&hash);
	hash_add_limit(&hash, limit);
	return hash_end(&hash, text);
}

static void put_hash(struct json_writer *w, const struct quota *q)
{
	crypto_generichash_state hash;
	char text[HASH_TEXT_BYTES];
	hash_begin(&hash);
	hash_add(&hash, q->name);
	hash_add(&hash, q->description);
	for (uint32_t i = 0; i < q->limits.count; i++)
		hash_add_limit(&hash, ARRAY_AT(&q->limits, struct quota_limit, i));
	json_put_string(w, "Hash", hash_end(&hash, text));
}

static void put_device(struct json_writer *w, const char *name, int64_t count)
{
	json_begin_object(w);
	json_put_string(w, "Name", name);
	json_put_i64(w, "Count", count);
	json_end_object(w);
}

static void put_limit(struct json_writer *w, const struct quota_limit *limit)
{
	const struct quota_resources *r = &limit->resources;
	char text[HASH_TEXT_BYTES];
	json_begin_object(w);
	json_put_string(w, "Region", limit->region);
	json_open_object(w, "RegionLimit");
	json_put_i64(w, "CPU", r->cpu_mhz);
	json_put_i64(w, "MemoryMB", r->memory_mb);
	json_put_i64(w, "Instances", r->instances);
	if (json_open_array_if(w, "Devices", r->devices.count > 0)) {
		for (uint32_t i = 0; i < r->devices.count; i++) {
			const struct quota_device *d =
				ARRAY_AT(&r->devices, struct quota_device, i);
			put_device(w, d->name, d->count);
		}
		json_end_array(w);
	}
	json_end_object(w);
	json_put_string(w, "Hash", limit_hash(limit, text));
	json_end_object(w);
}

static void put_indexes(struct json_writer *w, const struct quota *q)
{
	json_put_u64(w, "CreateIndex", q->record.create_index);
	json_put_u64(w, "ModifyIndex", q->record.modify_index);
}

void quota_json(struct json_writer *w, const struct quota *q)
{
	json_begin_object(w);
	json_put_string(w, "Name", q->name);
	json_put_string(w, "Description", q->description);
	json_open_array(w, "Limits");
	for (uint32_t i = 0; i < q->limits.count; i++)
		put_limit(w, ARRAY_AT(&q->limits, struct quota_limit, i));
	json_end_array(w);
	put_hash(w, q);
	put_indexes(w, q);
	json_end_object(w);
}

static void put_used(
	struct json_writer *w, const struct quota_limit *limit, const struct quota_amount *used)
{
	const struct quota_resources *r = &limit->resources;
	char text[HASH_TEXT_BYTES];
	json_open_object(w, limit_hash(limit, text));
	json_put_string(w, "Region", limit->region);
	json_open_object(w, "RegionLimit");
	json_put_i64(w, "CPU", used->cpu_mhz);
	json_put_i64(w, "MemoryMB", used->memory_mb);
	json_put_i64(w, "Instances", used->instances);
	if (json_open_array_if(w, "Devices", r->devices.count > 0)) {
		for (uint32_t i = 0; i < r->devices.count; i++) {
			const char *name = ARRAY_AT(&r->devices, struct quota_device, i)->name;
			put_device(w, name, quota_amount_devices(used, name));
		}
		json_end_array(w);
	}
	json_end_object(w);
	json_put_string(w, "Hash", text);
	json_end_object(w);
}

void quota_usage_json(struct json_writer *w, const struct quota *q, const struct quota_amount *used)
{
	json_begin_object(w);
	json_put_string(w, "Name", q->name);
	json_open_object(w, "Used");
	for (uint32_t i = 0; i < q->limits.count; i++)
		put_used(w, ARRAY_AT(&q->limits, struct quota_limit, i), used);
	json_end_object(w);
	put_indexes(w, q);
	json_end_object(w);
}
