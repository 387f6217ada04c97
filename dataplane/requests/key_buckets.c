#include "dataplane/requests/key_buckets.h"
#include "state/base/log.h"
#include "state/base/memory.h"

#define SETS (KEY_BUCKETS / KEY_BUCKETS_IN_SET)
_Static_assert((SETS & (SETS - 1)) == 0, "a set is found by some bits of a key");

// Mapped, not taken: what no key needs is never touched.
void key_buckets_open(struct key_buckets *b)
{
	b->items = memory_map(KEY_BUCKETS * sizeof b->items[0]);
	if (b->items == NULL)
		log_warn("buckets-off", "effect=\"senders are not held to their rate\"");
}

void key_buckets_close(struct key_buckets *b)
{
	if (b->items != NULL)
		memory_unmap(b->items, KEY_BUCKETS * sizeof b->items[0]);
	b->items = NULL;
}

// Two workers that meet here may give a key two buckets, or one bucket two keys, until one of them is idle.
static uint64_t *find_bucket(const struct key_buckets *b, uint64_t key)
{
	struct key_bucket *set = &b->items[(key & (SETS - 1)) * KEY_BUCKETS_IN_SET];
	struct key_bucket *fullest = set;
	for (uint32_t i = 0; i < KEY_BUCKETS_IN_SET; i++) {
		if (__atomic_load_n(&set[i].key, __ATOMIC_RELAXED) == key)
			return &set[i].full_at_ns;
		if (__atomic_load_n(&set[i].full_at_ns, __ATOMIC_RELAXED) <
			__atomic_load_n(&fullest->full_at_ns, __ATOMIC_RELAXED))
			fullest = &set[i];
	}
	__atomic_store_n(&fullest->key, key, __ATOMIC_RELAXED);
	return &fullest->full_at_ns;
}

uint64_t key_buckets_take(struct key_buckets *b, const struct wire_key *key,
	const struct bucket_rule *rule, uint32_t tokens, uint64_t now_ns)
{
	if (b->items == NULL || rule->token_ns == 0)
		return 0;
	return bucket_take(find_bucket(b, key->k[0]), rule, tokens, now_ns);
}
