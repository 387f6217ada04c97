// A cron expression and the zone that its times are on, as a job may bring them: "expression NUL zone". What is taken
// has times that go on, each of which the expression means again one second before it.
#include "placement/cron/cron.h"
#include "state/base/check.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FROM_S 1700000000
#define TIMES 8

static void follow(const struct cron *cron, const struct cron_zone *zone)
{
	int64_t now = FROM_S;

	for (int i = 0; i < TIMES && now != CRON_NEVER; i++) {
		int64_t next = cron_next(cron, zone, now);
		CHECK(next > now);
		CHECK(next == CRON_NEVER || cron_next(cron, zone, next - 1) == next);
		now = next;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *end = memchr(text, 0, size);
	uint32_t spec_size = (uint32_t)(end ? end - text : (ptrdiff_t)size);
	struct text zone_name = {
		text + spec_size + (end != NULL), (uint32_t)(size - spec_size - (end != NULL))};
	char mistake[160] = "", *name = text_copy(zone_name);
	struct cron_zone *zone = cron_zone_open(name);
	struct cron cron;

	if (!cron_parse(&cron, (struct text){text, spec_size}, mistake, sizeof mistake))
		CHECK(mistake[0] != 0);
	else if (zone)
		follow(&cron, zone);
	cron_zone_close(zone);
	free(name);
	return 0;
}
