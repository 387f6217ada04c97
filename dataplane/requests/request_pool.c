#include "dataplane/requests/alloc_requests.h"
#include "dataplane/requests/request.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>

static uint32_t ring_slots_for(uint32_t entries)
{
	uint32_t slots = 4;
	while (slots <= entries) // a ring holds one less than it has slots
		slots *= 2;
	return slots;
}

static struct ck_ring_buffer *ring_create(struct ck_ring *ring, uint32_t entries)
{
	uint32_t slots = ring_slots_for(entries);
	ck_ring_init(ring, slots);
	return memory_take_array(slots, sizeof(struct ck_ring_buffer));
}

void request_pool_init(struct request_pool *pool, uint32_t inbox_max)
{
	*pool = (struct request_pool){0};
	// Mapped, not taken: requests that are never in use at once are never touched.
	pool->requests = memory_map_or_end(WORKER_REQUESTS_MAX * sizeof *pool->requests);
	pool->free = memory_take_array(WORKER_REQUESTS_MAX, sizeof *pool->free);
	for (uint32_t i = WORKER_REQUESTS_MAX; i > 0; i--)
		pool->free[pool->free_count++] = &pool->requests[i - 1];
	pool->inbox_buffer = ring_create(&pool->inbox, inbox_max);
}

void request_pool_free(struct request_pool *pool)
{
	// Of what was under way when the worker stopped nobody is told.
	for (uint32_t i = 0; i < WORKER_REQUESTS_MAX && requests_pending(pool) > 0; i++)
		alloc_update_release(&pool->requests[i]);
	memory_unmap(pool->requests, WORKER_REQUESTS_MAX * sizeof *pool->requests);
	free(pool->free);
	free(pool->inbox_buffer);
	*pool = (struct request_pool){0};
}

struct request *request_take(struct request_pool *pool)
{
	return pool->free_count > 0 ? pool->free[--pool->free_count] : NULL;
}

void request_give(struct request_pool *pool, struct request *request)
{
	CHECK(pool->free_count < WORKER_REQUESTS_MAX);
	pool->free[pool->free_count++] = request;
}

void inbox_put(struct request_pool *pool, struct request *request)
{
	CHECK(ck_ring_enqueue_mpsc(&pool->inbox, pool->inbox_buffer, request));
}

struct request *inbox_get(struct request_pool *pool)
{
	struct request *request;
	return ck_ring_dequeue_mpsc(&pool->inbox, pool->inbox_buffer, &request) ? request : NULL;
}

bool inbox_is_empty(const struct request_pool *pool)
{
	return ck_ring_size(&pool->inbox) == 0;
}

void report_pool_init(struct report_pool *pool)
{
	*pool = (struct report_pool){0};
	pool->reports = memory_take_array(WORKER_REPORTS_MAX, sizeof *pool->reports);
	pool->free = memory_take_array(WORKER_REPORTS_MAX, sizeof *pool->free);
	for (uint32_t i = WORKER_REPORTS_MAX; i > 0; i--)
		pool->free[pool->free_count++] = &pool->reports[i - 1];
	pool->returned_buffer = ring_create(&pool->returned, WORKER_REPORTS_MAX);
}

void report_pool_free(struct report_pool *pool)
{
	free(pool->reports);
	free(pool->free);
	free(pool->returned_buffer);
	*pool = (struct report_pool){0};
}

struct report *report_take(struct report_pool *pool)
{
	struct report *report;
	while (ck_ring_dequeue_spsc(&pool->returned, pool->returned_buffer, &report))
		report_give(pool, report);
	return pool->free_count > 0 ? pool->free[--pool->free_count] : NULL;
}

void report_give(struct report_pool *pool, struct report *report)
{
	CHECK(pool->free_count < WORKER_REPORTS_MAX);
	pool->free[pool->free_count++] = report;
}

void report_return(struct report_pool *pool, struct report *report)
{
	CHECK(ck_ring_enqueue_spsc(&pool->returned, pool->returned_buffer, report));
}
