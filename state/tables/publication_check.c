#include "state/tables/publication_check.h"
#include "state/base/check.h"
#include "state/base/crc32c.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/kind.h"
#include "state/tables/tables.h"
#include <stddef.h>
#include <string.h>

#define GOLDEN 0x9e3779b97f4a7c15ull

static uint64_t stir(uint64_t sum, uint64_t value)
{
	sum = (sum ^ value) * GOLDEN;
	return sum ^ (sum >> 29);
}

static uint64_t job_key_sum(const struct job_cell *cell)
{
	uint32_t sum = crc32c(0, cell->namespace_name, strlen(cell->namespace_name) + 1);
	return crc32c(sum, cell->id, strlen(cell->id));
}

static uint64_t key_sum(const struct change *change)
{
	const struct kind *kind = state_kinds[change->table];
	const char *key = (const char *)change->record + kind->key_offset;

	if (change->table == STATE_JOBS)
		return job_key_sum(change->cell);
	if (kind->has_ids || (kind->fields && kind->key == KEY_UUID))
		return uuid_hash((const struct uuid *)key);
	if (!kind->fields || kind->key != KEY_NAME)
		return 0;
	const char *name = *(char *const *)(const void *)key;
	return name ? crc32c(0, name, strlen(name)) : 0;
}

static uint64_t change_sum(const struct change *change)
{
	const struct record *record = change->record;
	uint64_t sum = stir(GOLDEN, change->table);

	sum = stir(sum, record->create_index);
	sum = stir(sum, record->modify_index);
	sum = stir(sum, record->deleted);
	return stir(sum, key_sum(change));
}

void publication_check_keep(struct state *state)
{
	state->keeps_check = true;
}

// The memory that is counted depends on what a process did before, all else on the log alone.
void publication_check_take(struct state *state, const struct change_list *changes, uint64_t index,
	const struct summary *summary)
{
	uint64_t sum = 0;

	if (!state->keeps_check)
		return;
	for (uint32_t i = 0; i < changes->count; i++)
		sum += change_sum(&changes->items[i]);
	sum = stir(sum, crc32c(0, &summary->counts, offsetof(struct state_counts, bytes_nodes)));
	state->check = stir(sum, (uint64_t)summary->forgotten_ms);
	state->check_index = index;
}

bool publication_check_of(const struct state *state, uint64_t index, uint64_t *check)
{
	CHECK(index > 0);
	*check = state->check;
	return state->check_index == index;
}
