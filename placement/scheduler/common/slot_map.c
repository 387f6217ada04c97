#include "placement/scheduler/common/slot_map.h"
#include "state/base/check.h"

// Most maps are of a few slots.
#define ENTRIES_FIRST 8u

void slot_map_begin(struct slot_map *m, uint32_t slots, struct arena *arena)
{
	CHECK(arena);
	*m = (struct slot_map){.arena = arena, .slots = slots};
}

static void make_entries(struct slot_map *m, uint32_t count)
{
	const struct slot_map_entry *old = m->entries;
	uint32_t old_count = old ? m->mask + 1 : 0;

	m->entries = arena_take(m->arena, count * sizeof *m->entries);
	m->mask = count - 1;
	for (uint32_t i = 0; i < old_count; i++)
		if (old[i].numbers)
			*slot_map_entry_of(m, old[i].page) = old[i];
}

static void add_page(struct slot_map *m, struct slot_map_entry *entry, uint32_t page)
{
	CHECK(!entry->numbers);
	entry->numbers = arena_take(m->arena, SLOT_MAP_PAGE * sizeof entry->numbers[0]);
	entry->page = page;
	m->page_count++;
}

void slot_map_put(struct slot_map *m, uint32_t slot, uint32_t number)
{
	CHECK(slot < m->slots);
	if (!m->entries)
		make_entries(m, ENTRIES_FIRST);
	else if (m->page_count > m->mask / 2)
		make_entries(m, 2 * (m->mask + 1));
	struct slot_map_entry *entry = slot_map_entry_of(m, slot / SLOT_MAP_PAGE);
	if (!entry->numbers)
		add_page(m, entry, slot / SLOT_MAP_PAGE);
	entry->numbers[slot % SLOT_MAP_PAGE] = number;
}
