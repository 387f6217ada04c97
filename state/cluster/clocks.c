// Compares the members' times of day.
#include "state/cluster/clocks.h"
#include "state/base/check.h"
#include <string.h>

static const struct cluster_member *find_known(
	const struct cluster_member *members, uint32_t count, const char *id)
{
	for (uint32_t i = 0; i < count; i++)
		if (members[i].knows_clock && strcmp(members[i].id, id) == 0)
			return &members[i];
	return NULL;
}

static const struct cluster_member *find_self(const struct cluster_member *members, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (members[i].is_self)
			return &members[i];
	return NULL;
}

void clocks_compare(struct cluster_member *members, uint32_t count,
	const struct cluster_member *before, uint32_t before_count)
{
	const struct cluster_member *self = find_self(members, count);

	CHECK(count <= CLUSTER_MEMBERS_MAX && before_count <= CLUSTER_MEMBERS_MAX);
	for (uint32_t i = 0; i < count; i++) {
		struct cluster_member *m = &members[i];
		const struct cluster_member *known = find_known(before, before_count, m->id);
		m->knows_clock = self && self->clock_ms != 0 && m->clock_ms != 0;
		if (m->knows_clock)
			m->clock_ahead_ms = m->clock_ms - self->clock_ms;
		else if (known) {
			m->knows_clock = true;
			m->clock_ahead_ms = known->clock_ahead_ms;
		}
	}
}

static bool is_near(int64_t one_ms, int64_t other_ms)
{
	int64_t apart_ms = one_ms - other_ms;
	return apart_ms <= CLOCK_APART_MS && apart_ms >= -CLOCK_APART_MS;
}

static uint32_t count_near(const struct cluster_member *members, uint32_t count, int64_t ahead_ms)
{
	uint32_t near = 0;

	for (uint32_t i = 0; i < count; i++)
		near += members[i].knows_clock && is_near(members[i].clock_ahead_ms, ahead_ms);
	return near;
}

bool clock_is_odd(const struct cluster_member *members, uint32_t count)
{
	uint32_t own = count_near(members, count, 0);

	CHECK(count <= CLUSTER_MEMBERS_MAX);
	for (uint32_t i = 0; i < count; i++) {
		const struct cluster_member *m = &members[i];
		if (m->is_alive && m->knows_clock && !is_near(m->clock_ahead_ms, 0) &&
			count_near(members, count, m->clock_ahead_ms) > own)
			return true;
	}
	return false;
}
