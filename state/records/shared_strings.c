#include "state/records/shared_strings.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "state/records/record.h"
#include <endian.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <urcu-qsbr.h>

#define BUCKETS_MIN 256u

struct shared_string {
	struct rcu_head rcu; // first: rcu_free()
	struct shared_string *next;
	uint32_t hash, references, size;
	char characters[];
};

static uint64_t hash_word(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0xff51afd7ed558ccdull;
	return hash ^ hash >> 32;
}

// Up to seven bytes as a number, without a step for each.
static uint64_t short_word(const uint8_t *bytes, uint32_t size)
{
	uint64_t word = 0;
	uint16_t two;
	uint32_t four;

	if (size & 1)
		word = bytes[--size];
	if (size & 2) {
		size -= 2;
		memcpy(&two, bytes + size, sizeof two);
		word = word << 16 | le16toh(two);
	}
	if (size & 4) {
		memcpy(&four, bytes, sizeof four);
		word = word << 32 | le32toh(four);
	}
	return word;
}

uint64_t hash_bytes(uint64_t seed, const void *data, uint32_t size)
{
	const uint8_t *bytes = data;
	uint64_t hash = (seed ^ size) * 0x9e3779b97f4a7c15ull, word;

	for (; size >= sizeof word; bytes += sizeof word, size -= sizeof word) {
		memcpy(&word, bytes, sizeof word); // of a known size, which takes no call
		hash = hash_word(hash, le64toh(word));
	}
	return size ? hash_word(hash, short_word(bytes, size)) : hash;
}

static uint64_t name_keys[2];

__attribute__((constructor)) static void draw_name_keys(void)
{
	struct prng prng;
	prng_seed_from_system(&prng);
	name_keys[0] = prng_u64(&prng);
	name_keys[1] = prng_u64(&prng) | 1;
}

// The product of 128 bits, folded: each bit of it depends on all of the secret factor.
static uint64_t fold_word(uint64_t hash, uint64_t word)
{
	unsigned __int128 product = (unsigned __int128)(hash ^ word) * name_keys[1];
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t hash_keyed(uint64_t seed, const void *data, uint32_t size)
{
	const uint8_t *bytes = data;
	uint64_t hash = fold_word(name_keys[0], seed ^ size), word;

	for (; size >= sizeof word; bytes += sizeof word, size -= sizeof word) {
		memcpy(&word, bytes, sizeof word);
		hash = fold_word(hash, word);
	}
	if (size)
		hash = fold_word(hash, short_word(bytes, size));
	// One product of names that differ by a constant differs by one, too.
	return fold_word(hash, name_keys[0]);
}

void strings_init(struct strings *s)
{
	*s = (struct strings){.bucket_count = BUCKETS_MIN};
	s->buckets = memory_take_array(s->bucket_count, sizeof s->buckets[0]);
	s->bytes = malloc_usable_size(s->buckets);
}

void strings_destroy(struct strings *s)
{
	for (uint32_t i = 0; i < s->bucket_count; i++) {
		while (s->buckets[i]) {
			struct shared_string *next = s->buckets[i]->next;
			free(s->buckets[i]);
			s->buckets[i] = next;
		}
	}
	free(s->buckets);
	s->buckets = NULL;
}

static void strings_grow(struct strings *s)
{
	uint32_t count = s->bucket_count * 2;
	struct shared_string **buckets = memory_take_array(count, sizeof buckets[0]);

	for (uint32_t i = 0; i < s->bucket_count; i++) {
		while (s->buckets[i]) {
			struct shared_string *moved = s->buckets[i];
			s->buckets[i] = moved->next;
			moved->next = buckets[moved->hash & (count - 1)];
			buckets[moved->hash & (count - 1)] = moved;
		}
	}
	s->bytes += malloc_usable_size(buckets) - malloc_usable_size(s->buckets);
	free(s->buckets);
	s->buckets = buckets;
	s->bucket_count = count;
}

const char *strings_share(struct strings *s, struct text text)
{
	uint32_t hash = (uint32_t)hash_keyed(0, text.data, text.size);
	struct shared_string *found = s->buckets[hash & (s->bucket_count - 1)];

	while (found && !(found->hash == hash &&
				text_equal((struct text){found->characters, found->size}, text)))
		found = found->next;
	if (!found) {
		if (s->count == s->bucket_count)
			strings_grow(s);
		found = memory_take(sizeof *found + text.size + 1);
		found->hash = hash;
		found->size = text.size;
		if (text.size)
			memcpy(found->characters, text.data, text.size);
		found->next = s->buckets[hash & (s->bucket_count - 1)];
		s->buckets[hash & (s->bucket_count - 1)] = found;
		s->count++;
		s->bytes += malloc_usable_size(found);
	}
	found->references++;
	return found->characters;
}

static struct shared_string *string_of(const char *shared)
{
	return (struct shared_string *)(shared - offsetof(struct shared_string, characters));
}

bool shared_string_is(const char *shared, struct text text)
{
	return text_equal((struct text){shared, string_of(shared)->size}, text);
}

const char *strings_share_again(const char *shared)
{
	CHECK(string_of(shared)->references > 0);
	string_of(shared)->references++;
	return shared;
}

void strings_release(struct strings *s, const char *characters)
{
	struct shared_string *string = string_of(characters);
	struct shared_string **link = &s->buckets[string->hash & (s->bucket_count - 1)];

	CHECK(string->references > 0);
	if (--string->references > 0)
		return;
	while (*link != string)
		link = &(*link)->next;
	*link = string->next;
	s->count--;
	s->bytes -= malloc_usable_size(string);
	call_rcu(&string->rcu, rcu_free);
}
