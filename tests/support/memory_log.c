#include "tests/support/memory_log.h"
#include "state/apply/replay.h"
#include "state/base/memory.h"
#include "state/tables/publication_check.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static int append(
	void *context, uint64_t first_index, uint32_t entries, const void *batch, uint32_t size)
{
	struct memory_log *log = context;

	atomic_store(&log->thread, (uintptr_t)pthread_self());
	atomic_fetch_add(&log->appends, 1);
	while (atomic_load(&log->block))
		sched_yield();
	if (log->time)
		manual_time_advance_ms(log->time, log->append_ms);
	int error = atomic_load(&log->error);
	if (error)
		return error;
	if (log->count == log->capacity) {
		log->capacity = log->capacity ? 2 * log->capacity : 16;
		log->batches = memory_resize(log->batches, log->capacity * sizeof log->batches[0]);
	}
	struct memory_batch *stored = &log->batches[log->count++];
	*stored = (struct memory_batch){first_index, entries, size, memory_take(size)};
	memcpy(stored->data, batch, size);
	stored->has_check = log->state && first_index > 1 &&
			    publication_check_of(log->state, first_index - 1, &stored->check);
	return 0;
}

static int64_t room_bytes(void *context)
{
	return atomic_load(&((struct memory_log *)context)->room_bytes);
}

void memory_log_init(struct memory_log *log)
{
	memset(log, 0, sizeof *log);
	log->room_bytes = INT64_MAX;
}

void memory_log_free(struct memory_log *log)
{
	for (uint32_t i = 0; i < log->count; i++)
		free(log->batches[i].data);
	free(log->batches);
	log->batches = NULL;
	log->count = log->capacity = 0;
}

struct command_log memory_log_of(struct memory_log *log)
{
	return (struct command_log){.append = append,
		.room_bytes = room_bytes,
		.is_remote = log->is_remote,
		.context = log};
}

int replay_stored(struct applier *a, uint64_t first_index, const void *batch, uint32_t size)
{
	struct replay_batch *decoded = replay_batch_open(batch, size);
	int error = applier_replay(a, first_index, decoded);

	replay_batch_free(decoded);
	return error;
}

int memory_log_replay(const struct memory_log *log, uint32_t count, struct applier *applier)
{
	int error = 0;

	for (uint32_t i = 0; i < count && !error; i++)
		error = replay_stored(applier, log->batches[i].first_index, log->batches[i].data,
			log->batches[i].size);
	return error;
}
