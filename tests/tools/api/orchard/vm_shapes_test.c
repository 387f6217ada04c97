// Virtual machines, workers and settings with everything that they can say, against the shapes in golden/.
#include "state/records/nodes/vm.h"
#include "state/tables/state.h"
#include "tests/tools/api/scheduling.h"
#include "tests/tools/api/shape.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void put(const char *path, const char *body)
{
	json_decref(http_json(server, "PUT", path, body));
}

static void give_to_worker(void)
{
	json_t *vm = http_json(server, "GET", "/v1/vms/full", NULL);
	struct vm_assign_item item = {.vm = TEXT("full"),
		.uid = text_of(member_text(vm, "uid")),
		.worker = TEXT("rack"),
		.worker_modify_index = UINT64_MAX};
	struct command command = {
		.type = COMMAND_VM_ASSIGN, .vm_assign = {.items = &item, .count = 1}};
	assert_int_equal(server_command(server, &command), OUTCOME_DONE);
	assert_int_equal(item.result, VM_ASSIGNED);
	json_decref(vm);
}

static void judge(void)
{
	const struct text name = TEXT("full");
	struct command command = {
		.type = COMMAND_VM_HEALTH, .vm_health = {.names = &name, .count = 1}};
	assert_int_equal(server_command(server, &command), OUTCOME_DONE);
	assert_int_equal(command.vm_health.changed, 1);
}

// It fails once and is begun again, so that it has an event and every time is set.
static int set_up(void **unused)
{
	server = server_start(&(struct server_options){0});
	put("/v1/workers",
		"{\"name\":\"rack\",\"machine_id\":\"m\",\"arch\":\"amd64\",\"runtime\":\"tart\","
		"\"resources\":{\"slots\":3},\"labels\":{\"site\":\"north\"},\"defaultCPU\":6,"
		"\"defaultMemory\":2048}");
	put("/v1/cluster-settings",
		"{\"hostDirPolicies\":[{\"pathPrefix\":\"/srv\",\"ro\":true}]}");
	put("/v1/vms",
		"{\"name\":\"full\",\"image\":\"i\",\"imagePullPolicy\":\"Always\",\"os\":"
		"\"linux\","
		"\"arch\":\"amd64\",\"runtime\":\"tart\",\"diskSize\":20,\"headless\":true,"
		"\"nested\":true,\"suspendable\":true,\"username\":\"u\",\"password\":\"p\","
		"\"startup_script\":{\"script_content\":\"true\",\"env\":{\"A\":\"b\"}},"
		"\"hostDirs\":[{\"name\":\"d\",\"path\":\"/srv\",\"ro\":true}],"
		"\"netSoftnet\":true,\"netSoftnetAllow\":[\"10.0.0.0/8\"],"
		"\"netSoftnetBlock\":[\"0.0.0.0/0\"],\"net-bridged\":\"en0\","
		"\"randomSerial\":true,\"resources\":{\"slots\":2},\"labels\":{\"site\":\"north\"},"
		"\"restart_policy\":\"OnFailure\"}");
	put("/v1/vms/full/state", "{\"status\":\"failed\",\"status_message\":\"oops\"}");
	judge();
	give_to_worker();
	put("/v1/vms/full/state", "{\"status\":\"running\",\"conditions\":[{\"type\":\"running\","
				  "\"state\":\"true\"}],"
				  "\"observedGeneration\":0}");
	put("/v1/vms", "{\"name\":\"plain\",\"image\":\"i\"}");
	return 0;
}

static void expect_shape(const char *path, const char *shape)
{
	json_t *answer = http_json(server, "GET", path, NULL);
	assert_shape(answer, shape);
	json_decref(answer);
}

static void each_answer_has_its_form(void **unused)
{
	expect_shape("/v1/vms/full", "vm_full");
	expect_shape("/v1/vms/plain", "vm");
	expect_shape("/v1/vms", "vms");
	expect_shape("/v1/vms/full/events", "vm_events");
	expect_shape("/v1/workers/rack", "vm_worker");
	expect_shape("/v1/workers", "vm_workers");
	expect_shape("/v1/cluster-settings", "cluster_settings");
}

// Members that nobody asked for are left out, as Orchard leaves them out.
static void what_was_not_said_is_absent(void **unused)
{
	static const char *const members[] = {"os", "arch", "runtime", "diskSize", "headless",
		"nested", "suspendable", "username", "password", "startup_script", "hostDirs",
		"events", "instance"};
	json_t *vm = http_json(server, "GET", "/v1/vms/plain", NULL);
	for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
		if (json_object_get(vm, members[i]))
			fail_msg("%s is there", members[i]);
	json_decref(vm);
}

// No member is in an answer that no shape knows: what is added is added to the shape.
static void nothing_else_is_in_it(void **unused)
{
	json_t *full = http_json(server, "GET", "/v1/vms/full", NULL);
	json_t *worker = http_json(server, "GET", "/v1/workers/rack", NULL);
	assert_int_equal(json_object_size(full), 41);
	assert_int_equal(json_object_size(worker), 15);
	json_decref(full);
	json_decref(worker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_answer_has_its_form),
		cmocka_unit_test(what_was_not_said_is_absent),
		cmocka_unit_test(nothing_else_is_in_it),
	};
	return cmocka_run_group_tests(tests, set_up, server_group_end);
}
