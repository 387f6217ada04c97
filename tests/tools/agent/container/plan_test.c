// What the options of a task come to in the words of its engine, and what is refused.
#include "tests/tools/agent/task/stage.h"
#include "tools/agent/confine/capabilities.h"
#include "tools/agent/container/container_plan.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const struct wire_pair pairs[] = {{WIRE_PAIR_VOLUME, {"data", 4}, {"rw /srv/data", 12}},
	{WIRE_PAIR_VOLUME, {"fixed", 5}, {"ro /srv/fixed", 13}}};
static const struct node_facts facts = {.id = {{7}},
	.name = "n",
	.datacenter = "dc1",
	.class_name = "",
	.pool = "default",
	.pairs = pairs,
	.pair_count = 2};
#define VOLUMES                                                        \
	"\"Volumes\":{\"d\":{\"Source\":\"data\",\"ReadOnly\":false}," \
	"\"f\":{\"Source\":\"fixed\",\"ReadOnly\":true}},"
#define MOUNTS(volume, destination, more)                                                       \
	"\"VolumeMounts\":[{\"Volume\":\"" volume "\",\"Destination\":\"" destination "\"" more \
	"}],"
static const struct uuid id = {{0xa1}};
static struct container_settings settings;

static int set_up(void **unused)
{
	settings = (struct container_settings){
		.sockets = {"/d.sock", "/p.sock"}, .capabilities = CAPABILITIES_DEFAULT};
	stage_open(&facts);
	return 0;
}

static int tear_down(void **unused)
{
	return stage_close();
}

static char refusal[400];

// The plan of a task; NULL: refused. Its folders are there, because it has begun (and failed: nobody gave a socket).
static json_t *plan_of(enum container_engine engine, const char *further, const char *config)
{
	char text[2500];
	struct task_folders folders;
	snprintf(text, sizeof text,
		"{\"Name\":\"my "
		"task\",\"Driver\":\"%s\",\"Ports\":[{\"Label\":\"web\",\"Value\":25000,"
		"\"To\":80,\"HostIP\":\"192.0.2.1\"},{\"Label\":\"raw\",\"Value\":25001,\"To\":0,"
		"\"HostIP\":\"192.0.2.1\"}],%s\"Config\":{%s}}",
		engine == ENGINE_DOCKER ? "docker" : "podman", further, config);
	struct alloc_run *a = runner_find(&runner, &id);
	if (a) {
		runner_forget(&runner, a);
		runner_step(&runner);
	}
	a = stage_run(&id, "service", VOLUMES, text);
	alloc_run_task_folders(a, &a->tasks[0], stage_folder, &folders);
	struct task_start start = {.node = &facts,
		.alloc = a->spec,
		.folders = &folders,
		.data_folder = stage_folder,
		.exit_path = "/x/exit"};
	refusal[0] = '\0';
	return container_plan(&settings, engine, &a->tasks[0], &start, refusal, sizeof refusal);
}

static const char *at(json_t *plan, const char *path)
{
	static char text[600];
	char key[64];
	const json_t *value = plan;
	while (value && *path) {
		snprintf(key, sizeof key, "%.*s", (int)strcspn(path, " "), path);
		value = json_is_array(value) ? json_array_get(value, strtoul(key, NULL, 10))
					     : json_object_get(value, key);
		path += strcspn(path, " ");
		path += *path == ' ';
	}
	char *dumped = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	snprintf(text, sizeof text, "%s", dumped ? dumped : "nothing");
	free(dumped);
	return text;
}

#define IMAGE "\"image\":\"busybox\""

static void options_are_the_engines(void **unused)
{
	static const struct {
		const char *further, *config, *path, *value;
	} table[] = {
		{"", IMAGE, "Image", "\"busybox:latest\""},
		{"", "\"image\":\"r:5000/b\"", "Image", "\"r:5000/b:latest\""},
		{"", "\"image\":\"r:5000/b:2\"", "Create Image", "\"r:5000/b:2\""},
		{"", "\"image\":\"b@sha256:1\"", "Image", "\"b@sha256:1\""},
		{"", IMAGE, "Name", "\"my_task-a1000000-0000-0000-0000-000000000000\""},
		{"", IMAGE, "Pulls", "\"missing\""},
		{"", IMAGE ",\"force_pull\":true", "Pulls", "\"always\""},
		{"", IMAGE ",\"image_pull_timeout\":\"1m\"", "PullTimeout", "60000000000"},
		{"", IMAGE ",\"auth\":[{\"username\":\"u\",\"password\":\"p\"}]", "Auth",
			"\"eyJ1c2VybmFtZSI6InUiLCJwYXNzd29yZCI6InAiLCJlbWFpbCI6IiIsInNlcnZlcmFkZHJl"
			"c3MiOiIifQ==\""},
		{"", IMAGE ",\"command\":\"c\",\"args\":[\"${NOMAD_TASK_NAME}\"]", "Create Cmd",
			"[\"c\",\"my task\"]"},
		{"", IMAGE, "Create Cmd", "nothing"},
		{"", IMAGE ",\"entrypoint\":[\"e\"]", "Create Entrypoint", "[\"e\"]"},
		{"\"User\":\"nobody\",\"KillSignal\":\"SIGQUIT\",", IMAGE, "Create User",
			"\"nobody\""},
		{"\"KillSignal\":\"SIGQUIT\",", IMAGE, "Create StopSignal", "\"SIGQUIT\""},
		{"", IMAGE ",\"labels\":[{\"a\":\"b\"}]", "Create Labels a", "\"b\""},
		{"", IMAGE, "Create Labels com.hashicorp.nomad.alloc_id",
			"\"a1000000-0000-0000-0000-000000000000\""},
		{"", IMAGE ",\"ports\":[\"web\"]", "Create HostConfig PortBindings 80/tcp",
			"[{\"HostIp\":\"192.0.2.1\",\"HostPort\":\"25000\"}]"},
		{"", IMAGE ",\"ports\":[\"raw\"]",
			"Create HostConfig PortBindings 25001/udp 0 HostPort", "\"25001\""},
		{"", IMAGE ",\"port_map\":[{\"web\":8080}]", "Create ExposedPorts 8080/tcp", "{}"},
		{"", IMAGE ",\"ports\":[\"web\"],\"network_mode\":\"host\"",
			"Create HostConfig PortBindings", "nothing"},
		{"", IMAGE ",\"network_mode\":\"none\"", "Create HostConfig NetworkMode",
			"\"none\""},
		{"\"MemoryMB\":10,\"CPU\":500,\"Cores\":[2,5],", IMAGE, "Create HostConfig Memory",
			"10485760"},
		{"\"MemoryMB\":10,\"MemoryMaxMB\":20,", IMAGE, "Create HostConfig Memory",
			"20971520"},
		{"\"MemoryMB\":10,\"MemoryMaxMB\":20,", IMAGE,
			"Create HostConfig MemoryReservation", "10485760"},
		{"\"CPU\":500,", IMAGE, "Create HostConfig CpuShares", "500"},
		{"\"Cores\":[2,5],", IMAGE, "Create HostConfig CpusetCpus", "\"2,5\""},
		{"", IMAGE ",\"pids_limit\":9", "Create HostConfig PidsLimit", "9"},
		{"", IMAGE ",\"ulimit\":[{\"nofile\":\"1:2\",\"nproc\":3}]",
			"Create HostConfig Ulimits",
			"[{\"Name\":\"nofile\",\"Soft\":1,\"Hard\":2},{\"Name\":\"nproc\",\"Soft\":"
			"3,"
			"\"Hard\":3}]"},
		{"", IMAGE ",\"tmpfs\":[\"/t:size=1m\"]", "Create HostConfig Tmpfs",
			"{\"/t\":\"size=1m\"}"},
		{"", IMAGE ",\"readonly_rootfs\":true", "Create HostConfig ReadonlyRootfs", "true"},
		{"", IMAGE ",\"extra_hosts\":[\"a:1.2.3.4\"]", "Create HostConfig ExtraHosts",
			"[\"a:1.2.3.4\"]"},
		{"", IMAGE ",\"dns_servers\":[\"::1\"]", "Create HostConfig Dns", "[\"::1\"]"},
		{"", IMAGE ",\"mount\":[{\"type\":\"tmpfs\",\"target\":\"/t\"}]",
			"Create HostConfig Mounts 0 Target", "\"/t\""},
		{"", IMAGE, "Create HostConfig CapDrop", "[\"ALL\"]"},
		{"", IMAGE ",\"cap_drop\":[\"ALL\"],\"cap_add\":[\"CAP_CHOWN\"]",
			"Create HostConfig CapAdd", "[\"CAP_CHOWN\"]"},
		{"", IMAGE, "Create HostConfig CapAdd 13", "nothing"},
	};
	for (uint32_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		json_t *plan = plan_of(ENGINE_PODMAN, table[i].further, table[i].config);
		if (!plan)
			fail_msg("row %u: %s", i, refusal);
		if (strcmp(at(plan, table[i].path), table[i].value) != 0)
			fail_msg("row %u: %s", i, at(plan, table[i].path));
		json_decref(plan);
	}
}

static void host_volumes_are_bound(void **unused)
{
	static const struct {
		const char *further, *value;
	} table[] = {
		{MOUNTS("d", "/data", ""), "\"/srv/data:/data:rw,rprivate\""},
		{MOUNTS("d", "${NOMAD_TASK_DIR}/d",
			 ",\"ReadOnly\":true,\"PropagationMode\":\"host-to-task\""),
			"\"/srv/data:/local/d:ro,rslave\""},
		{MOUNTS("f", "/f", ""), "\"/srv/fixed:/f:ro,rprivate\""},
	};
	for (uint32_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		json_t *plan = plan_of(ENGINE_PODMAN, table[i].further, IMAGE);
		assert_string_equal(refusal, "");
		assert_string_equal(at(plan, "Create HostConfig Binds 3"), table[i].value);
		json_decref(plan);
	}
	assert_null(plan_of(ENGINE_PODMAN, MOUNTS("x", "/f", ""), IMAGE));
	assert_string_equal(refusal, "the group has no volume \"x\" to mount");
}

static void docker_asks_again_for_what_may_have_moved(void **unused)
{
	json_t *plan = plan_of(ENGINE_DOCKER, "", IMAGE);
	assert_string_equal(at(plan, "Pulls"), "\"always\"");
	assert_string_equal(at(plan, "Create HostConfig LogConfig Type"), "\"json-file\"");
	json_decref(plan);
	plan = plan_of(ENGINE_DOCKER, "", "\"image\":\"b:1\"");
	assert_string_equal(at(plan, "Pulls"), "\"missing\"");
	assert_string_equal(at(plan, "Socket"), "\"/d.sock\"");
	json_decref(plan);
}

static void what_is_not_allowed_is_refused(void **unused)
{
	static const struct {
		const char *config, *part;
	} table[] = {
		{"\"command\":\"x\"", "has no image"},
		{"\"image\":\"\"", "image is the name of an image"},
		{IMAGE ",\"mount\":[{\"type\":\"tmpfs\",\"target\":\"x\"}]",
			"a mount needs a target that begins with /"},
		{IMAGE ",\"mount\":[{\"type\":\"npipe\",\"target\":\"/x\"}]",
			"a mount is of the type bind, tmpfs or volume, not \"npipe\""},
		{IMAGE ",\"mount\":[\"/x\"]", "a mount is a block"},
		{IMAGE ",\"tmpfs\":[\"run\"]", "tmpfs is a list of paths that begin with /"},
		{IMAGE ",\"port_map\":[{\"web\":0}]", "port_map \"web\" wants the label of a port"},
		{IMAGE ",\"pid_mode\":\"host\"",
			"the driver podman has no option \"pid_mode\" here"},
		{IMAGE ",\"privileged\":true", "--container-privileged"},
		{IMAGE ",\"cap_add\":[\"sys_admin\"]",
			"does not allow the capability \"sys_admin\""},
		{IMAGE ",\"cap_add\":[\"all\"]", "does not allow the capability \"all\""},
		{IMAGE ",\"volumes\":[\"/etc:/x\"]", "--container-volumes"},
		{IMAGE ",\"volumes\":[\"../../..:/x\"]", "--container-volumes"},
		{IMAGE ",\"volumes\":[\"none:/x\"]", "the volume none is not there"},
		{IMAGE ",\"volumes\":[\"local\"]", "volumes are SOURCE:/TARGET"},
		{IMAGE ",\"mount\":[{\"type\":\"bind\",\"source\":\"/etc\",\"target\":\"/x\"}]",
			"--container-volumes"},
		{IMAGE ",\"mount\":[{\"type\":\"volume\",\"source\":\"v\",\"target\":\"/x\"}]",
			"--container-volumes"},
		{IMAGE ",\"network_mode\":\"container:x\"", "network_mode is host"},
		{IMAGE ",\"ports\":[\"none\"]", "Port \"none\" not found"},
		{IMAGE ",\"args\":\"x\"", "args is a list of texts"},
		{IMAGE ",\"ulimit\":{\"nofile\":\"x\"}", "ulimit nofile is a number"},
		{IMAGE ",\"image_pull_timeout\":\"x\"", "image_pull_timeout is a duration"},
	};
	for (uint32_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		if (plan_of(ENGINE_PODMAN, "", table[i].config))
			fail_msg("row %u is taken", i);
		if (!strstr(refusal, table[i].part))
			fail_msg("row %u: %s", i, refusal);
	}
}

static void what_cannot_be_planned_does_not_begin(void **unused)
{
	container_configure(&settings);
	const struct alloc_run *a = stage_run(&id, "service", "",
		"{\"Name\":\"t\",\"Driver\":\"podman\",\"Config\":{\"command\":\"x\"}}");
	container_configure(NULL);
	assert_int_equal(a->tasks[0].phase, PHASE_ENDED);
	assert_true(a->tasks[0].failed);
	assert_string_equal(
		a->tasks[0].notes[2].message, "the configuration of podman has no image");
}

static void an_operator_may_allow_it(void **unused)
{
	settings.allows_privileged = settings.allows_volumes = true;
	settings.capabilities = "all";
	json_t *plan = plan_of(
		ENGINE_PODMAN, "", IMAGE ",\"privileged\":true,\"volumes\":[\"/etc:/x:ro\"]");
	assert_string_equal(at(plan, "Create HostConfig Privileged"), "true");
	assert_string_equal(at(plan, "Create HostConfig Binds 3"), "\"/etc:/x:ro\"");
	json_decref(plan);
	plan = plan_of(ENGINE_PODMAN, "", IMAGE ",\"cap_add\":[\"sys_admin\"]");
	assert_non_null(
		strstr(at(plan, "Create HostConfig CapAdd"), "\"CAP_NET_RAW\",\"CAP_SYS_ADMIN\""));
	json_decref(plan);
}

// A link in the task's folder leads nowhere else.
static void a_link_is_no_way_out(void **unused)
{
	char path[700];
	struct task_folders folders;
	json_t *plan = plan_of(ENGINE_PODMAN, "", IMAGE ",\"volumes\":[\"local:/x\"]");
	assert_non_null(plan);
	json_decref(plan);
	struct alloc_run *a = runner_find(&runner, &id);
	alloc_run_task_folders(a, &a->tasks[0], stage_folder, &folders);
	struct task_start start = {
		.node = &facts, .alloc = a->spec, .folders = &folders, .exit_path = ""};
	snprintf(path, sizeof path, "%s/out", folders.local);
	assert_int_equal(symlink("/etc", path), 0);
	json_t *config = json_pack("{s:s s:[s]}", "image", "b", "volumes", "local/out:/x");
	struct task_spec spec = *a->tasks[0].spec;
	spec.config = config;
	struct task task = a->tasks[0];
	task.spec = &spec;
	assert_null(
		container_plan(&settings, ENGINE_PODMAN, &task, &start, refusal, sizeof refusal));
	assert_non_null(strstr(refusal, "outside of the task's folder"));
	json_decref(config);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(options_are_the_engines),
		TEST(host_volumes_are_bound),
		TEST(docker_asks_again_for_what_may_have_moved),
		TEST(what_is_not_allowed_is_refused),
		TEST(what_cannot_be_planned_does_not_begin),
		TEST(an_operator_may_allow_it),
		TEST(a_link_is_no_way_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
