// The launch times of a periodic job: the first of any of its expressions, on the clock of its zone (row B63).
#include "placement/cron/cron.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/records/job.h"
#include <stdlib.h>

struct launch_times {
	struct cron_zone *zone;
	uint32_t count;
	struct cron crons[];
};

static const char *spec_at(const struct periodic_config *p, uint32_t i)
{
	const char *spec = p->specs.count > 0 ? *ARRAY_AT(&p->specs, char *, i) : p->spec;
	return spec ? spec : "";
}

struct launch_times *launch_times_create(const struct periodic_config *p)
{
	uint32_t count = p->specs.count > 0 ? p->specs.count : 1;
	struct cron_zone *zone = cron_zone_open(p->time_zone);
	char mistake[160];

	if (!zone)
		return NULL;
	struct launch_times *times = memory_take(sizeof *times + count * sizeof(struct cron));
	*times = (struct launch_times){zone, count};
	for (uint32_t i = 0; i < count; i++) {
		if (cron_parse(&times->crons[i], text_of(spec_at(p, i)), mistake, sizeof mistake))
			continue;
		launch_times_free(times);
		return NULL;
	}
	return times;
}

void launch_times_free(struct launch_times *times)
{
	if (!times)
		return;
	cron_zone_close(times->zone);
	free(times);
}

int64_t launch_times_next(const struct launch_times *times, int64_t after_ns)
{
	int64_t after_s = after_ns / NS_PER_S, least = CRON_NEVER;

	for (uint32_t i = 0; i < times->count; i++) {
		int64_t next = cron_next(&times->crons[i], times->zone, after_s);
		if (next < least)
			least = next;
	}
	return least == CRON_NEVER ? CRON_NEVER : least * NS_PER_S;
}
