#include "state/etcd/etcd_core.h"
#include "state/base/check.h"
#include "state/base/text.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include <stdio.h>

uint64_t etcd_now_ns(void)
{
	return time_monotonic_ns(&time_source_real);
}

uint64_t etcd_left_ms(uint64_t until_ns)
{
	uint64_t now = etcd_now_ns();
	return now < until_ns ? (until_ns - now + NS_PER_MS - 1) / NS_PER_MS : 0;
}

int etcd_endpoint_choose(struct etcd *e, uint32_t tried)
{
	uint32_t current = e->current, count = e->endpoint_count;
	uint64_t now = etcd_now_ns();
	int resting = -1;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t endpoint = (current + i) % count;
		if (tried & 1u << endpoint)
			continue;
		if (e->endpoints[endpoint].rests_until_ns <= now)
			return (int)endpoint;
		if (resting < 0)
			resting = (int)endpoint;
	}
	return resting;
}

void etcd_prefer(struct etcd *e, uint32_t endpoint)
{
	CHECK(e->endpoint_count > 0);
	__atomic_store_n((uint32_t *)&e->current, endpoint % e->endpoint_count, __ATOMIC_RELAXED);
}

void etcd_endpoint_answered(struct etcd *e, uint32_t endpoint)
{
	CHECK(endpoint < e->endpoint_count);
	e->endpoints[endpoint].rests_until_ns = 0;
	uint32_t before = e->current;
	// Of several threads that come to the same endpoint, one counts.
	if (before != endpoint && __atomic_compare_exchange_n((uint32_t *)&e->current, &before,
					  endpoint, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		e->counters.failovers++;
}

void etcd_endpoint_failed(struct etcd *e, uint32_t endpoint, const char *what)
{
	CHECK(endpoint < e->endpoint_count);
	e->endpoints[endpoint].rests_until_ns = etcd_now_ns() + ETCD_REST_MS * NS_PER_MS;
	e->counters.failures++;
	etcd_note(e, endpoint, what);
}

void etcd_note(struct etcd *e, uint32_t endpoint, const char *what)
{
	CHECK(endpoint < e->endpoint_count);
	char text[ETCD_MESSAGE_BYTES];
	snprintf(text, sizeof text, "etcd at %s: %s", e->endpoints[endpoint].url, what);
	text_make_printable(text);
	pthread_mutex_lock(&e->lock);
	memcpy(e->trouble, text, sizeof e->trouble);
	pthread_mutex_unlock(&e->lock);
}
