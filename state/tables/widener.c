// Buckets of the hash tables. The library can enlarge its tables by itself in two ways, but neither serves. By its
// count of items it has to see a power of two exactly and may miss it (at 200,000 items a look-up took 7 us instead of
// 0.3). By the longest chain it grows the tables without end (1.1 GB of buckets for 200,000 items). So the applier says
// when a table needs more buckets, and another thread makes them, beside reads and changes; a recovery makes them on
// the way.
#include "state/tables/widener.h"
#include "state/base/check.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/memory.h"
#include "state/tables/buckets.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

struct widener {
	struct state *state;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_wanted, is_busy, is_stopping; // under the lock
};

static void want_buckets(struct table_hash *hash, uint64_t count, bool *raised)
{
	uint64_t wanted = atomic_load_explicit(&hash->wanted, memory_order_relaxed);

	CHECK((wanted & (wanted - 1)) == 0);
	if (wanted == 0)
		wanted = TABLE_BUCKETS_MIN;
	while (wanted < count) {
		wanted *= 2;
		*raised = true;
	}
	atomic_store_explicit(&hash->wanted, wanted, memory_order_release);
	CHECK(wanted >= count);
}

// With half as many buckets as items, each bucket still holds few.
bool tables_lack(struct state *state, uint32_t allocations)
{
	CHECK(allocations <= ALLOCATIONS_MAX);
	struct table *table = &state->tables[STATE_ALLOCATIONS];
	uint64_t count = (uint64_t)table->order.count + allocations;
	uint64_t buckets = atomic_load_explicit(&table->hash.given, memory_order_acquire);

	table->coming = allocations;
	return count > 2 * (buckets > TABLE_BUCKETS_MIN ? buckets : TABLE_BUCKETS_MIN);
}

bool tables_want(struct state *state)
{
	bool raised = false;

	for (uint32_t i = 0; i < STATE_TABLES; i++) {
		struct table *table = &state->tables[i];
		uint64_t count = (uint64_t)table_count(state, i) + table->coming;
		if (table->hash.buckets)
			want_buckets(&table->hash, count, &raised);
		if (table->other.buckets)
			want_buckets(&table->other, count, &raised);
		table->coming = 0;
	}
	return raised;
}

static void widen_hash(struct table_hash *hash)
{
	uint64_t wanted = atomic_load_explicit(&hash->wanted, memory_order_acquire);

	if (hash->buckets && wanted > TABLE_BUCKETS_MIN && wanted > hash->given)
		buckets_widen(hash->buckets, wanted);
	atomic_store_explicit(&hash->given, wanted, memory_order_release);
}

void tables_widen(struct state *state)
{
	CHECK(!state_is_reading());
	for (uint32_t i = 0; i < STATE_TABLES; i++) {
		widen_hash(&state->tables[i].hash);
		widen_hash(&state->tables[i].other);
	}
}

void tables_add_gathered(struct state *state)
{
	if (tables_want(state))
		tables_widen(state);
	state_read_begin();
	for (uint32_t i = 0; i < STATE_TABLES; i++)
		if (state->tables[i].gathered)
			(void)table_add_gathered(state, i, false);
	state_read_end();
}

static bool widener_wait(struct widener *w)
{
	pthread_mutex_lock(&w->lock);
	w->is_busy = false;
	pthread_cond_broadcast(&w->changed);
	while (!w->is_wanted && !w->is_stopping)
		pthread_cond_wait(&w->changed, &w->lock);
	w->is_wanted = false;
	w->is_busy = true;
	bool is_stopping = w->is_stopping;
	pthread_mutex_unlock(&w->lock);
	return !is_stopping;
}

static void *widener_run(void *argument)
{
	struct widener *w = argument;

	state_read_begin(); // registers the thread
	state_read_end();
	while (widener_wait(w))
		tables_widen(w->state);
	return NULL;
}

int widener_start(struct state *state, struct widener **started)
{
	CHECK(state && started);
	struct widener *w = memory_take(sizeof *w);

	w->state = state;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	int error = CAN_REFUSE(APPLIER_TABLES, pthread_create(&w->thread, NULL, widener_run, w));
	if (error) {
		pthread_mutex_destroy(&w->lock);
		pthread_cond_destroy(&w->changed);
		free(w);
		return -error;
	}
	(void)pthread_setname_np(w->thread, "tables");
	*started = w;
	return 0;
}

static void widener_tell(struct widener *w, bool *what)
{
	pthread_mutex_lock(&w->lock);
	*what = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

void widener_kick(struct widener *w)
{
	widener_tell(w, &w->is_wanted);
}

void widener_finish(struct widener *w)
{
	CHECK(!state_is_reading());
	pthread_mutex_lock(&w->lock);
	while (w->is_wanted || w->is_busy)
		pthread_cond_wait(&w->changed, &w->lock);
	pthread_mutex_unlock(&w->lock);
}

void widener_stop(struct widener *w)
{
	widener_tell(w, &w->is_stopping);
	CHECK(pthread_join(w->thread, NULL) == 0);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->changed);
	free(w);
}
