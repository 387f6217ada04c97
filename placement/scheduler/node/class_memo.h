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

// Entries lie in pages that are made as they are needed, because a fleet may have many classes.
#define CLASS_MEMO_PAGE 64u

struct class_memo {
	char **pages;
	uint32_t page_count, groups;
	size_t entry_bytes;
	uint32_t *known; // numbers of the classes that have an entry, in no order
	uint32_t known_count, known_room;
};

void class_memo_begin(struct class_memo *, uint32_t groups);
void class_memo_release(struct class_memo *);
// All numbers of classes are below this.
static inline uint32_t class_memo_limit(const struct class_memo *m)
{
	return m->page_count * CLASS_MEMO_PAGE;
}
void class_memo_grow(struct class_memo *, uint32_t id);

// Stays where it is. The page must be there: the class is known, or class_memo_grow() was called for it.
static inline struct remembered_class *class_memo_entry(const struct class_memo *m, uint32_t id)
{
	return (struct remembered_class *)(void *)(m->pages[id / CLASS_MEMO_PAGE] +
						   id % CLASS_MEMO_PAGE * m->entry_bytes);
}

void remembered_class_reset(
	struct class_memo *, struct remembered_class *, const struct node_class *);

static inline struct remembered_class *class_memo_of(
	struct class_memo *m, const struct node_class *c)
{
	if (__builtin_expect(
		    c->id / CLASS_MEMO_PAGE >= m->page_count || !m->pages[c->id / CLASS_MEMO_PAGE],
		    0))
		class_memo_grow(m, c->id);
	struct remembered_class *entry = class_memo_entry(m, c->id);
	if (__builtin_expect(entry->serial_next != c->serial + 1, 0))
		remembered_class_reset(m, entry, c);
	return entry;
}
