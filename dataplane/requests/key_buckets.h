// Token buckets of the keys that have no line in the node table: clients, and nodes that register. A key finds its
// bucket by its first word, which nobody can choose. There are as many buckets as fit, shared by all workers.
//
// A key without a bucket takes the one of its set that is nearest to full, as it is: mostly that is full, and its key
// has not been heard for long. What was taken from a bucket stays taken, so that nobody gains by making others, or
// itself, lose theirs.
#pragma once
#include "dataplane/hot/bucket.h"
#include "dataplane/wire/auth.h"

#define KEY_BUCKETS (128u * 1024)
#define KEY_BUCKETS_IN_SET 8u

struct key_bucket {
	uint64_t key; // first word of the key that has it
	uint64_t full_at_ns;
};

struct key_buckets {
	struct key_bucket *items; // NULL: memory was short, and nobody is limited
};

void key_buckets_open(struct key_buckets *);
void key_buckets_close(struct key_buckets *);
// As bucket_take(), of the key's bucket. Any worker.
uint64_t key_buckets_take(struct key_buckets *, const struct wire_key *, const struct bucket_rule *,
	uint32_t tokens, uint64_t now_ns);
