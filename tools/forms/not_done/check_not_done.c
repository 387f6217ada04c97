#include "tools/forms/not_done/check_not_done.h"
#include "state/base/time_units.h"
#include <stdio.h>
#include <string.h>

#define TIME_NS_MIN (1 * (json_int_t)NS_PER_S)

static const char *text_in(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}

static void judge_times(const json_t *check, const char *place, struct json_sentences *refusals)
{
	static const char *const times[] = {"Interval", "Timeout"};
	for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
		json_int_t ns = json_integer_value(json_object_get(check, times[i]));
		if (ns < TIME_NS_MIN)
			json_sentence(refusals, "%s.%s: %lldns cannot be lower than 1s", place,
				times[i], (long long)ns);
	}
}

static void judge_check(const json_t *check, bool is_of_group, const char *place,
	struct json_sentences *warnings, struct json_sentences *refusals)
{
	static const char *const ignored[] = {"Expose", "Advertise", "GRPCService", "GRPCUseTLS"};
	const char *type = text_in(check, "Type");
	bool is_script = strcmp(type, "script") == 0;
	if (strcmp(type, "grpc") == 0)
		json_sentence(refusals,
			"%s: a check of the type \"grpc\" is not run by any node; use one of http, "
			"tcp or script",
			place);
	else if (!is_script && strcmp(type, "http") != 0 && strcmp(type, "tcp") != 0)
		json_sentence(refusals,
			"%s: invalid check type (\"%.32s\"), must be one of tcp, http, script",
			place, type);
	if (is_script && is_of_group && !*text_in(check, "TaskName"))
		json_sentence(refusals,
			"%s: a check of the type \"script\" must specify task parameter: in which "
			"task it runs",
			place);
	for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++) {
		const json_t *value = json_object_get(check, ignored[i]);
		if (json_is_true(value) || json_string_length(value) > 0)
			json_sentence(warnings, "%s.%s: has no meaning here", place, ignored[i]);
	}
	if (strcmp(type, "http") == 0 && !*text_in(check, "Path"))
		json_sentence(refusals, "%s: http type must have http path", place);
	judge_times(check, place, refusals);
}

void check_not_done(const json_t *services, bool is_of_group, const char *place,
	struct json_sentences *warnings, struct json_sentences *refusals)
{
	char text[400];
	size_t i, k;
	const json_t *service, *check;
	json_array_foreach(services, i, service)
	{
		json_array_foreach(json_object_get(service, "Checks"), k, check)
		{
			snprintf(text, sizeof text, "%s: Services[%zu].Checks[%zu]", place, i, k);
			judge_check(check, is_of_group, text, warnings, refusals);
		}
	}
}
