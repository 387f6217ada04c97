#include "tools/berth/cli/field.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include <stdio.h>
#include <time.h>

const char *field_text(json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));
	return text ? text : "";
}

const char *field_or_dash(json_t *object, const char *name)
{
	const char *text = field_text(object, name);
	return *text ? text : "-";
}

int64_t field_number(json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

double field_real(json_t *object, const char *name)
{
	return json_number_value(json_object_get(object, name));
}

const char *field_short(const char *id, char buffer[static 16])
{
	snprintf(buffer, 16, "%.8s", id);
	return buffer;
}

const char *field_time(int64_t unix_ns, char buffer[static 32])
{
	time_t seconds = (time_t)(unix_ns / NS_PER_S);
	struct tm utc;
	if (unix_ns <= 0 || !gmtime_r(&seconds, &utc))
		snprintf(buffer, 32, "never");
	else
		strftime(buffer, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
	return buffer;
}

const char *field_age(int64_t unix_ns, char buffer[static 32])
{
	int64_t s = ((int64_t)time_wall_ns(&time_source_real) - unix_ns) / NS_PER_S;
	if (unix_ns <= 0)
		snprintf(buffer, 32, "never");
	else if (s < 60)
		snprintf(buffer, 32, "%llds ago", (long long)(s < 0 ? 0 : s));
	else if (s < 3600)
		snprintf(buffer, 32, "%lldm%llds ago", (long long)s / 60, (long long)s % 60);
	else if (s < 86400)
		snprintf(buffer, 32, "%lldh%lldm ago", (long long)s / 3600, (long long)s / 60 % 60);
	else
		snprintf(buffer, 32, "%lldd%lldh ago", (long long)s / 86400,
			(long long)s / 3600 % 24);
	return buffer;
}

void field_print(json_t *value)
{
	json_dumpf(value, stdout, JSON_INDENT(4) | JSON_ENCODE_ANY);
	putchar('\n');
}
