#include "placement/scheduler/common/slot_map.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

#define ENTRIES_FIRST 16u
// Most maps are of a few slots: so many pages are of a size that malloc() has at hand.
#define PAGES_MORE 3u

void slot_map_begin(struct slot_map *m, uint32_t slots)
{
	*m = (struct slot_map){.slots = slots};
}

void slot_map_release(struct slot_map *m)
{
	free(m->pages);
	free(m->entries);
	*m = (struct slot_map){0};
}

static void make_entries(struct slot_map *m, uint32_t count)
{
	const struct slot_map_entry *old = m->entries;
	uint32_t old_count = old ? m->mask + 1 : 0;

	m->entries = memory_take_array(count, sizeof *m->entries);
	m->mask = count - 1;
	for (uint32_t i = 0; i < old_count; i++)
		if (old[i].at)
			*slot_map_entry_of(m, old[i].page) = old[i];
	free((void *)old);
}

static void add_page(struct slot_map *m, struct slot_map_entry *entry, uint32_t page)
{
	CHECK(entry->at == 0);
	if (m->page_count == m->page_room) {
		m->page_room += m->page_room / 2 + PAGES_MORE;
		m->pages = memory_resize(m->pages, m->page_room * sizeof m->pages[0]);
	}
	memset(m->pages[m->page_count++], 0, sizeof m->pages[0]);
	*entry = (struct slot_map_entry){page, m->page_count};
}

void slot_map_put(struct slot_map *m, uint32_t slot, uint32_t number)
{
	CHECK(slot < m->slots);
	if (!m->entries)
		make_entries(m, ENTRIES_FIRST);
	else if (m->page_count > m->mask / 2)
		make_entries(m, 2 * (m->mask + 1));
	struct slot_map_entry *entry = slot_map_entry_of(m, slot / SLOT_MAP_PAGE);
	if (!entry->at)
		add_page(m, entry, slot / SLOT_MAP_PAGE);
	m->pages[entry->at - 1][slot % SLOT_MAP_PAGE] = number;
}
