// Remembers verdicts on node classes (rows A41, A42), by the class's dense number.
#pragma once
#include "state/records/nodes/node.h"

enum class_verdict { CLASS_UNKNOWN, CLASS_ELIGIBLE, CLASS_INELIGIBLE };

struct remembered_class {
	uint64_t
		serial_next; // the serial of the class, plus one: its number is reused when it is gone; 0: none
	uint64_t hash;
	uint8_t targeted; // by datacenters and pool
	uint8_t job;      // enum class_verdict
	uint8_t groups[]; // enum class_verdict
};

struct class_memo {
	char *entries;
	uint32_t count, groups;
	size_t entry_bytes;
};

void class_memo_begin(struct class_memo *, uint32_t groups);
void class_memo_release(struct class_memo *);
void class_memo_grow(struct class_memo *, uint32_t id);

static inline struct remembered_class *class_memo_entry(const struct class_memo *m, uint32_t id)
{
	return (struct remembered_class *)(void *)(m->entries + id * m->entry_bytes);
}

void remembered_class_reset(
	struct class_memo *, struct remembered_class *, const struct node_class *);

// Valid until the next class is looked up.
static inline struct remembered_class *class_memo_of(
	struct class_memo *m, const struct node_class *c)
{
	if (__builtin_expect(c->id >= m->count, 0))
		class_memo_grow(m, c->id);
	struct remembered_class *entry = class_memo_entry(m, c->id);
	if (__builtin_expect(entry->serial_next != c->serial + 1, 0))
		remembered_class_reset(m, entry, c);
	return entry;
}
