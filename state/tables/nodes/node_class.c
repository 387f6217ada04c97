#include "state/tables/nodes/node_class.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/nodes/node_pairs.h"
#include "state/tables/class_table.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include <malloc.h>
#include <stdlib.h>
#include <urcu-qsbr.h>

#define BUCKETS_MIN 64u

void classes_init(struct class_table *t)
{
	*t = (struct class_table){.bucket_count = BUCKETS_MIN};
	t->buckets = memory_take_array(t->bucket_count, sizeof t->buckets[0]);
	CHECK((t->bucket_count & (t->bucket_count - 1)) == 0);
}

void classes_destroy(struct class_table *t)
{
	for (uint32_t i = 0; i < t->limit; i++)
		free(t->by_id[i]);
	free(t->by_id);
	free(t->free_ids);
	free(t->buckets);
}

static bool is_of_class(const struct node_pair *pair)
{
	if (pair->kind == PAIR_ATTRIBUTE || pair->kind == PAIR_META)
		return !attribute_is_unique(pair->name);
	return pair_kind_is_of_class(pair->kind);
}

static uint64_t hash_text(uint64_t hash, struct text text)
{
	return hash_bytes(hash, text.data, text.size);
}

uint64_t class_hash(const struct node_registration *from)
{
	uint64_t hash = hash_text(0, from->datacenter);

	hash = hash_text(hash, from->class_name);
	hash = hash_text(hash, from->pool);
	for (uint32_t i = 0; i < from->pair_count; i++) {
		const struct node_pair *pair = &from->pairs[i];
		if (!is_of_class(pair))
			continue;
		hash = hash_bytes(hash, &pair->kind, 1);
		hash = hash_text(hash, pair->name);
		hash = hash_text(hash, pair->value);
	}
	for (uint32_t i = 0; i < from->device_group_count; i++) {
		const struct node_device_group *group = &from->device_groups[i];
		hash = hash_text(hash, group->vendor);
		hash = hash_text(hash, group->type);
		hash = hash_text(hash, group->name);
		hash = hash_bytes(hash, &group->instances, 1);
	}
	return hash;
}

static bool is_next(const struct node_pair *pair, const struct attribute *attributes, uint32_t at,
	uint32_t count)
{
	return at < count && shared_string_is(attributes[at].name, pair->name) &&
	       shared_string_is(attributes[at].value, pair->value);
}

// No name of a class is unique, so a pair that has the next name is of the class.
static bool same_pairs(const struct node_registration *from, uint8_t kind,
	const struct attribute *attributes, uint32_t count)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < from->pair_count; i++) {
		const struct node_pair *pair = &from->pairs[i];
		if (pair->kind != kind)
			continue;
		if (is_next(pair, attributes, at, count))
			at++;
		else if (is_of_class(pair))
			return false;
	}
	return at == count;
}

// Finds the next attribute of the device group among the pairs from *at on, in the order of names.
static bool next_device_pair(const struct node_registration *from, uint32_t group, uint32_t *at,
	struct text *name, struct text *value)
{
	while (*at < from->pair_count) {
		const struct node_pair *pair = &from->pairs[(*at)++];
		*value = pair->value;
		if (pair->kind == PAIR_DEVICE && device_pair_group(from, pair, name) == (int)group)
			return true;
	}
	return false;
}

static bool same_device_attributes(
	const struct node_registration *from, uint32_t group, const struct device_group *to)
{
	struct text name, value;
	uint32_t at = 0, count = 0;

	while (next_device_pair(from, group, &at, &name, &value)) {
		if (count == to->attribute_count ||
			!shared_string_is(to->attributes[count].name, name) ||
			!shared_string_is(to->attributes[count].value, value))
			return false;
		count++;
	}
	return count == to->attribute_count;
}

static bool same_devices(const struct node_registration *from, const struct node_class *c)
{
	if (from->device_group_count != c->device_count)
		return false;
	for (uint32_t i = 0; i < c->device_count; i++) {
		const struct node_device_group *group = &from->device_groups[i];
		if (!shared_string_is(c->devices[i].vendor, group->vendor) ||
			!shared_string_is(c->devices[i].type, group->type) ||
			!shared_string_is(c->devices[i].name, group->name) ||
			group->instances != c->devices[i].instances ||
			!same_device_attributes(from, i, &c->devices[i]))
			return false;
	}
	return true;
}

static bool same_class(const struct node_registration *from, const struct node_class *c)
{
	return shared_string_is(c->datacenter, from->datacenter) &&
	       shared_string_is(c->class_name, from->class_name) &&
	       shared_string_is(c->pool, from->pool) &&
	       same_pairs(from, PAIR_ATTRIBUTE, c->attributes, c->attribute_count) &&
	       same_pairs(from, PAIR_META, c->meta, c->meta_count) &&
	       same_pairs(from, PAIR_DRIVER, c->drivers, c->driver_count) && same_devices(from, c);
}

static uint32_t share_pairs(struct strings *strings, const struct node_registration *from,
	uint8_t kind, struct attribute *to)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < from->pair_count; i++) {
		const struct node_pair *pair = &from->pairs[i];
		if (pair->kind != kind || !is_of_class(pair))
			continue;
		to[count].name = strings_share(strings, pair->name);
		to[count].value = strings_share(strings, pair->value);
		count++;
	}
	return count;
}

static uint32_t share_device_attributes(struct strings *strings,
	const struct node_registration *from, uint32_t group, struct attribute *to)
{
	struct text name, value;
	uint32_t at = 0, count = 0;

	while (next_device_pair(from, group, &at, &name, &value))
		to[count++] = (struct attribute){
			strings_share(strings, name), strings_share(strings, value)};
	return count;
}

static void share_devices(struct strings *strings, const struct node_registration *from,
	struct device_group *to, struct attribute *attributes)
{
	for (uint32_t i = 0; i < from->device_group_count; i++) {
		const struct node_device_group *group = &from->device_groups[i];
		to[i].vendor = strings_share(strings, group->vendor);
		to[i].type = strings_share(strings, group->type);
		to[i].name = strings_share(strings, group->name);
		to[i].instances = group->instances;
		to[i].attributes = attributes;
		to[i].attribute_count = share_device_attributes(strings, from, i, attributes);
		attributes += to[i].attribute_count;
	}
}

static struct class_entry *class_build(
	struct strings *strings, const struct node_registration *from)
{
	uint32_t pairs = 0;
	for (uint32_t i = 0; i < from->pair_count; i++)
		pairs += is_of_class(&from->pairs[i]);

	struct class_entry *entry =
		memory_take(sizeof *entry + pairs * sizeof(struct attribute) +
			    from->device_group_count * sizeof(struct device_group));
	struct node_class *c = &entry->node_class;
	struct attribute *attributes = (struct attribute *)(entry + 1);
	struct device_group *devices = (struct device_group *)(attributes + pairs);

	c->datacenter = strings_share(strings, from->datacenter);
	c->class_name = strings_share(strings, from->class_name);
	c->pool = strings_share(strings, from->pool);
	c->attributes = attributes;
	c->attribute_count = share_pairs(strings, from, PAIR_ATTRIBUTE, attributes);
	c->meta = attributes += c->attribute_count;
	c->meta_count = share_pairs(strings, from, PAIR_META, attributes);
	c->drivers = attributes += c->meta_count;
	c->driver_count = share_pairs(strings, from, PAIR_DRIVER, attributes);
	c->devices = devices;
	c->device_count = from->device_group_count;
	share_devices(strings, from, devices, attributes + c->driver_count);
	entry->bytes = (uint32_t)malloc_usable_size(entry);
	return entry;
}

static void release_pairs(
	struct strings *strings, const struct attribute *attributes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		strings_release(strings, attributes[i].name);
		strings_release(strings, attributes[i].value);
	}
}

static void release_strings(struct strings *strings, const struct node_class *c)
{
	strings_release(strings, c->datacenter);
	strings_release(strings, c->class_name);
	strings_release(strings, c->pool);
	release_pairs(strings, c->attributes, c->attribute_count);
	release_pairs(strings, c->meta, c->meta_count);
	release_pairs(strings, c->drivers, c->driver_count);
	for (uint32_t i = 0; i < c->device_count; i++) {
		strings_release(strings, c->devices[i].vendor);
		strings_release(strings, c->devices[i].type);
		strings_release(strings, c->devices[i].name);
		release_pairs(strings, c->devices[i].attributes, c->devices[i].attribute_count);
	}
}

static void grow_buckets(struct class_table *t)
{
	uint32_t count = t->bucket_count * 2;
	struct class_entry **buckets = memory_take_array(count, sizeof buckets[0]);

	for (uint32_t i = 0; i < t->bucket_count; i++) {
		while (t->buckets[i]) {
			struct class_entry *entry = t->buckets[i];
			struct class_entry **head = &buckets[entry->node_class.hash & (count - 1)];
			t->buckets[i] = entry->next;
			entry->next = *head;
			*head = entry;
		}
	}
	free(t->buckets);
	t->buckets = buckets;
	t->bucket_count = count;
	CHECK(t->count <= t->bucket_count);
}

static uint32_t take_id(struct class_table *t)
{
	CHECK(t->limit <= t->capacity);
	if (t->free_count)
		return t->free_ids[--t->free_count];
	if (t->limit == t->capacity) {
		t->capacity = t->capacity ? t->capacity * 2 : BUCKETS_MIN;
		t->by_id = memory_resize(t->by_id, t->capacity * sizeof t->by_id[0]);
		t->free_ids = memory_resize(t->free_ids, t->capacity * sizeof t->free_ids[0]);
	}
	return t->limit++;
}

struct node_class *class_take(struct state *state, const struct node_registration *from)
{
	return class_take_hashed(state, from, class_hash(from));
}

struct node_class *class_take_hashed(
	struct state *state, const struct node_registration *from, uint64_t hash)
{
	struct class_table *t = &state->classes;
	struct class_entry *entry = t->buckets[hash & (t->bucket_count - 1)];

	while (entry && !(entry->node_class.hash == hash && same_class(from, &entry->node_class)))
		entry = entry->next;
	if (entry)
		return class_share(&entry->node_class);

	if (t->count == t->bucket_count)
		grow_buckets(t);
	entry = class_build(&state->strings, from);
	CHECK(t->count < t->bucket_count);
	entry->node_class.hash = hash;
	entry->node_class.id = take_id(t);
	entry->node_class.serial = ++t->next_serial;
	CHECK(entry->node_class.id < t->limit);
	t->by_id[entry->node_class.id] = entry;
	entry->next = t->buckets[hash & (t->bucket_count - 1)];
	t->buckets[hash & (t->bucket_count - 1)] = entry;
	t->count++;
	t->bytes += entry->bytes;
	return class_share(&entry->node_class);
}

struct node_class *class_share(struct node_class *c)
{
	c->nodes++;
	CHECK(c->nodes > 0);
	return c;
}

void class_release(struct state *state, struct node_class *c)
{
	struct class_table *t = &state->classes;
	struct class_entry *entry = caa_container_of(c, struct class_entry, node_class);
	struct class_entry **link = &t->buckets[c->hash & (t->bucket_count - 1)];

	CHECK(c->nodes > 0);
	if (--c->nodes > 0)
		return;
	while (*link != entry)
		link = &(*link)->next;
	CHECK(t->by_id[c->id] == entry && t->count > 0);
	*link = entry->next;
	t->by_id[c->id] = NULL;
	t->free_ids[t->free_count++] = c->id;
	t->count--;
	CHECK(t->bytes >= entry->bytes && t->free_count <= t->limit);
	t->bytes -= entry->bytes;
	release_strings(&state->strings, c);
	call_rcu(&entry->rcu, rcu_free);
}

struct node_class *state_class(struct state *state, uint32_t id)
{
	struct class_table *t = &state->classes;
	return id < t->limit && t->by_id[id] ? &t->by_id[id]->node_class : NULL;
}
