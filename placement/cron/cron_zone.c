// Time zones by GLib, which reads the system's tables without touching the zone of the process.
#include "placement/cron/cron_zone.h"
#include "state/base/memory.h"
#include <ctype.h>
#include <glib.h>
#include <stdlib.h>

struct cron_zone {
	GTimeZone *zone;
};

// Which names may be looked up among the system's files: none that leaves their folder, no rule in place of a zone.
static bool is_zone_name(const char *name)
{
	if (!isalpha((unsigned char)name[0]) || strstr(name, "..") || strlen(name) > 64)
		return false;
	for (const char *at = name; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("_+-/", *at))
			return false;
	return true;
}

static GTimeZone *find_zone(const char *name)
{
	if (!name || !name[0] || strcmp(name, "UTC") == 0)
		return g_time_zone_new_utc();
	if (strcmp(name, "Local") == 0)
		return g_time_zone_new_local();
	return is_zone_name(name) ? g_time_zone_new_identifier(name) : NULL;
}

struct cron_zone *cron_zone_open(const char *name)
{
	GTimeZone *found = find_zone(name);

	if (!found)
		return NULL;
	struct cron_zone *zone = memory_take(sizeof *zone);
	zone->zone = found;
	return zone;
}

void cron_zone_close(struct cron_zone *zone)
{
	if (!zone)
		return;
	g_time_zone_unref(zone->zone);
	free(zone);
}

static int interval_at(const struct cron_zone *zone, int64_t at_s)
{
	return g_time_zone_find_interval(zone->zone, G_TIME_TYPE_UNIVERSAL, at_s);
}

int64_t cron_zone_offset(const struct cron_zone *zone, int64_t at_s)
{
	return g_time_zone_get_offset(zone->zone, interval_at(zone, at_s));
}

int64_t cron_zone_change(const struct cron_zone *zone, int64_t from_s, int64_t to_s)
{
	int interval = interval_at(zone, from_s);
	int64_t same = from_s, other = to_s;

	if (interval_at(zone, to_s) == interval)
		return to_s + 1;
	while (other - same > 1) {
		int64_t middle = same + (other - same) / 2;
		if (interval_at(zone, middle) == interval)
			same = middle;
		else
			other = middle;
	}
	return other;
}
