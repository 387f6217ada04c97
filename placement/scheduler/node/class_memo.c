#include "placement/scheduler/node/class_memo.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

void class_memo_begin(struct class_memo *m, uint32_t groups)
{
	class_memo_release(m);
	m->groups = groups;
	// Whole words, so that the next entry's pointer is aligned.
	m->entry_bytes = (sizeof(struct remembered_class) + groups + 7) & ~(size_t)7;
	CHECK(m->entry_bytes % 8 == 0);
	CHECK(m->entry_bytes >= sizeof(struct remembered_class) + groups);
}

void class_memo_release(struct class_memo *m)
{
	free(m->entries);
	*m = (struct class_memo){0};
}

void class_memo_grow(struct class_memo *m, uint32_t id)
{
	CHECK(id >= m->count && m->entry_bytes > 0);
	uint32_t count = id + 1 + id / 2;
	m->entries = memory_resize(m->entries, count * m->entry_bytes);
	memset(m->entries + m->count * m->entry_bytes, 0, (count - m->count) * m->entry_bytes);
	m->count = count;
	CHECK(id < m->count);
}

void remembered_class_reset(
	struct class_memo *m, struct remembered_class *entry, const struct node_class *c)
{
	CHECK(m->entry_bytes > 0);
	memset(entry, 0, m->entry_bytes);
	entry->serial_next = c->serial + 1;
	entry->hash = c->hash;
}
