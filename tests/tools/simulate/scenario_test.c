// Scenario files: what is read of them, and what is said of bad ones.
#include "state/records/nodes/node_own.h"
#include "tools/simulate/recorder.h"
#include "tools/simulate/scenario.h"
#include "tools/simulate/scenario_read.h"
#include "tools/simulate/simulate.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define NODE_ID "10000000-0000-4000-8000-000000000001"
#define ALLOC_ID "20000000-0000-4000-8000-000000000001"
#define EVAL                                                                                    \
	"\"Eval\":{\"ID\":\"30000000-0000-4000-8000-000000000001\",\"JobID\":\"job\",\"Type\":" \
	"\"system\","                                                                           \
	"\"TriggeredBy\":\"job-register\"}"
#define JOB(more)                                                                            \
	"\"JobInState\":true,\"JobVersions\":[{\"ID\":\"job\",\"Type\":\"system\","          \
	"\"ModifyIndex\":7,"                                                                 \
	"\"Datacenters\":[\"dc1\"],\"TaskGroups\":[{\"Name\":\"g\",\"Count\":1,\"Tasks\":[{" \
	"\"Name\":\"t\","                                                                    \
	"\"Driver\":\"exec\"}]" more "}]}]"

static struct json_report report;

static struct scenario *read_text(const char *text)
{
	json_report_free(&report);
	memset(&report, 0, sizeof report);
	return scenario_read(text, strlen(text), &report);
}

// The first thing that is said of a bad scenario contains these words.
static void expect_refusal(const char *text, const char *words)
{
	struct scenario *s = read_text(text);
	assert_null(s);
	assert_true(report.errors.count > 0);
	if (!strstr(report.errors.texts[0], words))
		fail_msg("said \"%s\", not \"%s\"", report.errors.texts[0], words);
	json_report_free(&report);
	memset(&report, 0, sizeof report);
}

static struct scenario *expect_read(const char *text)
{
	struct scenario *s = read_text(text);
	if (!s)
		fail_msg("%s", report.errors.texts[0]);
	return s;
}

static void what_is_missing_is_zero(void **state)
{
	struct scenario *s = expect_read("{" JOB("") "," EVAL "}");
	const struct job *job = s->job;
	const struct task *task =
		ARRAY_AT(&ARRAY_AT(&job->task_groups, struct task_group, 0)->tasks, struct task, 0);
	assert_int_equal(job->priority, 0);
	assert_int_equal(task->resources.memory_mb, 0);
	assert_int_equal(task->kill_timeout_ns, 0);
	assert_null(job->update);
	assert_string_equal(job->name, "job");
	assert_string_equal(job->namespace_name, "default");
	assert_string_equal(s->eval->namespace_name, "default");
	assert_int_equal(s->index, 7);
	assert_true(s->config.preemption.system);
	assert_false(s->config.preemption.sysbatch);
	scenario_free(s);
}

static void a_configuration_that_is_given_is_whole(void **state)
{
	struct scenario *s = expect_read("{\"SchedulerConfig\":{\"SchedulerAlgorithm\":\"spread\"},"
					 "\"Now\":5," JOB("") "," EVAL "}");
	assert_int_equal(s->config.algorithm, ALGORITHM_SPREAD);
	assert_false(s->config.preemption.system);
	assert_int_equal(s->now_ns, 5);
	scenario_free(s);
}

static void a_whole_node_is_read(void **state)
{
	struct scenario *s = expect_read(
		"{\"Nodes\":[{\"ID\":\"" NODE_ID
		"\",\"Name\":\"n\",\"Datacenter\":\"dc1\",\"NodeClass\":\"big\","
		"\"Status\":\"down\",\"SchedulingEligibility\":\"ineligible\",\"ComputedClass\":"
		"\"v1:77\","
		"\"Attributes\":{\"arch\":\"amd64\",\"unique.hostname\":\"h\"},\"Meta\":{\"unique."
		"key\":\"k\"},"
		"\"Drivers\":{\"exec\":{\"Detected\":true,\"Healthy\":true},\"qemu\":{\"Detected\":"
		"true}},"
		"\"HostVolumes\":{\"data\":{\"Path\":\"/srv\",\"ReadOnly\":true}},"
		"\"NodeResources\":{\"Cpu\":{\"CpuShares\":1000,\"ReservableCpuCores\":[0,1,2,3]},"
		"\"Memory\":{\"MemoryMB\":2000},\"Disk\":{\"DiskMB\":3000},\"NodeNetworks\":[{"
		"\"Mode\":\"host\","
		"\"Device\":\"eth0\",\"Speed\":100,\"Addresses\":[{\"Alias\":\"a\",\"Address\":"
		"\"10.0.0.1\","
		"\"ReservedPorts\":\"22\"}]}],\"MinDynamicPort\":100,\"MaxDynamicPort\":200,"
		"\"Devices\":[{\"Vendor\":"
		"\"v\",\"Type\":\"gpu\",\"Name\":\"x\",\"Instances\":[{\"ID\":\"dead\"},{\"ID\":"
		"\"one\",\"Healthy\":true},"
		"{\"ID\":\"two\",\"Healthy\":true}],\"Attributes\":{\"memory\":{\"Int\":11,"
		"\"Unit\":\"GiB\"}}}]},"
		"\"ReservedResources\":{\"Cpu\":{\"CpuShares\":100,\"ReservedCpuCores\":[1]},"
		"\"Memory\":{\"MemoryMB\":200},\"Disk\":{\"DiskMB\":300},"
		"\"Networks\":{\"ReservedHostPorts\":\"53,8000-8010\"}},\"DrainStrategy\":{"
		"\"Deadline\":5,"
		"\"StartedAt\":\"2026-01-01T00:00:00Z\",\"IgnoreSystemJobs\":true}}]," JOB(
			"") "," EVAL "}");
	const struct node *n = &scenario_node_at(s, 0)->record;
	const struct node_class *c = n->node_class;
	assert_int_equal(n->status, NODE_DOWN);
	assert_int_equal(n->eligibility, NODE_INELIGIBLE);
	assert_int_equal(n->total.cpu_mhz, 1000);
	assert_int_equal(n->reserved.disk_mb, 300);
	assert_int_equal(c->hash, 77);
	assert_int_equal(c->attribute_count, 1);
	assert_int_equal(c->meta_count, 0);
	struct own_walk meta = node_own_meta(n), attributes = node_own_attributes(n);
	struct attribute own;
	assert_true(own_walk_next(&attributes, &own));
	assert_string_equal(own.value, "h");
	assert_true(own_walk_next(&meta, &own));
	assert_string_equal(own.name, "unique.key");
	assert_string_equal(c->drivers[0].value, "1");
	assert_string_equal(c->drivers[1].value, "0");
	assert_true(node_fittings(n)->volumes[0].read_only);
	assert_string_equal(node_fittings(n)->networks[0].addresses[0].reserved_ports, "22");
	assert_string_equal(node_fittings(n)->reserved_ports, "53,8000-8010");
	assert_int_equal(n->port_least, 100);
	assert_int_equal(n->port_most, 200);
	assert_string_equal(node_fittings(n)->reservable_cores, "0,2,3");
	assert_int_equal(c->devices[0].instances, 2);
	assert_string_equal(c->devices[0].attributes[0].value, "11 GiB");
	assert_string_equal(scenario_device_id(scenario_node_at(s, 0), 0, 1), "two");
	assert_null(scenario_device_id(scenario_node_at(s, 0), 0, 2));
	assert_true(n->drain->ignore_system_jobs);
	assert_int_equal(n->drain->started_at_ns, 1767225600000000000);
	scenario_free(s);
}

#define ALLOC(more)                                                                          \
	"\"Nodes\":[{\"ID\":\"" NODE_ID                                                      \
	"\",\"NodeResources\":{\"Networks\":[{\"Device\":\"eth0\",\"IP\":\"10.0.0.9\"}]}}]," \
	"\"Allocs\":[{\"ID\":\"" ALLOC_ID                                                    \
	"\",\"JobID\":\"job\",\"TaskGroup\":\"g\",\"NodeID\":\"" NODE_ID "\"" more "}]"

static void a_whole_allocation_is_read(void **state)
{
	struct scenario *s = expect_read("{" JOB("") "," ALLOC(
		",\"Name\":\"job.g[12]\",\"ClientStatus\":\"unknown\",\"DesiredStatus\":\"stop\","
		"\"AllocatedResources\":{\"Tasks\":{\"t\":{\"Cpu\":{\"CpuShares\":5,"
		"\"ReservedCores\":[2]},"
		"\"Memory\":{\"MemoryMB\":6}},\"u\":{\"Cpu\":{\"CpuShares\":9}}},"
		"\"TaskLifecycles\":"
		"{\"u\":{\"Hook\":\"prestart\"}},\"Shared\":{\"DiskMB\":7,\"Ports\":[{\"Label\":"
		"\"p\",\"Value\":80}]}},"
		"\"DesiredTransition\":{\"Migrate\":false},\"AllocStates\":[{\"Field\":"
		"\"ClientStatus\",\"Value\":"
		"\"unknown\",\"Time\":\"2026-01-01T00:00:00Z\"}],\"TaskStates\":{\"t\":{\"State\":"
		"\"dead\","
		"\"Failed\":true}},\"RescheduleTracker\":{\"Events\":[{\"Delay\":5}]}") "," EVAL
											"}");
	const struct allocation *a = &s->allocations[0].record;
	assert_int_equal(a->index, 12);
	assert_int_equal(a->client_status, ALLOC_UNKNOWN);
	assert_int_equal(a->desired, ALLOC_STOP);
	assert_int_equal(a->resources.cpu_mhz, 9); // the prestart task ends before the other begins
	assert_int_equal(a->resources.memory_mb, 6);
	assert_int_equal(a->resources.disk_mb, 7);
	assert_true(a->details->transition.migrate.set && !a->details->transition.migrate.value);
	assert_int_equal(a->details->ports.count, 1);
	assert_int_equal(a->details->tasks.count, 1);
	assert_int_equal(a->details->reschedule_events.count, 1);
	assert_int_equal(
		ARRAY_AT(&a->details->states, struct alloc_state, 0)->time_ns, 1767225600000000000);
	assert_true(ARRAY_AT(&a->report->task_states, struct task_state, 0)->failed);
	assert_ptr_equal(a->job, s->job);
	assert_string_equal(
		node_fittings(&s->nodes[0].record)->networks[0].addresses[0].address, "10.0.0.9");
	scenario_free(s);
}

static void purged_jobs_keep_their_versions_for_allocations(void **state)
{
	struct scenario *s =
		expect_read("{\"JobVersions\":[{\"ID\":\"job\",\"ModifyIndex\":7,\"TaskGroups\":[{"
			    "\"Name\":\"g\"}]}]," ALLOC(",\"Name\":\"job.g[0]\"") "," EVAL "}");
	struct scheduler_view view = scenario_view(s);
	assert_null(view.job(view.context, "default", "job"));
	assert_int_equal(s->allocations[0].record.node_slot, 0);
	scenario_free(s);
}

static void nodes_of_one_computed_class_share_it(void **state)
{
	struct scenario *s = expect_read(
		"{\"Nodes\":[{\"ID\":\"" NODE_ID "\",\"ComputedClass\":\"v1:5\"},"
		"{\"ID\":\"10000000-0000-4000-8000-000000000002\",\"ComputedClass\":\"v1:6\"},"
		"{\"ID\":\"10000000-0000-4000-8000-000000000003\",\"ComputedClass\":\"v1:5\"},"
		"{\"ID\":\"10000000-0000-4000-8000-000000000004\"}]," JOB("") "," EVAL "}");
	assert_int_equal(s->nodes[0].node_class.serial, s->nodes[2].node_class.serial);
	assert_int_not_equal(s->nodes[0].node_class.serial, s->nodes[1].node_class.serial);
	assert_int_not_equal(s->nodes[0].node_class.serial, s->nodes[3].node_class.serial);
	scenario_free(s);
}

static void mistakes_say_where_they_are(void **state)
{
	static const struct {
		const char *text, *words;
	} rows[] = {
		{"{\n\"Nodes\": [,]}", "line 2 column"},
		{"{}", "Eval: is missing"},
		{"{\"Input\":{\"Nodes\":5," EVAL "}}", "Input.Nodes: expected a list"},
		{"{\"JobInState\":true," EVAL "}", "JobVersions: is empty"},
		{"{\"Nodes\":[{\"Status\":\"up\"}]," EVAL "}",
			"Nodes[0].Status: \"up\" is none of"},
		{"{\"Nodes\":[{}]," EVAL "}", "Nodes[0].ID: is missing"},
		{"{\"Nodes\":[{\"ID\":\"" NODE_ID "\"},{\"ID\":\"" NODE_ID "\"}]," EVAL "}",
			"].ID: is that of Nodes["},
		{"{\"Nodes\":[{\"ID\":\"" NODE_ID
		 "\",\"NodeResources\":{\"Cpu\":{\"CpuShares\":-1}}}]," EVAL "}",
			"Nodes[0].NodeResources.Cpu.CpuShares: must be from 0 to"},
		{"{\"Nodes\":[{\"ID\":\"" NODE_ID
		 "\",\"ReservedResources\":{\"Networks\":{\"ReservedHostPorts\":\"x\"}}}]," EVAL
		 "}",
			"is no list of ports"},
		{"{\"JobVersions\":[{\"ID\":\"job\",\"ModifyIndex\":1,\"TaskGroups\":[{\"Name\":"
		 "\"g\","
		 "\"Count\":-1}]}]," EVAL "}",
			"JobVersions[0].TaskGroups[0].Count: must be from 0"},
		{"{\"JobVersions\":[{\"ID\":\"job\",\"ModifyIndex\":1,\"TaskGroups\":[{\"Name\":"
		 "\"g\","
		 "\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"d\"},{\"Name\":\"t\",\"Driver\":\"d\"}]}]"
		 "}]," EVAL "}",
			"Tasks[1].Name: \"t\" is given twice"},
		{"{\"JobVersions\":[{\"ID\":\"job\",\"TaskGroups\":[]}]," EVAL "}",
			"JobVersions[0].ModifyIndex: is missing"},
		{"{\"JobVersions\":[{\"ID\":\"job\",\"ModifyIndex\":1,\"TaskGroups\":[{}]}]," EVAL
		 "}",
			"JobVersions[0].TaskGroups[0].Name: is missing"},
		{"{" JOB("") ",\"OtherJobs\":[{\"ID\":\"job\",\"ModifyIndex\":7}]," EVAL "}",
			"OtherJobs[0].ModifyIndex: is that of another version"},
		{"{" JOB("") "," ALLOC(",\"Name\":\"job.x[0]\"") "," EVAL "}",
			"Allocs[0].Name: must be \"job.g[<number>]\""},
		{"{" JOB("") "," ALLOC(",\"JobVersion\":3") "," EVAL "}",
			"Allocs[0]: there is no version 3 of job \"job\"; add it"},
		{"{" JOB("") ","
			     "\"Nodes\":[{\"ID\":\"" NODE_ID "\"}],\"Allocs\":[{\"ID\":\"" ALLOC_ID
			     "\",\"JobID\":\"job\",\"TaskGroup\":\"other\",\"NodeID\":\"" NODE_ID
			     "\"}]," EVAL "}",
			"Allocs[0].TaskGroup: version 0 of job \"job\" has no group \"other\""},
		{"{" JOB("") "," ALLOC(",\"Name\":\"job.g[0]\",\"AllocatedResources\":{\"Shared\":"
				       "{\"DiskMB\":-5}}") "," EVAL "}",
			"Allocs[0].AllocatedResources: amounts"},
		{"{\"Now\":\"today\"," EVAL "}", "Now: expected a number"},
		{"{\"Quotas\":[{}]," EVAL "}", "Quotas[0]: needs a Name"},
		{"{\"Quotas\":[{\"Name\":\"a\"},{\"Name\":\"a\"}]," EVAL "}",
			"Quotas[1].Name: \"a\" is given twice"},
		{"{\"Quotas\":{}," EVAL "}", "Quotas: expected a list"},
		{"{\"Namespaces\":[{}]," EVAL "}", "Namespaces[0].Name: is missing"},
		{"{\"Namespaces\":[{\"Name\":\"a\"},{\"Name\":\"a\"}]," EVAL "}",
			"Namespaces[1].Name: \"a\" is given twice"},
		{"{\"Namespaces\":[{\"Name\":\"a\",\"Quota\":\"q\"}]," EVAL "}",
			"Namespaces[0].Quota: \"q\" is no quota of the scenario"},
		{"{\"Eval\":{\"ID\":\"x\",\"JobID\":\"job\"}}", "Eval.ID: \"x\" is no UUID"},
	};
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
		expect_refusal(rows[i].text, rows[i].words);
}

// What is said and printed about a file with this text.
static int run_file(const char *text, char *output, char *messages, size_t size)
{
	char path[] = "/tmp/scenario-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	struct simulate_settings settings = {.path = path,
		.output = fmemopen(output, size, "w"),
		.messages = fmemopen(messages, size, "w")};
	int status = simulate(&settings);
	fclose(settings.output);
	fclose(settings.messages);
	unlink(path);
	return status;
}

#define NODE(number, more)                                                               \
	"{\"ID\":\"10000000-0000-4000-8000-00000000000" number                           \
	"\",\"Datacenter\":\"dc1\",\"Status\":\"ready\",\"Drivers\":{\"exec\":{"         \
	"\"Detected\":true,\"Healthy\":true}},\"NodeResources\":{\"Cpu\":{\"CpuShares\"" \
	":1000},\"Memory\":{\"MemoryMB\":1000},\"Disk\":{\"DiskMB\":1000}}" more "}"
#define WARM_JOB                                                                               \
	"\"JobInState\":true,\"JobVersions\":[{\"ID\":\"job\",\"Type\":\"service\","           \
	"\"ModifyIndex\":7,\"Datacenters\":[\"dc1\"],\"TaskGroups\":[{\"Name\":\"g\","         \
	"\"Count\":1,\"Snapshot\":\"warm\",\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\"}]}]" \
	"}],\"Eval\":{\"ID\":\"30000000-0000-4000-8000-000000000001\",\"JobID\":\"job\","      \
	"\"Type\":\"service\",\"TriggeredBy\":\"job-register\"}"
#define STANDS(standing, snapshot)                                                                 \
	",\"Berth\":{\"Slot\":1,\"Generation\":1,\"RegisteredAt\":\"\",\"AgentVersion\":"          \
	"\"\",\"Used\":{},\"Lifecycle\":{\"Standing\":\"" standing                                 \
	"\",\"Lost\":false,\"Flaky\":false,\"Ready\":true,\"Since\":null,\"Snapshot\":\"" snapshot \
	"\",\"Busy\":false}}"

// The node of that number takes the only instance.
static void expect_placed_on(const char *nodes, const char *number)
{
	char output[8192] = "", messages[4096] = "", text[4096], id[64];
	snprintf(text, sizeof text, "{\"Nodes\":[%s]," WARM_JOB "}", nodes);
	assert_int_equal(run_file(text, output, messages, sizeof messages), 0);
	assert_string_equal(messages, "");
	snprintf(id, sizeof id, "\"NodeID\":\"10000000-0000-4000-8000-00000000000%s\"", number);
	if (!strstr(output, id))
		fail_msg("not on node %s: %s", number, output);
}

// As they stand, and by what they ran last, whether a scenario says that itself or was pasted from the API.
static void nodes_are_chosen_by_their_snapshot(void **state)
{
	const char *other = NODE("1", ",\"Snapshot\":\"other\"");
	const char *none = NODE("2", STANDS("healthy", ""));
	const char *warm = NODE("3", ",\"Snapshot\":\"warm\"");
	const char *pasted = NODE("4", STANDS("healthy", "warm"));
	static const char *const unfit[] = {NODE("5", STANDS("suspended", "warm")),
		NODE("5", STANDS("offlined", "warm")), NODE("5", STANDS("forgotten", "warm"))};
	char text[4096];

	expect_placed_on(other, "1");
	snprintf(text, sizeof text, "%s,%s", other, none);
	expect_placed_on(text, "2");
	snprintf(text, sizeof text, "%s,%s,%s", other, none, warm);
	expect_placed_on(text, "3");
	snprintf(text, sizeof text, "%s,%s,%s", other, none, pasted);
	expect_placed_on(text, "4");
	for (uint32_t i = 0; i < 3; i++) {
		snprintf(text, sizeof text, "%s,%s,%s", unfit[i], other, none);
		expect_placed_on(text, "2");
	}
}

enum { TEAM_BYTES = 32768 };
#define QUOTAS(limit)                                                                              \
	"\"Quotas\":[{\"Name\":\"small\",\"Hash\":\"x\",\"Limits\":[{\"Hash\":\"x\","              \
	"\"RegionLimit\":{" limit "}}]}],\"Namespaces\":[{\"Name\":\"team\",\"Quota\":\"small\"}," \
	"{\"Name\":\"other\",\"Quota\":\"small\"},{\"Name\":\"free\"}],"
#define TEAM_JOB(id, space, count)                                                               \
	"{\"ID\":\"" id "\",\"Namespace\":\"" space "\",\"Type\":\"service\",\"ModifyIndex\":7," \
	"\"Datacenters\":[\"dc1\"],\"TaskGroups\":[{\"Name\":\"g\",\"Count\":" count             \
	",\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\",\"Resources\":{\"CPU\":100}}]}]}"
#define TEAM_ALLOC(number, space, status)                                                 \
	"{\"ID\":\"20000000-0000-4000-8000-00000000000" number "\",\"JobID\":\"before\"," \
	"\"Namespace\":\"" space "\",\"TaskGroup\":\"g\",\"Name\":\"before.g[0]\","       \
	"\"NodeID\":\"10000000-0000-4000-8000-000000000001\",\"DesiredStatus\":\"run\","  \
	"\"ClientStatus\":\"" status "\"}"

// How an evaluation of a job of three instances in a namespace ends, with a node that has room for ten, of which one
// lives in another namespace of the same quota.
static void run_team(const char *quotas, const char *space, char *output, size_t size)
{
	static char messages[TEAM_BYTES];
	char text[8192];
	snprintf(text, sizeof text,
		"{%s\"Nodes\":[" NODE("1",
			"") "],\"JobInState\":true,\"JobVersions\":[%s],"
			    "\"OtherJobs\":[" TEAM_JOB("before", "other",
				    "1") "],"
					 "\"Allocs\":[" TEAM_ALLOC("1", "other",
						 "running") "," TEAM_ALLOC("2", "other",
						 "complete") "],\"Eval\":{\"ID\":"
							     "\"30000000-0000-4000-8000-"
							     "000000000001\",\"JobID\":\"job\","
							     "\"Type\":\"service\","
							     "\"Namespace\":\"%s\",\"TriggeredBy\":"
							     "\"job-register\"}}",
		quotas,
		strcmp(space, "team") == 0 ? TEAM_JOB("job", "team", "3")
					   : TEAM_JOB("job", "free", "3"),
		space);
	assert_int_equal(run_file(text, output, messages, size), 0);
	assert_string_equal(messages, "");
}

static int placements(const char *output)
{
	int count = 0;
	for (const char *at = output; (at = strstr(at, "\"ClientStatus\":\"pending\"")); at++)
		count++;
	return count;
}

static void what_a_quota_does_not_allow_waits(void **state)
{
	static char output[TEAM_BYTES];
	run_team(QUOTAS("\"CPU\":300"), "team", output, sizeof output);
	assert_int_equal(placements(output), 2);
	assert_non_null(strstr(output, "\"QuotaLimitReached\":\"small\""));
	assert_non_null(
		strstr(output, "\"QuotaExhausted\":[\"cpu exhausted (400 needed > 300 limit)\"]"));
	assert_non_null(strstr(output, "\"Status\":\"blocked\""));
	run_team(QUOTAS("\"Instances\":1"), "team", output, sizeof output);
	assert_int_equal(placements(output), 0);
	run_team(QUOTAS("\"CPU\":400,\"Instances\":4"), "team", output, sizeof output);
	assert_int_equal(placements(output), 3);
	assert_null(strstr(output, "blocked"));
	run_team(QUOTAS("\"Instances\":1"), "free", output, sizeof output);
	assert_int_equal(placements(output), 3);
	run_team("", "team", output, sizeof output);
	assert_int_equal(placements(output), 3);
}

static void wrapped_counters_of_a_recording_do_no_harm(void **state)
{
	char output[4096] = "", messages[4096] = "";
	assert_int_equal(
		run_file(
			"{\"Input\":{" JOB(
				"") "," EVAL "},\"Output\":{\"Place\":18446744073709551615,"
				    "\"Text\":\"18446744073709551615 \\\" 99999999999999999999\"}}",
			output, messages, sizeof output),
		0);
	assert_non_null(strstr(output, "\"Status\":\"complete\""));
	assert_string_equal(messages, "");
	assert_int_equal(run_file("{\"Now\":18446744073709551615," EVAL "}", output, messages,
				 sizeof output),
		1);
	assert_non_null(strstr(messages, "Now: expected a number"));
}

static void what_is_not_known_is_warned_of(void **state)
{
	char output[4096] = "", messages[4096] = "";
	assert_int_equal(
		run_file("{\"Nodes\":[{\"ID\":\"" NODE_ID
			 "\",\"SecretID\":\"s\",\"Colour\":\"red\"}]," JOB("") "," EVAL "}",
			output, messages, sizeof output),
		0);
	assert_non_null(strstr(messages, "warning: Nodes[0].Colour: not known, ignored"));
	assert_null(strstr(messages, "SecretID"));
}

static void types_without_a_scheduler_are_told(void **state)
{
	char output[4096] = "", messages[4096] = "";
	assert_int_equal(run_file("{" JOB("") ",\"Eval\":{\"JobID\":\"job\",\"Type\":\"_core\"}}",
				 output, messages, sizeof output),
		1);
	assert_non_null(strstr(messages, "no scheduler for type \"_core\""));
	assert_string_equal(output, "");
}

static void a_file_that_is_not_there_is_told(void **state)
{
	char messages[512] = "";
	struct simulate_settings settings = {.path = "/nonexistent/scenario.json",
		.output = stdout,
		.messages = fmemopen(messages, sizeof messages, "w")};
	assert_int_equal(simulate(&settings), 1);
	fclose(settings.messages);
	assert_non_null(strstr(messages, "/nonexistent/scenario.json: No such file"));
}

static int tidy(void **state)
{
	json_report_free(&report);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_missing_is_zero),
		cmocka_unit_test(a_configuration_that_is_given_is_whole),
		cmocka_unit_test(a_whole_node_is_read),
		cmocka_unit_test(a_whole_allocation_is_read),
		cmocka_unit_test(purged_jobs_keep_their_versions_for_allocations),
		cmocka_unit_test(nodes_of_one_computed_class_share_it),
		cmocka_unit_test(mistakes_say_where_they_are),
		cmocka_unit_test(nodes_are_chosen_by_their_snapshot),
		cmocka_unit_test(what_a_quota_does_not_allow_waits),
		cmocka_unit_test(wrapped_counters_of_a_recording_do_no_harm),
		cmocka_unit_test(what_is_not_known_is_warned_of),
		cmocka_unit_test(types_without_a_scheduler_are_told),
		cmocka_unit_test(a_file_that_is_not_there_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, tidy);
}
