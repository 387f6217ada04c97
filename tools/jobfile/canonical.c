// A job in which nothing is left out: what is not written is what the tables say, or what the job and its type say.
#include "tools/jobfile/jobfile.h"
#include "tools/jobfile/schema.h"
#include <stdio.h>
#include <string.h>

static const char *text_of_member(const json_t *object, const char *member)
{
	const char *text = json_string_value(json_object_get(object, member));
	return text ? text : "";
}

// Members of `from` that are there replace those of `to`.
static void overlay(json_t *to, const json_t *from)
{
	const char *key;
	json_t *value;
	if (json_is_object(from))
		json_object_foreach((json_t *)from, key, value) if (!json_is_absent(value))
			json_object_set(to, key, value);
}

// What depends on a job's type, as {"TYPE": …}; "" is every other.
static const char migrate_standard[] =
	"{'MaxParallel': 1, 'HealthCheck': 'checks', 'MinHealthyTime': 10000000000,"
	" 'HealthyDeadline': 300000000000}";
static const char restart_service[] =
	"{'Interval': 1800000000000, 'Attempts': 2, 'Delay': 15000000000, 'Mode': 'fail',"
	" 'RenderTemplates': false}";
static const char restart_batch[] =
	"{'Interval': 86400000000000, 'Attempts': 3, 'Delay': 15000000000, 'Mode': 'fail',"
	" 'RenderTemplates': false}";
static const struct {
	const char *type, *standard;
} reschedule_standards[] = {
	{"service", "{'Attempts': 0, 'Interval': 0, 'Delay': 30000000000, 'DelayFunction': "
		    "'exponential', 'MaxDelay': 3600000000000, 'Unlimited': true}"},
	{"batch", "{'Attempts': 1, 'Interval': 86400000000000, 'Delay': 5000000000, "
		  "'DelayFunction': 'constant', 'MaxDelay': 0, 'Unlimited': false}"},
	{NULL, "{'Attempts': 0, 'Interval': 0, 'Delay': 0, 'DelayFunction': '', 'MaxDelay': 0, "
	       "'Unlimited': false}"},
};

// JSON with single quotes.
static json_t *parse_standard(const char *text)
{
	char copy[400];
	snprintf(copy, sizeof copy, "%s", text);
	for (char *c = copy; *c; c++)
		if (*c == '\'')
			*c = '"';
	return json_loads(copy, 0, NULL);
}

static json_t *reschedule_standard(const char *type)
{
	uint32_t i = 0;
	while (reschedule_standards[i].type && strcmp(reschedule_standards[i].type, type) != 0)
		i++;
	return parse_standard(reschedule_standards[i].standard);
}

// A policy of the group: the job's, what the group says of it, and the standard for the rest.
static void put_policy(json_t *group, const char *member, const json_t *of_job, json_t *standard)
{
	json_t *own = json_incref(json_object_get(group, member));
	overlay(standard, of_job);
	overlay(standard, own);
	json_object_set_new(group, member, standard);
	json_decref(own);
}

static bool is_there(const json_t *object, const char *member)
{
	return !json_is_absent(json_object_get(object, member));
}

static void fill_policies(json_t *job, json_t *group)
{
	const char *type = text_of_member(job, "Type");
	bool service = strcmp(type, "service") == 0, system = strcmp(type, "system") == 0;
	if (is_there(job, "Update"))
		put_policy(group, "Update", json_object_get(job, "Update"),
			schema_empty(&update_schema));
	if (is_there(job, "Reschedule") || is_there(group, "ReschedulePolicy") || !system)
		put_policy(group, "ReschedulePolicy", json_object_get(job, "Reschedule"),
			reschedule_standard(type));
	if (is_there(job, "Migrate") || is_there(group, "Migrate") || service)
		put_policy(group, "Migrate", json_object_get(job, "Migrate"),
			parse_standard(migrate_standard));
	put_policy(group, "RestartPolicy", NULL,
		parse_standard(service || system ? restart_service : restart_batch));
}

static void fill_count(json_t *group)
{
	json_t *scaling = json_object_get(group, "Scaling");
	if (!is_there(group, "Count"))
		json_object_set_new(group, "Count",
			is_there(scaling, "Min") ? json_copy(json_object_get(scaling, "Min"))
						 : json_integer(1));
	if (!json_is_absent(scaling) && !is_there(scaling, "Min"))
		json_object_set_new(scaling, "Min", json_copy(json_object_get(group, "Count")));
}

static void fill_check(const json_t *service, json_t *check)
{
	static const char *const counts[] = {"SuccessBeforePassing", "FailuresBeforeCritical"};
	const json_t *of_service = json_object_get(service, "CheckRestart");
	json_t *own = json_object_get(check, "CheckRestart");
	if (!json_is_absent(of_service)) {
		json_t *both = json_deep_copy(of_service);
		if (json_integer_value(json_object_get(own, "Limit")) > 0)
			json_object_set(both, "Limit", json_object_get(own, "Limit"));
		if (is_there(own, "Grace"))
			json_object_set(both, "Grace", json_object_get(own, "Grace"));
		if (json_is_true(json_object_get(own, "IgnoreWarnings")))
			json_object_set_new(both, "IgnoreWarnings", json_true());
		json_object_set_new(check, "CheckRestart", both);
		own = both;
	}
	if (!json_is_absent(own) && !is_there(own, "Grace"))
		json_object_set_new(own, "Grace", json_integer(1000000000));
	for (uint32_t i = 0; i < 2; i++)
		if (json_integer_value(json_object_get(check, counts[i])) < 0)
			json_object_set_new(check, counts[i], json_integer(0));
	if (!*text_of_member(check, "OnUpdate"))
		json_object_set(check, "OnUpdate", json_object_get(service, "OnUpdate"));
}

static void fill_services(json_t *services, json_t *job, json_t *group, json_t *task)
{
	json_t *service, *check;
	size_t i, j;
	json_array_foreach(services, i, service)
	{
		if (!*text_of_member(service, "Name"))
			json_object_set_new(service, "Name",
				json_sprintf("%s-%s%s%s", text_of_member(job, "Name"),
					text_of_member(group, "Name"), task ? "-" : "",
					task ? text_of_member(task, "Name") : ""));
		json_array_foreach(json_object_get(service, "Checks"), j, check)
			fill_check(service, check);
	}
}

// The last part of a path, as a file below "local".
static json_t *file_destination(const char *source)
{
	size_t size = strlen(source);
	while (size > 0 && source[size - 1] == '/')
		size--;
	size_t from = size;
	while (from > 0 && source[from - 1] != '/')
		from--;
	if (size == 0)
		return json_string("local");
	return json_sprintf("local/%.*s", (int)(size - from), source + from);
}

static void fill_artifact(json_t *artifact)
{
	if (!is_there(artifact, "RelativeDest"))
		json_object_set_new(artifact, "RelativeDest",
			strcmp(text_of_member(artifact, "GetterMode"), "file") == 0
				? file_destination(text_of_member(artifact, "GetterSource"))
				: json_string("local/"));
}

static void fill_template(json_t *template)
{
	if (!is_there(template, "ChangeSignal")) {
		bool signals = strcmp(text_of_member(template, "ChangeMode"), "signal") == 0;
		json_object_set_new(template, "ChangeSignal", json_string(signals ? "SIGHUP" : ""));
		return;
	}
	json_t *upper = json_copy(json_object_get(template, "ChangeSignal"));
	char *c = (char *)json_string_value(upper);
	for (; *c; c++)
		if (*c >= 'a' && *c <= 'z')
			*c = (char)(*c - 'a' + 'A');
	json_object_set_new(template, "ChangeSignal", upper);
}

// Who asks for whole cores asks for no share of them.
static void fill_processors(json_t *resources)
{
	bool cores = is_there(resources, "Cores");
	if (json_is_absent(resources))
		return;
	if (!is_there(resources, "CPU"))
		json_object_set_new(resources, "CPU", json_integer(cores ? 0 : 100));
	if (!cores)
		json_object_set_new(resources, "Cores", json_integer(0));
}

static void fill_sidecars(json_t *services)
{
	json_t *service;
	size_t i;
	json_array_foreach(services, i, service)
	{
		json_t *connect = json_object_get(service, "Connect");
		fill_processors(
			json_object_get(json_object_get(connect, "SidecarTask"), "Resources"));
	}
}

static void fill_task(json_t *job, json_t *group, json_t *task)
{
	json_t *each, *lifecycle = json_object_get(task, "Lifecycle");
	size_t i;
	fill_processors(json_object_get(task, "Resources"));
	json_array_foreach(json_object_get(task, "Artifacts"), i, each) fill_artifact(each);
	json_array_foreach(json_object_get(task, "Templates"), i, each) fill_template(each);
	if (!json_is_absent(lifecycle) && !*text_of_member(lifecycle, "Hook"))
		json_object_set_new(task, "Lifecycle", json_null());
	fill_services(json_object_get(task, "Services"), job, group, task);
	fill_sidecars(json_object_get(task, "Services"));
	put_policy(task, "RestartPolicy", NULL,
		json_deep_copy(json_object_get(group, "RestartPolicy")));
}

void jobfile_canonicalize(json_t *job)
{
	json_t *group, *task;
	size_t i, j;
	if (!is_there(job, "Name") && is_there(job, "ID"))
		json_object_set_new(job, "Name", json_copy(json_object_get(job, "ID")));
	if (!is_there(job, "Update") &&
		(!is_there(job, "Type") || strcmp(text_of_member(job, "Type"), "service") == 0))
		json_object_set_new(job, "Update", schema_empty(&update_schema));
	json_array_foreach(json_object_get(job, "TaskGroups"), i, group) fill_count(group);
	// What a group says of a policy is laid over the job's before the rest of either is filled in.
	member_fill(schema_member(&job_schema, "type", 4), job);
	member_fill(schema_member(&job_schema, "update", 6), job);
	json_array_foreach(json_object_get(job, "TaskGroups"), i, group) fill_policies(job, group);
	schema_fill(&job_schema, job);
	json_array_foreach(json_object_get(job, "TaskGroups"), i, group)
	{
		fill_services(json_object_get(group, "Services"), job, group, NULL);
		fill_sidecars(json_object_get(group, "Services"));
		json_array_foreach(json_object_get(group, "Tasks"), j, task)
			fill_task(job, group, task);
	}
}
