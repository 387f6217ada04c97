// What differs between two versions of a job, and what is said of it.
#include "placement/job_check/job_check.h"
#include "state/base/memory.h"
#include "state/records/plan.h"
#include "tools/forms/diff/job_diff.h"
#include "tools/json/json_reader.h"
#include "tools/json/json_record.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const char base[] =
	"{'ID':'web','Type':'system','Datacenters':['dc1','dc2'],'Meta':{'owner':'a'},"
	"'Constraints':[{'LTarget':'${attr.kernel.name}','RTarget':'linux','Operand':'='}],"
	"'TaskGroups':[{'Name':'g','Count':1,'Networks':[{'Mode':'host','DynamicPorts':[{'Label':"
	"'http'}]}],'Tasks':[{'Name':'t','Driver':'exec','Config':{'command':'/bin/a','args':['x',"
	"'y']},'Env':{'A':'1','B':'2'},'Resources':{'CPU':500,'MemoryMB':256}}]}]}";

// The job of a text whose quotes are single.
static struct job *job_of(const char *text)
{
	char *json = text_copy(text_of(text));
	for (char *at = json; *at; at++)
		*at = *at == '\'' ? '"' : *at;
	json_t *value = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
	free(json);
	assert_non_null(value);
	struct json_report report = {0};
	struct job *job = job_create();
	json_read_record(&job_type_description, job, value, "Job", &report);
	assert_int_equal(report.errors.count, 0);
	json_report_free(&report);
	json_decref(value);
	job_canonicalize(job);
	return job;
}

static struct job *job_with(const char *from, const char *to)
{
	char text[4096];
	const char *at = strstr(base, from);
	assert_non_null(at);
	snprintf(text, sizeof text, "%.*s%s%s", (int)(at - base), base, to, at + strlen(from));
	return job_of(text);
}

// The JSON of the diff; consumes both.
static json_t *diff_of(struct job *before, struct job *after, const struct array *updates)
{
	struct job_diff diff;
	struct json_writer w = {0};
	job_diff_make(before, after, &diff);
	if (updates)
		job_diff_annotate(&diff, updates);
	json_record(&w, &job_diff_description, &diff);
	json_t *value = json_loadb(w.data, w.size, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(value);
	json_writer_free(&w);
	record_release(&job_diff_description, &diff);
	job_free(before);
	job_free(after);
	return value;
}

static const char *text(json_t *object, const char *name)
{
	const char *value = json_string_value(json_object_get(object, name));
	return value ? value : "(none)";
}

// The item of a list that has this name, and nothing else of the name.
static json_t *named(json_t *object, const char *list, const char *name)
{
	json_t *found = NULL, *item;
	size_t i;
	json_array_foreach(json_object_get(object, list), i, item)
	{
		if (strcmp(text(item, "Name"), name) != 0)
			continue;
		assert_null(found);
		found = item;
	}
	if (!found)
		fail_msg("no %s in %s", name, list);
	return found;
}

static void expect_field(
	json_t *object, const char *name, const char *type, const char *before, const char *after)
{
	json_t *field = named(object, "Fields", name);
	assert_string_equal(text(field, "Type"), type);
	assert_string_equal(text(field, "Old"), before);
	assert_string_equal(text(field, "New"), after);
}

static size_t count(json_t *object, const char *list)
{
	return json_array_size(json_object_get(object, list));
}

static void the_same_job_differs_in_nothing(void **unused)
{
	json_t *diff = diff_of(job_of(base), job_of(base), NULL);
	assert_string_equal(text(diff, "Type"), "None");
	assert_string_equal(text(diff, "ID"), "web");
	assert_true(json_is_null(json_object_get(diff, "Fields")));
	assert_true(json_is_null(json_object_get(diff, "Objects")));
	json_t *group = named(diff, "TaskGroups", "g"), *task = named(group, "Tasks", "t");
	assert_string_equal(text(group, "Type"), "None");
	assert_true(json_is_null(json_object_get(group, "Updates")));
	assert_string_equal(text(task, "Type"), "None");
	assert_true(json_is_null(json_object_get(task, "Annotations")));
	json_decref(diff);
}

static void a_new_job_is_added_whole(void **unused)
{
	struct desired_updates wanted = {.group = (char *)"g", .place = 3};
	struct array updates = {&wanted, 1};
	json_t *diff = diff_of(NULL, job_of(base), &updates);
	assert_string_equal(text(diff, "Type"), "Added");
	static const char *const fields[] = {"AllAtOnce", "Dispatched", "Meta[owner]", "Name",
		"Namespace", "NodePool", "Priority", "Region", "Stop", "Type"};
	assert_int_equal(count(diff, "Fields"), sizeof fields / sizeof fields[0]);
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
		assert_string_equal(
			text(json_array_get(json_object_get(diff, "Fields"), i), "Name"),
			fields[i]);
	expect_field(diff, "Priority", "Added", "", "50");
	expect_field(diff, "AllAtOnce", "Added", "", "false");
	json_t *datacenters = named(diff, "Objects", "Datacenters");
	assert_int_equal(count(datacenters, "Fields"), 2);
	expect_field(named(diff, "Objects", "Constraint"), "RTarget", "Added", "", "linux");
	json_t *group = named(diff, "TaskGroups", "g"), *task = named(group, "Tasks", "t");
	assert_string_equal(text(group, "Type"), "Added");
	assert_string_equal(
		json_string_value(json_array_get(
			json_object_get(named(group, "Fields", "Count"), "Annotations"), 0)),
		"forces create");
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(group, "Updates"), "create")),
		3);
	assert_int_equal(json_object_size(json_object_get(group, "Updates")), 1);
	json_t *network = named(group, "Objects", "Network");
	json_t *port = named(network, "Objects", "Dynamic Port");
	expect_field(port, "Label", "Added", "", "http");
	expect_field(named(group, "Objects", "RestartPolicy"), "Delay", "Added", "", "15000000000");
	expect_field(task, "Env[A]", "Added", "", "1");
	expect_field(named(task, "Objects", "Config"), "args[1]", "Added", "", "y");
	expect_field(named(task, "Objects", "Resources"), "CPU", "Added", "", "500");
	assert_string_equal(
		json_string_value(json_array_get(json_object_get(task, "Annotations"), 0)),
		"forces create");
	json_decref(diff);
}

static void clients_of_a_direct_job_come_and_go(void **unused)
{
	json_t *diff = diff_of(job_with("'system'", "'direct','Direct':{'Clients':['ann']}"),
		job_with("'system'", "'direct','Direct':{'Clients':['ann','c*']}"), NULL);
	json_t *clients = named(named(diff, "Objects", "Direct"), "Objects", "Clients");
	expect_field(clients, "Clients", "Added", "", "c*");
	json_decref(diff);
	diff = diff_of(job_with("'system'", "'direct','Direct':{}"),
		job_with("'system'", "'direct','Direct':{'Clients':[]}"), NULL);
	assert_string_equal(text(diff, "Type"), "None");
	json_decref(diff);
}

static void expect_task_change(
	const char *from, const char *to, const char *field, const char *annotation)
{
	struct array none = {0};
	json_t *diff = diff_of(job_of(base), job_with(from, to), &none);
	assert_string_equal(text(diff, "Type"), "Edited");
	json_t *group = named(diff, "TaskGroups", "g"), *task = named(group, "Tasks", "t");
	assert_string_equal(text(group, "Type"), "Edited");
	assert_string_equal(text(task, "Type"), "Edited");
	assert_int_equal(count(task, "Fields"), field ? 1 : 0);
	if (field)
		named(task, "Fields", field);
	assert_string_equal(
		json_string_value(json_array_get(json_object_get(task, "Annotations"), 0)),
		annotation);
	json_decref(diff);
}

static void changes_of_tasks_say_what_they_force(void **unused)
{
	expect_task_change("'A':'1'", "'A':'2'", "Env[A]", "forces create/destroy update");
	expect_task_change("'Driver':'exec'", "'Driver':'exec','KillTimeout':'9s'", "KillTimeout",
		"forces in-place update");
	expect_task_change("'CPU':500", "'CPU':501", NULL, "forces create/destroy update");
	expect_task_change("'/bin/a'", "'/bin/b'", NULL, "forces create/destroy update");
	expect_task_change("'Name':'t'",
		"'Name':'t','Constraints':[{'LTarget':'a','RTarget':'b','Operand':'='}]", NULL,
		"forces in-place update");
	expect_task_change("'Name':'t'", "'Name':'t','RestartPolicy':{'Attempts':1}", NULL,
		"forces in-place update");
	expect_task_change(
		"'Name':'t'", "'Name':'t','User':'nobody'", "User", "forces create/destroy update");
}

static void an_edited_block_shows_what_stayed(void **unused)
{
	json_t *diff = diff_of(job_of(base), job_with("'CPU':500", "'CPU':501"), NULL);
	json_t *task = named(named(diff, "TaskGroups", "g"), "Tasks", "t");
	json_t *resources = named(task, "Objects", "Resources");
	assert_string_equal(text(resources, "Type"), "Edited");
	expect_field(resources, "CPU", "Edited", "500", "501");
	expect_field(resources, "MemoryMB", "None", "256", "256");
	assert_int_equal(count(task, "Objects"), 1);
	json_decref(diff);
}

static void sets_come_and_go(void **unused)
{
	json_t *diff = diff_of(job_of(base),
		job_with("'linux','Operand':'='}",
			"'bsd','Operand':'='},{'LTarget':'a','RTarget':'b','Operand':'='}"),
		NULL);
	json_t *objects = json_object_get(diff, "Objects");
	assert_int_equal(json_array_size(objects), 3);
	static const char *const types[] = {"Added", "Added", "Deleted"};
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(text(json_array_get(objects, i), "Name"), "Constraint");
		assert_string_equal(text(json_array_get(objects, i), "Type"), types[i]);
	}
	json_decref(diff);
	diff = diff_of(job_of(base), job_with("'dc1','dc2'", "'dc2','dc3'"), NULL);
	json_t *datacenters = named(diff, "Objects", "Datacenters");
	assert_string_equal(text(datacenters, "Type"), "Edited");
	assert_int_equal(count(datacenters, "Fields"), 2);
	json_decref(diff);
}

static void groups_and_tasks_come_and_go_by_name(void **unused)
{
	struct array none = {0};
	json_t *diff = diff_of(job_of(base), job_with("'Name':'g'", "'Name':'h'"), &none);
	json_t *gone = named(diff, "TaskGroups", "g"), *come = named(diff, "TaskGroups", "h");
	assert_string_equal(text(gone, "Type"), "Deleted");
	assert_string_equal(text(come, "Type"), "Added");
	expect_field(gone, "Count", "Deleted", "1", "");
	assert_string_equal(
		json_string_value(json_array_get(
			json_object_get(named(gone, "Fields", "Count"), "Annotations"), 0)),
		"forces destroy");
	assert_string_equal(json_string_value(json_array_get(
				    json_object_get(named(gone, "Tasks", "t"), "Annotations"), 0)),
		"forces destroy");
	json_decref(diff);
	diff = diff_of(job_of(base), job_with("'Name':'t'", "'Name':'u'"), &none);
	json_t *group = named(diff, "TaskGroups", "g");
	assert_string_equal(text(named(group, "Tasks", "t"), "Type"), "Deleted");
	assert_string_equal(text(named(group, "Tasks", "u"), "Type"), "Added");
	assert_string_equal(json_string_value(json_array_get(
				    json_object_get(named(group, "Tasks", "u"), "Annotations"), 0)),
		"forces create/destroy update");
	json_decref(diff);
}

// Every field that a job's parts have, but those the server keeps, tells two versions apart.
static void a_changed_number_is_always_seen(void **unused)
{
	static const char *const changes[][2] = {
		{"'ID':'web'", "'ID':'web','Priority':51"},
		{"'ID':'web'", "'ID':'web','AllAtOnce':true"},
		{"'owner':'a'", "'owner':'b'"},
		{"'Count':1", "'Count':0"},
		{"'Mode':'host'", "'Mode':'bridge'"},
		{"'Label':'http'", "'Label':'https'"},
		{"'Label':'http'", "'Label':'http','To':80"},
		{"'Count':1", "'Count':1,'ShutdownDelay':5"},
		{"'Count':1", "'Count':1,'Meta':{'a':'b'}"},
		{"'Count':1", "'Count':1,'EphemeralDisk':{'SizeMB':5}"},
		{"'Count':1", "'Count':1,'Services':[{'Name':'s','PortLabel':'http'}]"},
		{"'Count':1",
			"'Count':1,'Volumes':{'v':{'Name':'v','Type':'host','Source':'data'}}"},
		{"'CPU':500", "'CPU':500,'Devices':[{'Name':'gpu','Count':1}]"},
		{"'Name':'t'", "'Name':'t','Templates':[{'DestPath':'x'}]"},
		{"'Name':'t'", "'Name':'t','Lifecycle':{'Hook':'prestart'}"},
	};
	for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
		json_t *diff = diff_of(job_of(base), job_with(changes[i][0], changes[i][1]), NULL);
		if (strcmp(text(diff, "Type"), "Edited") != 0)
			fail_msg("%s is not seen", changes[i][1]);
		char *shown = json_dumps(diff, JSON_COMPACT);
		if (!strstr(shown, "\"Edited\",\"Name\"") && !strstr(shown, "\"Added\",\"Name\""))
			fail_msg("%s is not shown: %s", changes[i][1], shown);
		free(shown);
		json_decref(diff);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_job_differs_in_nothing),
		cmocka_unit_test(a_new_job_is_added_whole),
		cmocka_unit_test(changes_of_tasks_say_what_they_force),
		cmocka_unit_test(an_edited_block_shows_what_stayed),
		cmocka_unit_test(sets_come_and_go),
		cmocka_unit_test(clients_of_a_direct_job_come_and_go),
		cmocka_unit_test(groups_and_tasks_come_and_go_by_name),
		cmocka_unit_test(a_changed_number_is_always_seen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
