#include "placement/scheduler/common/slot_map.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES_FIRST 16u
// Most maps are of a few slots: so many pages lie behind the first entries, and all is of a size that malloc() has at
// hand.
#define PAGES_FIRST 3u

static void *pages_behind(const struct slot_map *m)
{
	return m->mask == ENTRIES_FIRST - 1 ? m->entries + ENTRIES_FIRST : NULL;
}

void slot_map_begin(struct slot_map *m, uint32_t slots)
{
	*m = (struct slot_map){.slots = slots};
}

void slot_map_release(struct slot_map *m)
{
	if (m->pages != pages_behind(m))
		free(m->pages);
	free(m->entries);
	*m = (struct slot_map){0};
}

static void make_first(struct slot_map *m)
{
	m->entries =
		memory_take(ENTRIES_FIRST * sizeof *m->entries + PAGES_FIRST * sizeof m->pages[0]);
	m->mask = ENTRIES_FIRST - 1;
	m->pages = pages_behind(m);
	m->page_room = PAGES_FIRST;
}

static void make_entries(struct slot_map *m, uint32_t count)
{
	const struct slot_map_entry *old = m->entries;
	uint32_t old_count = m->mask + 1;

	CHECK(m->pages != pages_behind(m));
	m->entries = memory_take_array(count, sizeof *m->entries);
	m->mask = count - 1;
	for (uint32_t i = 0; i < old_count; i++)
		if (old[i].at)
			*slot_map_entry_of(m, old[i].page) = old[i];
	free((void *)old);
}

static void make_page_room(struct slot_map *m)
{
	bool is_behind = m->pages == pages_behind(m);
	void *own = is_behind ? NULL : m->pages;

	m->page_room += m->page_room / 2 + PAGES_FIRST;
	own = memory_resize(own, m->page_room * sizeof m->pages[0]);
	if (is_behind)
		memcpy(own, m->pages, m->page_count * sizeof m->pages[0]);
	m->pages = own;
}

static void add_page(struct slot_map *m, struct slot_map_entry *entry, uint32_t page)
{
	CHECK(entry->at == 0);
	if (m->page_count == m->page_room)
		make_page_room(m);
	memset(m->pages[m->page_count++], 0, sizeof m->pages[0]);
	*entry = (struct slot_map_entry){page, m->page_count};
}

void slot_map_put(struct slot_map *m, uint32_t slot, uint32_t number)
{
	CHECK(slot < m->slots);
	if (!m->entries)
		make_first(m);
	else if (m->page_count > m->mask / 2)
		make_entries(m, 2 * (m->mask + 1));
	struct slot_map_entry *entry = slot_map_entry_of(m, slot / SLOT_MAP_PAGE);
	if (!entry->at)
		add_page(m, entry, slot / SLOT_MAP_PAGE);
	m->pages[entry->at - 1][slot % SLOT_MAP_PAGE] = number;
}
