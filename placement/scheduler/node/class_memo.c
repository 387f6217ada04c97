#include "placement/scheduler/node/class_memo.h"
#include "placement/scheduler/common/growing.h"
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
	for (uint32_t i = 0; i < m->page_count; i++)
		free(m->pages[i]);
	free(m->pages);
	free(m->known);
	*m = (struct class_memo){0};
}

void class_memo_grow(struct class_memo *m, uint32_t id)
{
	CHECK(m->entry_bytes > 0);
	uint32_t page = id / CLASS_MEMO_PAGE;
	if (page >= m->page_count) {
		uint32_t count = page + 1 + page / 2;
		m->pages = memory_resize(m->pages, count * sizeof m->pages[0]);
		memset(m->pages + m->page_count, 0, (count - m->page_count) * sizeof m->pages[0]);
		m->page_count = count;
	}
	CHECK(!m->pages[page]);
	m->pages[page] = memory_take_array(CLASS_MEMO_PAGE, m->entry_bytes);
	CHECK(id < class_memo_limit(m));
}

void remembered_class_reset(
	struct class_memo *m, struct remembered_class *entry, const struct node_class *c)
{
	CHECK(m->entry_bytes > 0);
	if (entry->serial_next == 0) {
		GROW(m->known, m->known_count, m->known_room);
		m->known[m->known_count++] = c->id;
	}
	memset(entry, 0, m->entry_bytes);
	entry->serial_next = c->serial + 1;
	entry->hash = c->hash;
}
