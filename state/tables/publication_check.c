#include "state/tables/publication_check.h"
#include "state/base/check.h"
#include "state/base/crc32c.h"
#include "state/base/memory.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/kind.h"
#include "state/tables/sum.h"
#include "state/tables/tables.h"
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// More than the batches that a leader can have on its way, which tell the check of what was published before them all.
#define PUBLICATION_CHECKS_KEPT 16u

struct publication_checks {
	pthread_mutex_t lock; // guards the rest
	uint32_t newest;
	struct publication_check kept[PUBLICATION_CHECKS_KEPT];
};

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

static uint64_t content_sum(const struct change *change, uint64_t sum)
{
	const struct kind *kind = state_kinds[change->table];

	CHECK(kind->sum || kind->fields);
	return kind->sum ? kind->sum(change->record, sum)
			 : record_sum(kind->fields, change->record, sum);
}

static uint64_t change_sum(const struct change *change)
{
	const struct record *record = change->record;
	uint64_t sum = sum_u64(SUM_NOTHING, change->table);

	sum = sum_u64(sum, record->create_index);
	sum = sum_u64(sum, record->modify_index);
	sum = sum_u64(sum, record->deleted);
	sum = sum_u64(sum, key_sum(change));
	return record->deleted ? sum : content_sum(change, sum);
}

void publication_check_keep(struct state *state)
{
	if (state->checks)
		return;
	state->checks = memory_take(sizeof *state->checks);
	pthread_mutex_init(&state->checks->lock, NULL);
}

void publication_checks_free(struct publication_checks *checks)
{
	if (!checks)
		return;
	pthread_mutex_destroy(&checks->lock);
	free(checks);
}

static void note_check(struct publication_checks *checks, uint64_t index, uint64_t check)
{
	pthread_mutex_lock(&checks->lock);
	checks->newest = (checks->newest + 1) % PUBLICATION_CHECKS_KEPT;
	checks->kept[checks->newest] = (struct publication_check){index, check};
	pthread_mutex_unlock(&checks->lock);
}

// The memory that is counted depends on what a process did before, all else on the log alone.
void publication_check_take(struct state *state, const struct change_list *changes, uint64_t index,
	const struct summary *summary)
{
	uint64_t sum = 0;

	if (!state->checks)
		return;
	for (uint32_t i = 0; i < changes->count; i++)
		sum += change_sum(&changes->items[i]);
	sum = sum_u64(sum, crc32c(0, &summary->counts, offsetof(struct state_counts, bytes_nodes)));
	note_check(state->checks, index, sum_u64(sum, (uint64_t)summary->forgotten_ms));
}

void publication_check_forget(struct state *state)
{
	struct publication_checks *checks = state->checks;

	if (!checks)
		return;
	pthread_mutex_lock(&checks->lock);
	memset(checks->kept, 0, sizeof checks->kept);
	pthread_mutex_unlock(&checks->lock);
}

bool publication_check_of(const struct state *state, uint64_t index, uint64_t *check)
{
	struct publication_checks *checks = state->checks;
	bool is_kept = false;

	CHECK(index > 0);
	if (!checks)
		return false;
	pthread_mutex_lock(&checks->lock);
	for (uint32_t i = 0; i < PUBLICATION_CHECKS_KEPT; i++)
		if (checks->kept[i].index == index) {
			*check = checks->kept[i].check;
			is_kept = true;
		}
	pthread_mutex_unlock(&checks->lock);
	return is_kept;
}

struct publication_check publication_check_newest(const struct state *state)
{
	struct publication_checks *checks = state->checks;

	if (!checks)
		return (struct publication_check){0};
	pthread_mutex_lock(&checks->lock);
	struct publication_check newest = checks->kept[checks->newest];
	pthread_mutex_unlock(&checks->lock);
	return newest;
}
