// Virtual machines, their workers and settings over HTTP: what is stored, what is refused, what waits.
#include "state/records/nodes/vm.h"
#include "state/tables/state.h"
#include "tests/tools/api/scheduling.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static json_t *create(const char *body)
{
	return http_json(server, "PUT", "/v1/vms", body);
}

static const char *condition(json_t *vm, const char *type)
{
	size_t i;
	json_t *c;
	json_array_foreach(json_object_get(vm, "conditions"), i,
		c) if (strcmp(member_text(c, "type"), type) == 0) return member_text(c, "state");
	return "";
}

static void give_to(const char *vm_name, const char *worker_name)
{
	json_t *vm = api_get("/v1/vms/*", vm_name);
	const char *uid = member_text(vm, "uid");
	state_read_begin();
	const struct vm_worker *worker = state_vm_worker(server->state, text_of(worker_name));
	assert_non_null(worker);
	struct vm_assign_item item = {.vm = text_of(vm_name),
		.uid = text_of(uid),
		.worker = text_of(worker_name),
		.worker_modify_index = worker->record.modify_index};
	state_read_end();
	struct command command = {
		.type = COMMAND_VM_ASSIGN, .vm_assign = {.items = &item, .count = 1}};
	assert_int_equal(server_command(server, &command), OUTCOME_DONE);
	assert_int_equal(item.result, VM_ASSIGNED);
	json_decref(vm);
}

static void what_is_created_is_complete(void **unused)
{
	json_t *vm =
		create("{\"name\":\"a\",\"image\":\"ghcr.io/a/b:1\",\"cpu\":2,\"os\":\"darwin\","
		       "\"labels\":{\"site\":\"north\"},\"status\":\"running\",\"color\":1}");
	assert_string_equal(member_text(vm, "name"), "a");
	assert_int_equal(strlen(member_text(vm, "uid")), 36);
	assert_string_equal(member_text(vm, "status"), "pending");
	assert_string_equal(member_text(vm, "powerState"), "running");
	assert_string_equal(member_text(vm, "restart_policy"), "Never");
	assert_string_equal(member_text(vm, "imagePullPolicy"), "IfNotPresent");
	assert_string_equal(condition(vm, "scheduled"), "false");
	assert_string_equal(member_text(vm, "worker"), "");
	assert_int_equal(
		member_number(json_object_get(vm, "resources"), "org.cirruslabs.tart-vms"), 1);
	assert_string_equal(member_text(json_object_get(vm, "labels"), "site"), "north");
	json_t *warnings = json_object_get(vm, "warnings");
	assert_int_equal(json_array_size(warnings), 1);
	assert_non_null(strstr(json_string_value(json_array_get(warnings, 0)), "color"));
	json_t *again = api_get("/v1/vms/*", "a");
	assert_string_equal(member_text(again, "uid"), member_text(vm, "uid"));
	assert_null(json_object_get(again, "warnings"));
	json_decref(vm);
	json_decref(again);
}

static void what_cannot_be_created_is_said(void **unused)
{
	json_decref(create("{\"name\":\"twice\",\"image\":\"i\"}"));
	expect_answer("PUT", "/v1/vms", "{\"name\":\"twice\",\"image\":\"i\"}", 409,
		"{\"message\":\"VM with this name already exists\"}");
	expect_answer("PUT", "/v1/vms", "{\"image\":\"i\"}", 412, "VM name is empty");
	expect_answer("PUT", "/v1/vms", "{\"name\":\"x\"}", 412, "VM image is empty");
	expect_answer("PUT", "/v1/vms", "{\"name\":\"x y\",\"image\":\"i\"}", 412, "may only have");
	expect_answer("PUT", "/v1/vms",
		"{\"name\":\"x\",\"image\":\"i\",\"restart_policy\":\"Oft\"}", 412,
		"unsupported restart policy");
	expect_answer(
		"PUT", "/v1/vms", "{\"name\":\"x\",\"image\":7}", 400, "{\"message\":\"VM.image");
	expect_answer("PUT", "/v1/vms", "{\"name\":", 400, "{\"message\":");
	expect_answer("PUT", "/v1/vms", NULL, 412, "{\"message\":\"VM name is empty\"}");
	expect_answer("GET", "/v1/vms/x", NULL, 404, "{\"message\":\"VM \\\"x\\\" not found\"}");
	expect_answer("GET", "/v1/vms/x/events", NULL, 404, "not found");
	expect_answer("PUT", "/v1/vms/x", "{\"powerState\":\"stopped\"}", 404, "VM not found");
	expect_answer("DELETE", "/v1/vms/x", NULL, 404, "VM not found");
}

static void power_goes_one_way(void **unused)
{
	json_decref(create("{\"name\":\"p\",\"image\":\"i\"}"));
	expect_answer("PUT", "/v1/vms/p", "{\"powerState\":\"suspended\"}", 412,
		"only suspendable VMs can be suspended");
	expect_answer(
		"PUT", "/v1/vms/p", "{\"powerState\":\"off\"}", 412, "invalid \\\"powerState\\\"");
	expect_answer("PUT", "/v1/vms/p", "{\"powerState\":7}", 400, "expected a string");
	expect_answer(
		"PUT", "/v1/vms/p", "{\"name\":\"q\",\"powerState\":\"stopped\"}", 400, "name");
	expect_answer("PUT", "/v1/vms/p", "{\"image\":\"other\",\"powerState\":\"stopped\"}", 412,
		"VM.image: differs");
	expect_answer("PUT", "/v1/vms/p",
		"{\"uid\":\"00000000-0000-4000-8000-000000000000\",\"powerState\":\"stopped\"}",
		409, "another one by now");
	json_t *vm = api_put("/v1/vms/*", "p", "{\"powerState\":\"stopped\"}");
	assert_string_equal(member_text(vm, "powerState"), "stopped");
	assert_int_equal(member_number(vm, "generation"), 1);
	json_decref(vm);
	expect_answer("PUT", "/v1/vms/p", "{\"powerState\":\"running\"}", 412,
		"cannot transition from a terminal power state");
	json_decref(create("{\"name\":\"s\",\"image\":\"i\",\"suspendable\":true}"));
	vm = api_put("/v1/vms/*", "s", "{\"powerState\":\"suspended\"}");
	assert_string_equal(member_text(vm, "powerState"), "suspended");
	json_decref(vm);
}

static void a_whole_machine_may_be_sent_back(void **unused)
{
	json_t *vm = create("{\"name\":\"whole\",\"image\":\"i\",\"labels\":{\"a\":\"b\"}}");
	json_object_set_new(vm, "powerState", json_string("stopped"));
	char *text = json_dumps(vm, 0);
	json_t *changed = api_put("/v1/vms/*", "whole", text);
	assert_string_equal(member_text(changed, "powerState"), "stopped");
	free(text);
	json_decref(vm);
	json_decref(changed);
}

static void a_failed_one_stays_failed(void **unused)
{
	json_decref(create("{\"name\":\"f\",\"image\":\"i\"}"));
	json_t *vm = api_put("/v1/vms/*/state", "f",
		"{\"status\":\"failed\",\"status_message\":\"no such image\"}");
	assert_string_equal(member_text(vm, "status"), "failed");
	assert_string_equal(member_text(vm, "status_message"), "no such image");
	json_decref(vm);
	expect_answer("PUT", "/v1/vms/f", "{\"powerState\":\"stopped\"}", 412,
		"cannot update VM in a terminal state");
	expect_answer("PUT", "/v1/vms/f/state",
		"{\"uid\":\"00000000-0000-4000-8000-000000000000\",\"status\":\"running\"}", 409,
		"another one by now");
	expect_answer(
		"PUT", "/v1/vms/nobody/state", "{\"status\":\"running\"}", 404, "VM not found");
}

static void what_is_deleted_is_gone(void **unused)
{
	json_decref(create("{\"name\":\"d\",\"image\":\"i\"}"));
	struct response gone = http(server, "DELETE", "/v1/vms/d", NULL);
	assert_int_equal(gone.status, 200);
	assert_true(gone.index > 0);
	response_free(&gone);
	expect_answer("GET", "/v1/vms/d", NULL, 404, "not found");
	json_decref(create("{\"name\":\"d\",\"image\":\"i\"}"));
}

static void workers_are_kept_by_hand(void **unused)
{
	static const char w[] = "{\"name\":\"w\",\"machine_id\":\"m1\",\"resources\":{\"slots\":3},"
				"\"labels\":{\"site\":\"north\"},\"defaultCPU\":6}";
	json_t *worker = http_json(server, "PUT", "/v1/workers", w);
	assert_string_equal(member_text(worker, "status"), "online");
	assert_int_equal(member_number(worker, "vms"), 0);
	assert_false(json_is_true(json_object_get(worker, "scheduling_paused")));
	json_decref(worker);
	worker = api_put("/v1/workers/*", "w", "{\"scheduling_paused\":true}");
	assert_true(json_is_true(json_object_get(worker, "scheduling_paused")));
	json_decref(worker);
	worker = http_json(server, "PUT", "/v1/workers", w);
	assert_true(json_is_true(json_object_get(worker, "scheduling_paused")));
	json_decref(worker);
	json_decref(api_put("/v1/workers/*", "w", "{\"scheduling_paused\":false}"));
	// As Orchard's client pauses and resumes: it sends back what it read, without what is false.
	json_decref(api_put("/v1/workers/*", "w",
		"{\"name\":\"w\",\"machine_id\":\"m1\",\"scheduling_paused\":true}"));
	worker = api_put("/v1/workers/*", "w", "{\"name\":\"w\",\"machine_id\":\"m1\"}");
	assert_false(json_is_true(json_object_get(worker, "scheduling_paused")));
	json_decref(worker);
	expect_answer("PUT", "/v1/workers", "{\"name\":\"w\",\"machine_id\":\"m2\"}", 409,
		"managed from a different machine ID");
	expect_answer("PUT", "/v1/workers", "{\"machine_id\":\"m2\"}", 412, "worker name is empty");
	expect_answer("PUT", "/v1/workers", "{\"name\":\"n\",\"resources\":{\"slots\":-1}}", 400,
		"not negative");
	expect_answer("PUT", "/v1/workers/w", "{}", 400, "one of them is needed");
	expect_answer("GET", "/v1/workers/n", NULL, 404, "worker \\\"n\\\" not found");
	expect_answer(
		"PUT", "/v1/workers/n", "{\"scheduling_paused\":true}", 404, "worker not found");
	expect_answer("DELETE", "/v1/workers/n", NULL, 404, "worker not found");
}

static void the_controller_says_what_it_can(void **unused)
{
	json_t *greeting = http_json(server, "GET", "/v1/", NULL);
	assert_int_equal(json_object_size(greeting), 0);
	json_decref(greeting);
	json_t *info = http_json(server, "GET", "/v1/controller/info", NULL);
	assert_true(*member_text(info, "version"));
	json_t *capabilities = json_object_get(info, "capabilities");
	assert_int_equal(json_array_size(capabilities), 1);
	assert_string_equal(
		json_string_value(json_array_get(capabilities, 0)), "vm-state-endpoint");
	json_decref(info);
}

static void lists_are_cut_by_worker(void **unused)
{
	json_decref(create("{\"name\":\"on-w\",\"image\":\"i\",\"resources\":{\"slots\":2}}"));
	give_to("on-w", "w");
	json_t *vm = api_get("/v1/vms/*", "on-w");
	assert_string_equal(member_text(vm, "worker"), "w");
	assert_int_equal(member_number(vm, "assignedCPU"), 6);
	assert_int_equal(member_number(vm, "assignedMemory"), VM_DEFAULT_MEMORY_MIB);
	assert_string_equal(condition(vm, "scheduled"), "true");
	json_decref(vm);
	static const char *const paths[] = {"/v1/vms?worker=w", "/v1/vms?filter=worker=w",
		"/v1/vms?filter=worker%20%3D%3D%20w", "/v1/vms?prefix=on-&per_page=1"};
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		json_t *list = http_json(server, "GET", paths[i], NULL);
		assert_int_equal(json_array_size(list), 1);
		assert_string_equal(member_text(json_array_get(list, 0), "name"), "on-w");
		json_decref(list);
	}
	json_t *all = http_json(server, "GET", "/v1/vms", NULL);
	json_t *none = http_json(server, "GET", "/v1/vms?worker=", NULL);
	assert_int_equal(json_array_size(all), json_array_size(none) + 1);
	json_decref(all);
	json_decref(none);
	json_t *worker = api_get("/v1/workers/*", "w");
	assert_int_equal(member_number(worker, "vms"), 1);
	assert_int_equal(member_number(json_object_get(worker, "used"), "slots"), 2);
	json_decref(worker);
	json_t *workers = http_json(server, "GET", "/v1/workers", NULL);
	assert_int_equal(json_array_size(workers), 1);
	json_decref(workers);
}

// Fails over and over, but is restarted once: the second time comes too soon.
static void events_are_told_in_both_orders(void **unused)
{
	static const char failed[] = "{\"status\":\"failed\",\"status_message\":\"oops\"}";
	json_decref(
		create("{\"name\":\"again\",\"image\":\"i\",\"restart_policy\":\"OnFailure\"}"));
	for (int i = 0; i < 2; i++) {
		const struct text name = TEXT("again");
		struct command command = {
			.type = COMMAND_VM_HEALTH, .vm_health = {.names = &name, .count = 1}};
		json_decref(api_put("/v1/vms/*/state", "again", failed));
		assert_int_equal(server_command(server, &command), OUTCOME_DONE);
	}
	json_t *vm = api_get("/v1/vms/*", "again");
	assert_int_equal(member_number(vm, "restart_count"), 1);
	json_decref(vm);
	json_t *up = api_get("/v1/vms/*/events", "again");
	json_t *down = api_get("/v1/vms/*/events?order=desc&limit=1", "again");
	static const char *const texts[] = {
		"VM created", "VM failed: oops", VM_TEXT_RESTARTED, "VM failed: oops"};
	assert_int_equal(json_array_size(up), 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(member_text(json_array_get(up, i), "payload"), texts[i]);
	assert_int_equal(json_array_size(down), 1);
	json_t *event = json_array_get(down, 0);
	assert_true(json_equal(json_array_get(up, 3), event));
	assert_string_equal(member_text(event, "kind"), "lifecycle");
	assert_true(member_number(event, "timestamp") > 1700000000);
	json_decref(up);
	json_decref(down);
	expect_answer("GET", "/v1/vms/again/events?limit=no", NULL, 400, "invalid limit");
	expect_answer("GET", "/v1/vms/again/events?order=up", NULL, 400, "asc or desc");
}

// What workers of Orchard tell: the lines of a startup script.
static void lines_of_workers_are_kept(void **unused)
{
	static char many[200000];
	int size = snprintf(many, sizeof many, "[");
	json_decref(create("{\"name\":\"told\",\"image\":\"i\"}"));
	expect_answer("POST", "/v1/vms/told/events",
		"[{\"kind\":\"log_line\",\"timestamp\":1700000001,\"payload\":\"one\\u001b[0m\"},"
		"{\"timestamp\":1700000002,\"payload\":\"two\"}]",
		200, "");
	expect_answer("POST", "/v1/vms/told/events", "null", 200, "");
	expect_answer("POST", "/v1/vms/none/events", "[]", 404, "VM not found");
	expect_answer("POST", "/v1/vms/told/events", "{}", 400, "a list");
	expect_answer("POST", "/v1/vms/told/events", "[7]", 400, "events[0]: expected an object");
	expect_answer("POST", "/v1/vms/told/events", "[{},{\"timestamp\":-1}]", 400,
		"events[1].timestamp");
	json_t *events = api_get("/v1/vms/*/events", "told");
	assert_int_equal(json_array_size(events), 3);
	json_t *one = json_array_get(events, 1);
	assert_string_equal(member_text(one, "kind"), "log_line");
	assert_string_equal(member_text(one, "payload"), "one\x1b[0m");
	assert_int_equal(member_number(one, "timestamp"), 1700000001);
	json_decref(events);
	for (int i = 0; i < 1000; i++)
		size += snprintf(many + size, sizeof many - (size_t)size,
			"%s{\"kind\":\"log_line\",\"payload\":\"line %d %099d\"}", i ? "," : "", i,
			0);
	snprintf(many + size, sizeof many - (size_t)size, "]");
	expect_answer("POST", "/v1/vms/told/events", many, 200, "");
	events = api_get("/v1/vms/*/events", "told");
	// Lines do not push out what is told of the machine's own life.
	assert_string_equal(member_text(json_array_get(events, 0), "payload"), "VM created");
	assert_int_equal(json_array_size(events), 1 + VM_TOLD_MAX);
	one = json_array_get(events, VM_TOLD_MAX);
	assert_non_null(strstr(member_text(one, "payload"), "line 999 "));
	json_decref(events);
}

static void host_directories_need_a_policy(void **unused)
{
	static const char settings[] = "/v1/cluster-settings";
	static const char allowed[] = "{\"name\":\"dirs\",\"image\":\"i\",\"hostDirs\":"
				      "[{\"name\":\"a\",\"path\":\"/srv/ci/a\",\"ro\":true}]}";
	static const char wider[] = "{\"name\":\"wide\",\"image\":\"i\",\"hostDirs\":"
				    "[{\"name\":\"a\",\"path\":\"/srv/ci\"}]}";
	expect_answer("PUT", "/v1/vms", allowed, 400,
		"host directory \\\"a:/srv/ci/a:ro\\\" is disallowed by policy, check your cluster "
		"settings");
	expect_answer("PUT", settings, "{\"hostDirPolicies\":[{\"ro\":true}]}", 400,
		"pathPrefix field cannot be empty");
	json_decref(http_json(server, "PUT", settings,
		"{\"hostDirPolicies\":[{\"pathPrefix\":\"/srv/ci/\",\"ro\":true},"
		"{\"pathPrefix\":\"/tmp\"}]}"));
	json_t *kept = http_json(server, "GET", settings, NULL);
	json_t *policy = json_array_get(json_object_get(kept, "hostDirPolicies"), 0);
	assert_string_equal(member_text(policy, "pathPrefix"), "/srv/ci/");
	assert_true(json_is_true(json_object_get(policy, "ro")));
	json_decref(kept);
	json_t *vm = create(allowed);
	assert_null(json_object_get(vm, "warnings"));
	json_decref(vm);
	expect_answer("PUT", "/v1/vms", wider, 400, "\\\"a:/srv/ci\\\" is disallowed by policy");
	expect_answer("PUT", "/v1/vms",
		"{\"name\":\"up\",\"image\":\"i\",\"hostDirs\":[{\"name\":\"a\",\"path\":"
		"\"/tmp/../etc\"}]}",
		400, "is disallowed by policy");
}

static void networks_are_kept_and_may_change(void **unused)
{
	json_t *vm = create("{\"name\":\"net\",\"image\":\"i\",\"net-softnet\":true,"
			    "\"netSoftnetBlock\":[\"0.0.0.0/0\"],\"randomSerial\":true,"
			    "\"net-bridged\":\"en0\"}");
	assert_null(json_object_get(vm, "warnings"));
	assert_true(json_is_true(json_object_get(vm, "netSoftnet")));
	assert_true(json_is_true(json_object_get(vm, "net-softnet")));
	assert_true(json_is_true(json_object_get(vm, "randomSerial")));
	assert_string_equal(member_text(vm, "net-bridged"), "en0");
	assert_string_equal(member_text(vm, "tartName"), member_text(vm, "localName"));
	assert_int_equal(json_array_size(json_object_get(vm, "netSoftnetBlock")), 1);
	json_decref(vm);
	vm = create("{\"name\":\"allow\",\"image\":\"i\",\"netSoftnetAllow\":[\"10.0.0.0/8\"]}");
	assert_true(json_is_true(json_object_get(vm, "netSoftnet")));
	json_decref(vm);
	expect_answer("PUT", "/v1/vms", "{\"name\":\"x\",\"image\":\"i\",\"netSoftnetAllow\":[7]}",
		400, "VM.netSoftnetAllow[0]: expected a string");
	expect_answer("PUT", "/v1/vms",
		"{\"name\":\"x\",\"image\":\"i\",\"runtime\":\"vetu\",\"netSoftnet\":true}", 412,
		"runtime \\\"vetu\\\" does not support field \\\"netSoftnet\\\"");
	// The whole machine, as Orchard's clients send it, with what is false left out.
	vm = api_put("/v1/vms/*", "net",
		"{\"name\":\"net\",\"image\":\"i\",\"powerState\":\"running\","
		"\"suspendable\":true}");
	assert_false(json_is_true(json_object_get(vm, "netSoftnet")));
	assert_true(json_is_true(json_object_get(vm, "suspendable")));
	assert_int_equal(member_number(vm, "generation"), 1);
	json_decref(vm);
	expect_answer("PUT", "/v1/vms/net", "{\"netSoftnet\":true}", 412,
		"\\\"netSoftnet\\\" cannot be toggled for suspendable VMs");
	expect_answer("PUT", "/v1/vms/net", "{\"suspendable\":false}", 412,
		"\\\"suspendable\\\" cannot be toggled for suspendable VMs");
	vm = api_put("/v1/vms/*", "allow", "{\"suspendable\":true}");
	assert_true(json_is_true(json_object_get(vm, "netSoftnet")));
	assert_int_equal(member_number(vm, "generation"), 1);
	json_decref(vm);
	vm = api_put("/v1/vms/*", "allow", "{\"suspendable\":true}");
	assert_int_equal(member_number(vm, "generation"), 1);
	json_decref(vm);
	json_t *events = api_get("/v1/vms/*/events?order=desc&limit=1", "allow");
	assert_string_equal(
		member_text(json_array_get(events, 0), "payload"), "VM specification changed");
	json_decref(events);
}

static void a_worker_says_since_when_it_is_known(void **unused)
{
	static const char body[] = "{\"name\":\"since\",\"machine_id\":\"m\"}";
	json_t *worker = http_json(server, "PUT", "/v1/workers", body);
	char first[64];
	snprintf(first, sizeof first, "%s", member_text(worker, "createdAt"));
	assert_true(strncmp(first, "20", 2) == 0);
	json_decref(worker);
	worker = http_json(server, "PUT", "/v1/workers", body);
	assert_string_equal(member_text(worker, "createdAt"), first);
	json_decref(worker);
}

static void a_worker_can_be_deleted(void **unused)
{
	struct response gone = http(server, "DELETE", "/v1/workers/w", NULL);
	assert_int_equal(gone.status, 200);
	response_free(&gone);
	expect_answer("GET", "/v1/workers/w", NULL, 404, "not found");
}

static void settings_are_kept(void **unused)
{
	static const char path[] = "/v1/cluster-settings";
	json_t *settings = http_json(server, "GET", path, NULL);
	assert_string_equal(member_text(settings, "schedulerProfile"), "optimize-utilization");
	json_decref(settings);
	settings = http_json(server, "PUT", path, "{\"schedulerProfile\":\"distribute-load\"}");
	assert_string_equal(member_text(settings, "schedulerProfile"), "distribute-load");
	assert_true(json_is_true(json_object_get(settings, "countAssigned")));
	json_decref(settings);
	settings = http_json(server, "PUT", path, "{\"countAssigned\":false}");
	json_decref(settings);
	// Orchard's clients do not know it: it stays.
	settings = http_json(server, "PUT", path, "{\"schedulerProfile\":\"distribute-load\"}");
	assert_true(json_is_false(json_object_get(settings, "countAssigned")));
	json_decref(settings);
	settings = http_json(server, "PUT", path,
		"{\"schedulerProfile\":\"distribute-load\",\"countAssigned\":true}");
	json_decref(settings);
	expect_answer("PUT", path, "{\"schedulerProfile\":\"best\"}", 400, "is none of");
	expect_answer("PUT", path, "{}", 400, "the body is empty");
	settings = http_json(server, "GET", path, NULL);
	assert_string_equal(member_text(settings, "schedulerProfile"), "distribute-load");
	json_decref(settings);
}

static void *wait_for(void *path)
{
	static struct response answer;
	answer = http(server, "GET", path, NULL);
	return &answer;
}

static void who_waits_is_woken_by_a_change(void **unused)
{
	char path[128];
	pthread_t thread;
	void *result;
	json_decref(create("{\"name\":\"watched\",\"image\":\"i\"}"));
	struct response before = http(server, "GET", "/v1/vms/watched", NULL);
	assert_true(before.index > 0);
	snprintf(path, sizeof path, "/v1/vms/watched?index=%llu&wait=60s",
		(unsigned long long)before.index);
	assert_int_equal(pthread_create(&thread, NULL, wait_for, path), 0);
	// That of another machine wakes nobody; whether it is asked before or after the change, the answer is the same.
	json_decref(create("{\"name\":\"other\",\"image\":\"i\"}"));
	json_decref(api_put("/v1/vms/*", "watched", "{\"powerState\":\"stopped\"}"));
	assert_int_equal(pthread_join(thread, &result), 0);
	struct response *after = result;
	assert_true(after->index > before.index);
	assert_non_null(strstr(after->body, "\"powerState\":\"stopped\""));
	struct response list = http(server, "GET", "/v1/vms", NULL);
	assert_int_equal(list.index, after->index);
	response_free(&list);
	response_free(&before);
	response_free(after);
}

// What only the worker can answer is refused where no agent is to be asked, in the same words.
static void a_machine_is_reached_through_its_worker(void **unused)
{
	static const char *const asked[] = {"port-forward?port=22&wait=0", "ip", "logs"};
	char nobody[100], path[100];
	json_decref(create("{\"name\":\"forwarded\",\"image\":\"i\",\"os\":\"linux\"}"));
	for (size_t i = 0; i < 3; i++) {
		snprintf(nobody, sizeof nobody, "/v1/vms/nobody/%s", asked[i]);
		snprintf(path, sizeof path, "/v1/vms/forwarded/%s", asked[i]);
		expect_answer("GET", nobody, NULL, 404, "nobody\\\" not found");
		expect_answer("GET", path, NULL, 408, "VM is not running on '' worker");
	}
	json_decref(http_json(server, "PUT", "/v1/workers",
		"{\"name\":\"by-hand\",\"machine_id\":\"m-7\",\"resources\":{}}"));
	give_to("forwarded", "by-hand");
	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "/v1/vms/forwarded/%s", asked[i]);
		expect_answer("GET", path, NULL, 503,
			"{\"message\":\"the worker \\\"by-hand\\\" is kept by hand");
	}
	json_decref(http_json(server, "PUT", "/v1/vms/forwarded", "{\"powerState\":\"stopped\"}"));
	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "/v1/vms/forwarded/%s", asked[i]);
		expect_answer("GET", path, NULL, 417, "VM is in a terminal state 'stopped'");
	}
}

static void a_worker_kept_by_hand_has_no_ports(void **unused)
{
	expect_answer("GET", "/v1/workers/nobody/port-forward?port=22", NULL, 404,
		"worker \\\"nobody\\\" not found");
	expect_answer("GET", "/v1/workers/by-hand/port-forward?port=22", NULL, 503,
		"is kept by hand: its ports are not reached");
}

static void who_reaches_a_machine_says_how(void **unused)
{
	static const char *const rows[][2] = {
		{"/v1/vms/nobody/port-forward", "port: expected a number from 1 to 65535"},
		{"/v1/vms/nobody/port-forward?port=0", "port: expected"},
		{"/v1/vms/nobody/port-forward?port=65536", "port: expected"},
		{"/v1/vms/nobody/port-forward?port=22&wait=65536", "wait: expected seconds"},
		{"/v1/workers/nobody/port-forward?port=x", "port: expected"},
		{"/v1/workers/nobody/port-forward?port=22&wait=x", "wait: expected seconds"},
		{"/v1/vms/nobody/ip?wait=soon", "wait: expected seconds, at most 65535"},
		{"/v1/vms/nobody/logs?wait=-1", "wait: expected seconds"},
		{"/v1/vms/nobody/logs?follow=yes", "follow: expected true or false"},
		{"/v1/vms/nobody/logs?origin=middle", "origin: expected start or end"},
		{"/v1/vms/nobody/logs?offset=x", "offset: expected a number of bytes"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		expect_answer("GET", rows[i][0], NULL, 400, rows[i][1]);
}

static void *wait_for_port(void *path)
{
	static struct response response;
	response = http(server, "GET", path, NULL);
	return &response;
}

// Asks, does what ends the wait, and expects the answer, which is the same when that is done before.
static void expect_wait(const char *path, void (*end)(void), int status, const char *body)
{
	pthread_t thread;
	void *result;
	assert_int_equal(pthread_create(&thread, NULL, wait_for_port, (void *)path), 0);
	end();
	assert_int_equal(pthread_join(thread, &result), 0);
	struct response *response = result;
	assert_int_equal(response->status, status);
	assert_non_null(strstr(response->body, body));
	response_free(response);
}

static void end_nothing(void)
{
}

static void delete_awaited(void)
{
	struct response r = http(server, "DELETE", "/v1/vms/awaited", NULL);
	assert_int_equal(r.status, 200);
	response_free(&r);
}

static void place_awaited(void)
{
	give_to("awaited", "by-hand");
}

// It is waited for until there is something to say, and no longer than is asked for.
static void a_machine_is_waited_for(void **unused)
{
	static const char image[] = "{\"name\":\"awaited\",\"image\":\"i\",\"os\":\"linux\"}";
	json_decref(create(image));
	expect_wait(
		"/v1/vms/awaited/ip?wait=1", end_nothing, 408, "VM is not running on '' worker");
	expect_wait("/v1/vms/awaited/port-forward?port=22&wait=1", end_nothing, 408,
		"VM is not running on '' worker");
	expect_wait("/v1/vms/awaited/port-forward?port=22", delete_awaited, 404, "not found");
	json_decref(create(image));
	expect_wait("/v1/vms/awaited/ip?wait=60", place_awaited, 503, "is kept by hand");
	delete_awaited();
	json_decref(create(image));
	expect_wait("/v1/vms/awaited/logs?wait=60", place_awaited, 503, "is kept by hand");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_created_is_complete),
		cmocka_unit_test(what_cannot_be_created_is_said),
		cmocka_unit_test(power_goes_one_way),
		cmocka_unit_test(a_whole_machine_may_be_sent_back),
		cmocka_unit_test(a_failed_one_stays_failed),
		cmocka_unit_test(what_is_deleted_is_gone),
		cmocka_unit_test(workers_are_kept_by_hand),
		cmocka_unit_test(the_controller_says_what_it_can),
		cmocka_unit_test(lists_are_cut_by_worker),
		cmocka_unit_test(events_are_told_in_both_orders),
		cmocka_unit_test(lines_of_workers_are_kept),
		cmocka_unit_test(networks_are_kept_and_may_change),
		cmocka_unit_test(a_worker_says_since_when_it_is_known),
		cmocka_unit_test(a_worker_can_be_deleted),
		cmocka_unit_test(settings_are_kept),
		cmocka_unit_test(host_directories_need_a_policy),
		cmocka_unit_test(who_waits_is_woken_by_a_change),
		cmocka_unit_test(a_machine_is_reached_through_its_worker),
		cmocka_unit_test(a_worker_kept_by_hand_has_no_ports),
		cmocka_unit_test(who_reaches_a_machine_says_how),
		cmocka_unit_test(a_machine_is_waited_for),
	};
	return cmocka_run_group_tests(tests, server_group_begin, server_group_end);
}
