// What a job asks for and nobody does: a warning by field, or a refusal where the job would run wrong. Registration,
// plan and validation say the same.
#include "tests/tools/api/server.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define TASK "group \"g\" task \"t\": "
#define TIMES "\"Interval\":5000000000,\"Timeout\":1000000000"
#define VOLUME "\"Volumes\":{\"v\":{\"Type\":\"host\",\"Source\":\"s\"}},"
#define MOUNT_OF(mode) "\"VolumeMounts\":[{\"Volume\":\"v\",\"PropagationMode\":\"" mode "\"}],"
#define GROUP "group \"g\": "

static void job_body(
	char *body, size_t size, const char *type, const char *of_group, const char *of_task)
{
	snprintf(body, size,
		"{\"Job\":{\"ID\":\"odd\",\"Name\":\"odd\",\"Type\":\"%s\",\"TaskGroups\":[{"
		"\"Name\":\"g\",%s\"Tasks\":[{\"Name\":\"t\",%s%s\"Config\":{"
		"\"command\":\"/bin/true\"}}]}]}}",
		type, of_group, strstr(of_task, "\"Driver\"") ? "" : "\"Driver\":\"exec\",",
		of_task);
}

static void expect_warning(const char *method_path, const char *body, const char *text)
{
	json_t *reply = http_json(server, "PUT", method_path, body);
	const char *warnings = json_string_value(json_object_get(reply, "Warnings"));
	if (*text ? !strstr(warnings, text) : *warnings)
		fail_msg("%s: \"%s\" is not said in \"%s\" of %s", method_path, text, warnings,
			body);
	json_decref(reply);
}

static void expect_refusal(const char *path, const char *body, const char *text)
{
	struct response r = http(server, "PUT", path, body);
	if (r.status != 500 || !strstr(r.body, text))
		fail_msg("%s: answered %ld \"%s\" to %s", path, r.status, r.body, body);
	response_free(&r);
}

static void what_has_no_effect_is_a_warning(void **unused)
{
	static const struct {
		const char *of_group, *of_task, *text;
	} cases[] = {
		{"", "\"Identity\":{\"Env\":true},", ""},
		{"", "\"Services\":[{\"Name\":\"s\"}],", TASK "Services: "},
		{"", "\"ShutdownDelay\":1,", TASK "ShutdownDelay: "},
		{VOLUME, "\"VolumeMounts\":[{\"Volume\":\"v\"}],", ""},
		{VOLUME, MOUNT_OF("host-to-task"), ""},
		{VOLUME, "\"Driver\":\"podman\",\"VolumeMounts\":[{\"Volume\":\"v\"}],", ""},
		{VOLUME, "\"Driver\":\"raw_exec\",\"VolumeMounts\":[{\"Volume\":\"v\"}],",
			TASK "VolumeMounts: "},
		{"\"Services\":[{\"Name\":\"s\",\"Checks\":[{\"Type\":\"tcp\"," TIMES "}]}],"
		 "\"Update\":{\"MaxParallel\":1},",
			"", GROUP "Services: not registered anywhere"},
		{"",
			"\"Services\":[{\"Name\":\"s\",\"Checks\":[{\"Type\":\"tcp\",\"Expose\":"
			"true," TIMES "}]}],",
			TASK "Services[0].Checks[0].Expose: has no meaning here"},
		{"\"Update\":{\"MaxParallel\":1},", "", ""},
		{"\"Consul\":{\"Namespace\":\"x\"},", "", GROUP "Consul: "},
		{"\"EphemeralDisk\":{\"Sticky\":true},", "", GROUP "EphemeralDisk: "},
		{"\"ShutdownDelay\":1,", "", GROUP "ShutdownDelay: "},
		{"\"Networks\":[{\"Mode\":\"bridge\"}],", "", GROUP "Networks[0].Mode: "},
		{"\"Networks\":[{\"DNS\":{\"Servers\":[\"::1\"]}}],", "",
			GROUP "Networks[0].DNS: "},
		{"\"Networks\":[{\"MBits\":10}],", "", GROUP "Networks[0].MBits: "},
		{"\"Networks\":[{\"Hostname\":\"x\"}],", "", GROUP "Networks[0].Hostname: "},
		{"", "\"Resources\":{\"Cores\":1},", TASK "Resources.Cores: "},
		{"", "\"Resources\":{\"Devices\":[{\"Name\":\"gpu\"}]},",
			TASK "Resources.Devices: "},
		{"", "\"RestartPolicy\":{\"RenderTemplates\":true},", ""},
		{"", "\"Templates\":[{\"EmbeddedTmpl\":\"x\",\"DestPath\":\"local/x\"}],", ""},
		{"", "\"Artifacts\":[{\"GetterSource\":\"http://x/y\"}],", ""},
		{"", "\"Kind\":\"k\",", TASK "Kind: "},
		{"", "\"Resources\":{\"MemoryMB\":20,\"MemoryMaxMB\":40},",
			"Memory oversubscription is not enabled; Task \"g.t\" memory_max value "
			"will "
			"be ignored. Update the Scheduler Configuration to allow "
			"oversubscription."},
		{"\"Consul\":{\"Namespace\":\"\"},",
			"\"Identity\":null,\"Templates\":[],\"LogConfig\":{\"MaxFiles\":2,"
			"\"MaxFileSizeMB\":1,\"Disabled\":false},",
			""},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char body[1024];
		job_body(body, sizeof body, "service", cases[i].of_group, cases[i].of_task);
		expect_warning("/v1/validate/job", body, cases[i].text);
		expect_warning("/v1/job/odd/plan", body, cases[i].text);
		expect_warning("/v1/jobs", body, cases[i].text);
	}
}

static void what_would_run_wrong_is_refused(void **unused)
{
	static const struct {
		const char *of_group, *of_task, *text;
	} cases[] = {
		{"", "\"Vault\":{},", TASK "Vault: "},
		{"",
			"\"Templates\":[{\"EmbeddedTmpl\":\"a\\n{{ key 5 "
			"}}\",\"DestPath\":\"local/x\"}],",
			TASK "Template 1: line 2, column 4: function \"key\": Consul is not there"},
		{"", "\"Artifacts\":[{\"GetterSource\":\"git::https://x/y\"}],",
			TASK "Artifact 1: GetterSource \"git::https://x/y\": artifacts are fetched "
			     "from http:// and https:// alone"},
		{"", "\"CSIPluginConfig\":{\"ID\":\"p\"},",
			"Job.TaskGroups[0].Tasks[0].CSIPluginConfig: "},
		{"\"Volumes\":{\"v\":{\"Type\":\"csi\",\"Source\":\"s\"}},", "",
			GROUP "Volumes[\"v\"]: "},
		{VOLUME, "\"VolumeMounts\":[{\"Volume\":\"v\"},{\"Volume\":\"w\"}],",
			TASK "Volume Mount (1) references undefined volume w"},
		{VOLUME, MOUNT_OF("bidirectional"),
			TASK "Volume Mount (0) has the propagation mode \"bidirectional\"; it is"},
		{"", "\"VolumeMounts\":[{\"Destination\":\"/x\"}],",
			TASK "Volume Mount (0) references undefined volume "},
		{"\"Services\":[{\"Name\":\"s\",\"Connect\":{\"SidecarService\":{}}}],", "",
			GROUP "Services: Connect: "},
		{"\"Services\":[{\"Name\":\"s\",\"Checks\":[{\"Type\":\"grpc\"}]}],", "",
			GROUP "Services[0].Checks[0]: a check of the type \"grpc\" is not run"},
		{"", "\"Services\":[{\"Name\":\"s\",\"Checks\":[{\"Type\":\"icmp\"}]}],",
			TASK "Services[0].Checks[0]: invalid check type (\"icmp\"), must be one of "
			     "tcp, http, script"},
		{"\"Services\":[{\"Name\":\"s\",\"Checks\":[{\"Type\":\"script\"}]}],", "",
			GROUP "Services[0].Checks[0]: a check of the type \"script\" must specify "
			      "task parameter"},
		{"", "\"Services\":[{\"Name\":\"s\",\"Checks\":[{\"Type\":\"http\"," TIMES "}]}],",
			TASK "Services[0].Checks[0]: http type must have http path"},
		{"\"Services\":[{\"Name\":\"s\",\"Checks\":[{\"Type\":\"tcp\",\"Interval\":"
		 "1000000,\"Timeout\":1000000000}]}],",
			"",
			GROUP "Services[0].Checks[0].Interval: 1000000ns cannot be lower than 1s"},
		{"\"EphemeralDisk\":{\"SizeMB\":20},", "",
			TASK "log storage (100 MB) must be less than requested disk capacity (20 "
			     "MB)"},
		{"\"EphemeralDisk\":{\"SizeMB\":100},", "", "capacity (100 MB)"},
		{"", "\"LogConfig\":{\"MaxFiles\":30,\"MaxFileSizeMB\":10},",
			"log storage (300 MB) must be less than requested disk capacity (300 MB)"},
		{"", "\"LogConfig\":{\"MaxFiles\":9000000000000000000,\"MaxFileSizeMB\":9},",
			"must be less than requested disk capacity (300 MB)"},
		{"", "\"LogConfig\":{\"MaxFiles\":0},", TASK "minimum number of files is 1; got 0"},
		{"", "\"LogConfig\":{\"MaxFileSizeMB\":0},",
			TASK "minimum file size is 1MB; got 0"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char body[1024];
		job_body(body, sizeof body, "service", cases[i].of_group, cases[i].of_task);
		expect_refusal("/v1/jobs", body, cases[i].text);
		expect_refusal("/v1/job/odd/plan", body, cases[i].text);
		json_t *reply = http_json(server, "PUT", "/v1/validate/job", body);
		assert_non_null(
			strstr(json_string_value(json_object_get(reply, "Error")), cases[i].text));
		json_decref(reply);
	}
}

static void one_cron_spec_is_a_warning(void **unused)
{
	static const char text[] = "cron is deprecated and may be removed in a future release. "
				   "Use crons instead";
	char body[1024];
	job_body(body, sizeof body,
		"batch\",\"Periodic\":{\"Spec\":\"@daily\"},\"Region\":\"global", "", "");
	expect_warning("/v1/validate/job", body, text);
	// Another job of this id is there.
	char *id = strstr(body, "odd");
	memcpy(id, "day", 3);
	expect_warning("/v1/job/day/plan", body, text);
	expect_warning("/v1/jobs", body, text);
	job_body(body, sizeof body,
		"batch\",\"Periodic\":{\"Specs\":[\"@daily\"]},\"Region\":\"global", "", "");
	expect_warning("/v1/validate/job", body, "");
}

// Clients run the instances of direct jobs, and may do all of it.
static void direct_jobs_are_their_clients_business(void **unused)
{
	char body[1024];
	job_body(body, sizeof body, "direct", "", "\"Vault\":{},\"Services\":[{\"Name\":\"s\"}],");
	expect_warning("/v1/validate/job", body, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_no_effect_is_a_warning),
		cmocka_unit_test(what_would_run_wrong_is_refused),
		cmocka_unit_test(one_cron_spec_is_a_warning),
		cmocka_unit_test(direct_jobs_are_their_clients_business),
	};
	return cmocka_run_group_tests(tests, scheduler_group_begin, server_group_end);
}
