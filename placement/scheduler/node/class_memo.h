// What was found out about node classes (rows A41, A42), by the class's dense number.
#pragma once
#include "state/records/node.h"

enum class_verdict { CLASS_UNKNOWN, CLASS_ELIGIBLE, CLASS_INELIGIBLE };

struct class_entry {
	const struct node_class *of; // a number is reused when its class is gone
	uint64_t hash;
	uint8_t targeted; // by datacenters and pool
	uint8_t job;      // enum class_verdict
	uint8_t groups[]; // the same
};

struct class_memo {
	char *entries;
	uint32_t count, groups;
	size_t entry_bytes;
};

void class_memo_begin(struct class_memo *, uint32_t groups);
void class_memo_release(struct class_memo *);
void class_memo_grow(struct class_memo *, uint32_t id);

static inline struct class_entry *class_memo_entry(const struct class_memo *m, uint32_t id)
{
	return (struct class_entry *)(void *)(m->entries + id * m->entry_bytes);
}

void class_entry_reset(struct class_memo *, struct class_entry *, const struct node_class *);

// Valid until the next class is looked up.
static inline struct class_entry *class_memo_of(struct class_memo *m, const struct node_class *c)
{
	if (__builtin_expect(c->id >= m->count, 0))
		class_memo_grow(m, c->id);
	struct class_entry *entry = class_memo_entry(m, c->id);
	if (__builtin_expect(entry->of != c, 0))
		class_entry_reset(m, entry, c);
	return entry;
}
