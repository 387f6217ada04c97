// What an agent is told to run.
#include "state/records/alloc_details.h"
#include "state/records/job.h"
#include "tools/forms/alloc_spec.h"
#include "tools/keyring/task_token.h"
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void add_pair(struct array *map, const char *name, const char *value)
{
	struct string_pair *pair = array_append(map, sizeof *pair);
	pair->name = text_copy(text_of(name));
	pair->value = text_copy(text_of(value));
}

static struct job *build(void)
{
	struct job *job = job_create();
	job->namespace_name = text_copy(TEXT("default"));
	job->id = text_copy(TEXT("web-id"));
	job->name = text_copy(TEXT("web"));
	job->region = text_copy(TEXT("global"));
	job->type = JOB_SYSTEM;
	add_pair(&job->meta, "from", "job");
	add_pair(&job->meta, "team", "a");
	struct task_group *group = array_append(&job->task_groups, sizeof *group);
	record_init(&task_group_description, group);
	group->name = text_copy(TEXT("g"));
	add_pair(&group->meta, "from", "group");
	group->restart = calloc(1, sizeof *group->restart);
	group->restart->attempts = 2;
	group->restart->interval_ns = 1800000000000;
	group->restart->mode = text_copy(TEXT("fail"));
	struct task *task = array_append(&group->tasks, sizeof *task);
	record_init(&task_description, task);
	task->name = text_copy(TEXT("server"));
	task->driver = text_copy(TEXT("raw_exec"));
	task->config = text_copy(TEXT("{\"command\":\"/bin/true\",\"args\":[\"-v\"]}"));
	task->templates = text_copy(TEXT("[{\"DestPath\":\"local/x\"}]"));
	task->volume_mounts = text_copy(TEXT("[{\"Volume\":\"v\"}]"));
	struct volume_ask *ask = array_append(&group->volumes, sizeof *ask);
	*ask = (struct volume_ask){.name = text_copy(TEXT("v")),
		.source = text_copy(TEXT("data")),
		.read_only = true,
		.per_alloc = true};
	task->artifacts = text_copy(TEXT("[{\"GetterSource\":\"http://x/y\"}]"));
	task->resources.cpu = 500;
	task->lifecycle = calloc(1, sizeof *task->lifecycle);
	task->lifecycle->hook = text_copy(TEXT("prestart"));
	add_pair(&task->env, "A", "b\n\"c\"");
	add_pair(&task->meta, "from", "task");
	assert_true(job_derive(job));
	return job;
}

static json_t *render_with(struct keyring *keyring, const struct allocation *a)
{
	struct bytes_writer out = bytes_writer_growing(16);
	json_error_t error;
	alloc_spec_json(keyring, a, &out);
	assert_false(out.failed);
	json_t *json = json_loadb((const char *)out.data, out.size, 0, &error);
	if (!json)
		fail_msg("%s at %d", error.text, error.position);
	bytes_writer_free(&out);
	return json;
}

static json_t *render(const struct allocation *a)
{
	return render_with(NULL, a);
}

static const char *string_at(const json_t *json, const char *key)
{
	const char *value = json_string_value(json_object_get(json, key));
	assert_non_null(value);
	return value;
}

static void a_task_is_described(void **unused)
{
	struct allocation a = {.id = {{1, 2}}, .job = build(), .index = 3};
	json_t *json = render(&a);
	assert_string_equal(string_at(json, "Name"), "web.g[3]");
	assert_string_equal(string_at(json, "JobID"), "web-id");
	assert_string_equal(string_at(json, "JobType"), "system");
	assert_int_equal(json_integer_value(json_object_get(json, "Index")), 3);
	assert_int_equal(json_array_size(json_object_get(json, "Ports")), 0);
	const json_t *task = json_array_get(json_object_get(json, "Tasks"), 0);
	assert_string_equal(string_at(task, "Driver"), "raw_exec");
	assert_string_equal(string_at(json_object_get(task, "Config"), "command"), "/bin/true");
	assert_string_equal(string_at(json_object_get(task, "Env"), "A"), "b\n\"c\"");
	assert_string_equal(
		string_at(json_array_get(json_object_get(task, "Templates"), 0), "DestPath"),
		"local/x");
	assert_string_equal(
		string_at(json_array_get(json_object_get(task, "Artifacts"), 0), "GetterSource"),
		"http://x/y");
	assert_string_equal(
		string_at(json_array_get(json_object_get(task, "VolumeMounts"), 0), "Volume"), "v");
	const json_t *volume = json_object_get(json_object_get(json, "Volumes"), "v");
	char source[40];
	snprintf(source, sizeof source, "data[%u]", a.index);
	assert_string_equal(string_at(volume, "Source"), source);
	assert_true(json_is_true(json_object_get(volume, "ReadOnly")));
	assert_string_equal(string_at(json_object_get(task, "Meta"), "from"), "task");
	assert_string_equal(string_at(json_object_get(task, "Meta"), "team"), "a");
	assert_int_equal(json_object_size(json_object_get(task, "Meta")), 2);
	assert_string_equal(string_at(json_object_get(task, "RestartPolicy"), "Mode"), "fail");
	assert_string_equal(string_at(json_object_get(task, "Lifecycle"), "Hook"), "prestart");
	assert_int_equal(json_integer_value(json_object_get(task, "CPU")), 500);
	assert_int_equal(json_integer_value(json_object_get(task, "MemoryMaxMB")), 0);
	json_decref(json);
	job_free(a.job);
}

// The task finds an empty text for what a dispatch may say and did not.
static void optional_metadata_is_empty(void **unused)
{
	struct allocation a = {.id = {{1}}, .job = build()};
	struct parameterized_config *p = calloc(1, sizeof *p);
	a.job->parameterized = p;
	*(char **)array_append(&p->meta_optional, sizeof(char *)) = text_copy(TEXT("from"));
	*(char **)array_append(&p->meta_optional, sizeof(char *)) = text_copy(TEXT("why"));
	json_t *json = render(&a);
	const json_t *task = json_array_get(json_object_get(json, "Tasks"), 0);
	assert_string_equal(string_at(json_object_get(task, "Meta"), "from"), "task");
	assert_string_equal(string_at(json_object_get(task, "Meta"), "why"), "");
	json_decref(json);
	job_free(a.job);
}

// What a task may show goes to those that ask for it, and is made for that task.
static void a_task_that_asks_gets_a_token(void **unused)
{
	static const struct {
		const char *asked;
		bool in_env, in_file;
	} rows[] = {{"{\"Env\":true}", true, false}, {"{\"Env\":false,\"File\":true}", false, true},
		{"{\"Name\":\"x\",\"Env\":true,\"File\":true}", true, true},
		{"{\"Env\":false,\"File\":false}", false, false}, {"{}", false, false},
		{"null", false, false}, {NULL, false, false}};
	struct keyring *keyring = keyring_create();
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct allocation a = {.id = {{1, 7}}, .job = build()};
		struct task *own = ARRAY_AT(&allocation_group(&a)->tasks, struct task, 0);
		struct task_token token;
		own->identity = rows[i].asked ? text_copy(text_of(rows[i].asked)) : NULL;
		json_t *json = render_with(keyring, &a), *without = render(&a);
		const json_t *task = json_array_get(json_object_get(json, "Tasks"), 0);
		const json_t *identity = json_object_get(task, "Identity");
		assert_int_equal(json_is_object(identity), rows[i].in_env || rows[i].in_file);
		assert_int_equal(json_is_true(json_object_get(identity, "Env")), rows[i].in_env);
		assert_int_equal(json_is_true(json_object_get(identity, "File")), rows[i].in_file);
		if (identity && json_is_object(identity)) {
			assert_true(task_token_read(string_at(identity, "Token"), &token));
			assert_true(uuid_equal(&token.allocation, &a.id));
			assert_true(task_token_is_of(keyring, &token, "server"));
		}
		task = json_array_get(json_object_get(without, "Tasks"), 0);
		assert_true(json_is_null(json_object_get(task, "Identity")));
		json_decref(json);
		json_decref(without);
		job_free(a.job);
	}
	keyring_destroy(keyring);
}

// As it was reported by the task of that name, be it of another allocation.
static void a_task_comes_with_its_handle(void **unused)
{
	struct allocation a = {.id = {{1}}, .job = build(), .report = alloc_report_create()};
	struct task_state *state = array_append(&a.report->task_states, sizeof *state);
	state->task = text_copy(TEXT("other"));
	state->handle = calloc(1, sizeof *state->handle);
	json_t *json = render(&a);
	const json_t *task = json_array_get(json_object_get(json, "Tasks"), 0);
	assert_true(json_is_null(json_object_get(task, "TaskHandle")));
	json_decref(json);
	free(state->task);
	state->task = text_copy(TEXT("server"));
	state->handle->version = 4;
	state->handle->driver_state = text_copy(TEXT("aS0wN2Yz"));
	json = render(&a);
	task = json_array_get(json_object_get(json, "Tasks"), 0);
	const json_t *handle = json_object_get(task, "TaskHandle");
	assert_int_equal(json_integer_value(json_object_get(handle, "Version")), 4);
	assert_string_equal(string_at(handle, "DriverState"), "aS0wN2Yz");
	json_decref(json);
	alloc_report_release(a.report);
	job_free(a.job);
}

static void ports_and_cores_are_told(void **unused)
{
	struct allocation a = {.id = {{1}}, .job = build()};
	a.details = alloc_details_create();
	struct allocated_port *port = array_append(&a.details->ports, sizeof *port);
	port->label = text_copy(TEXT("http"));
	port->value = 25000;
	port->to = 8080;
	port->host_ip = text_copy(TEXT("192.0.2.7"));
	struct allocated_task *own = array_append(&a.details->tasks, sizeof *own);
	own->task = text_copy(TEXT("server"));
	*(int64_t *)array_append(&own->reserved_cores, sizeof(int64_t)) = 5;
	own->cpu_shares = 2600;
	own->memory_max_mb = 512;
	struct allocated_network *network = array_append(&own->networks, sizeof *network);
	network->ip = text_copy(TEXT("192.0.2.8"));
	struct port *dynamic = array_append(&network->dynamic_ports, sizeof *dynamic);
	dynamic->label = text_copy(TEXT("admin"));
	dynamic->value = 25001;
	json_t *json = render(&a);
	const json_t *shown = json_array_get(json_object_get(json, "Ports"), 0);
	assert_string_equal(string_at(shown, "Label"), "http");
	assert_int_equal(json_integer_value(json_object_get(shown, "Value")), 25000);
	assert_int_equal(json_integer_value(json_object_get(shown, "To")), 8080);
	const json_t *task = json_array_get(json_object_get(json, "Tasks"), 0);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(task, "Cores"), 0)), 5);
	assert_int_equal(json_integer_value(json_object_get(task, "CPU")), 2600);
	assert_int_equal(json_integer_value(json_object_get(task, "MemoryMaxMB")), 512);
	shown = json_array_get(json_object_get(task, "Ports"), 0);
	assert_string_equal(string_at(shown, "HostIP"), "192.0.2.8");
	json_decref(json);
	alloc_details_release(a.details);
	job_free(a.job);
}

static int64_t number_at(const json_t *json, const char *key)
{
	const json_t *value = json_object_get(json, key);
	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

static void rules_of_health_and_silence_are_told(void **unused)
{
	struct allocation a = {.id = {{1}}, .job = build()};
	struct task_group *group = ARRAY_AT(&a.job->task_groups, struct task_group, 0);
	json_t *json = render(&a);
	assert_string_equal(string_at(json, "DeploymentID"), "");
	assert_null(json_object_get(json, "Update"));
	assert_null(json_object_get(json, "Migrate"));
	assert_int_equal(number_at(json, "StopAfterClientDisconnect"), 0);
	json_decref(json);
	group->update = calloc(1, sizeof *group->update);
	group->update->health_check = text_copy(TEXT("manual"));
	group->update->min_healthy_time_ns = 11;
	group->update->healthy_deadline_ns = 12;
	group->migrate = calloc(1, sizeof *group->migrate);
	group->migrate->health_check = text_copy(TEXT("checks"));
	group->migrate->min_healthy_time_ns = 21;
	group->migrate->healthy_deadline_ns = 22;
	group->stop_after_client_disconnect_ns = (struct optional_i64){true, 31};
	a.job->version = 4;
	a.details = alloc_details_create();
	a.details->deployment_id = (struct uuid){{0xd1}};
	json = render(&a);
	assert_string_equal(
		string_at(json, "DeploymentID"), "d1000000-0000-0000-0000-000000000000");
	assert_string_equal(string_at(json_object_get(json, "Update"), "HealthCheck"), "manual");
	assert_int_equal(number_at(json_object_get(json, "Update"), "MinHealthyTime"), 11);
	assert_int_equal(number_at(json_object_get(json, "Update"), "HealthyDeadline"), 12);
	assert_int_equal(number_at(json_object_get(json, "Migrate"), "MinHealthyTime"), 21);
	assert_int_equal(number_at(json_object_get(json, "Migrate"), "HealthyDeadline"), 22);
	assert_int_equal(number_at(json, "StopAfterClientDisconnect"), 31);
	assert_int_equal(number_at(json, "JobVersion"), 4);
	json_decref(json);
	alloc_details_release(a.details);
	job_free(a.job);
}

static void a_dispatched_job_brings_its_payload(void **unused)
{
	struct allocation a = {.id = {{1}}, .job = build()};
	struct task_group *group = ARRAY_AT(&a.job->task_groups, struct task_group, 0);
	struct task *task = ARRAY_AT(&group->tasks, struct task, 0);
	a.job->payload = text_copy(TEXT("aGVsbG8="));
	task->dispatch_payload = text_copy(TEXT("{\"File\":\"in.txt\"}"));
	json_t *json = render(&a);
	assert_string_equal(string_at(json, "Payload"), "aGVsbG8=");
	const json_t *shown = json_array_get(json_object_get(json, "Tasks"), 0);
	assert_string_equal(string_at(json_object_get(shown, "DispatchPayload"), "File"), "in.txt");
	json_decref(json);
	job_free(a.job);
}

static void services_are_told_for_their_checks(void **unused)
{
	struct allocation a = {.id = {{1}}, .job = build()};
	struct task_group *group = ARRAY_AT(&a.job->task_groups, struct task_group, 0);
	struct task *task = ARRAY_AT(&group->tasks, struct task, 0);
	json_t *json = render(&a);
	assert_null(json_object_get(json, "Services"));
	json_decref(json);
	group->services = text_copy(TEXT("[{\"Name\":\"of-group\"}]"));
	task->services = text_copy(TEXT("[{\"Name\":\"of-task\"}]"));
	json = render(&a);
	const json_t *shown = json_array_get(json_object_get(json, "Services"), 0);
	assert_string_equal(string_at(shown, "Name"), "of-group");
	const json_t *told = json_array_get(json_object_get(json, "Tasks"), 0);
	shown = json_array_get(json_object_get(told, "Services"), 0);
	assert_string_equal(string_at(shown, "Name"), "of-task");
	json_decref(json);
	job_free(a.job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_task_is_described),
		cmocka_unit_test(optional_metadata_is_empty),
		cmocka_unit_test(a_task_comes_with_its_handle),
		cmocka_unit_test(a_task_that_asks_gets_a_token),
		cmocka_unit_test(ports_and_cores_are_told),
		cmocka_unit_test(rules_of_health_and_silence_are_told),
		cmocka_unit_test(a_dispatched_job_brings_its_payload),
		cmocka_unit_test(services_are_told_for_their_checks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
