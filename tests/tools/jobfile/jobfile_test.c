// Job files as jobs of the API: what blocks become, where values come from, and where mistakes are.
#include "tools/jobfile/jobfile.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static json_t *read_job(struct jobfile *options, const char *text)
{
	char *message = NULL;
	options->name = "test.hcl";
	options->text = text_of(text);
	json_t *job = jobfile_read(options, &message);
	if (!job)
		print_error("%s", message);
	free(message);
	assert_non_null(job);
	return job;
}

static json_t *read_plain(const char *text)
{
	struct jobfile options = {0};
	return read_job(&options, text);
}

// The value at a path of members and of places in lists, as JSON. Frees the job.
static void check_at(json_t *job, const char *path, const char *expected)
{
	char word[64];
	const json_t *at = job;
	for (const char *p = path; *p; p += strlen(word) + (p[strlen(word)] == '.')) {
		snprintf(word, sizeof word, "%.*s", (int)strcspn(p, "."), p);
		at = json_is_array(at) ? json_array_get(at, strtoul(word, NULL, 10))
				       : json_object_get(at, word);
	}
	char *found = at ? json_dumps(at, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS) : NULL;
	if (!found || strcmp(found, expected) != 0)
		print_error("%s\n", path);
	assert_non_null(found);
	assert_string_equal(found, expected);
	free(found);
}

#define TASK(inside) "job \"j\" {\n group \"g\" {\n  task \"t\" {\n" inside "\n  }\n }\n}\n"
#define CONFIG(inside) TASK("config {\n" inside "\n}")

static const struct {
	const char *text, *path, *value;
} made[] = {
	{"job \"j\" {}", "ID", "\"j\""},
	{"job \"j\" {\n name = \"n\"\n id = \"i\"\n}", "ID", "\"i\""},
	{"job j {\n priority = \"44\"\n}", "Priority", "44"},
	{"job j {\n all_at_once = \"1\"\n}", "AllAtOnce", "true"},
	{"job j {}", "Priority", "null"},
	{"job j {\n meta { a = 1e3 }\n}", "Meta", "{\"a\":\"1000\"}"},
	{"job j {\n meta = { \"a.b\" = true }\n}", "Meta", "{\"a.b\":\"true\"}"},
	{"job j {\n constraint { distinct_hosts = true }\n}", "Constraints.0",
		"{\"LTarget\":\"\",\"Operand\":\"distinct_hosts\",\"RTarget\":\"true\"}"},
	{"job j {\n constraint {\n attribute = \"${a}\"\n regexp = \"x\"\n }\n}", "Constraints.0",
		"{\"LTarget\":\"${a}\",\"Operand\":\"regexp\",\"RTarget\":\"x\"}"},
	{"job j {\n affinity { weight = -5 }\n}", "Affinities.0.Weight", "-5"},
	{"job j {\n task \"t\" {}\n group \"g\" {}\n}", "TaskGroups.0.Name", "\"t\""},
	{"job j {\n periodic { cron = \"@daily\" }\n}", "Periodic.SpecType", "\"cron\""},
	{"job j {\n vault { policies = [\"p\"] }\n task \"t\" {}\n}",
		"TaskGroups.0.Tasks.0.Vault.ChangeMode", "\"restart\""},
	{"job j {\n group \"g\" {\n network {\n port \"a\" {}\n port \"b\" { static = 5 }\n }\n "
	 "}\n}",
		"TaskGroups.0.Networks.0.ReservedPorts.0.Label", "\"b\""},
	{"job j {\n group \"g\" {\n volume \"v\" { type = \"host\" }\n }\n}",
		"TaskGroups.0.Volumes.v.Type", "\"host\""},
	{"job j {\n dynamic \"group\" {\n for_each = [\"a\", \"b\"]\n iterator = it\n"
	 " labels = [\"g-${it.value}\"]\n content { count = it.key }\n }\n}",
		"TaskGroups.1.Name", "\"g-b\""},
	{"job j {\n dynamic \"group\" {\n for_each = {x = 1}\n labels = [group.key]\n content {\n"
	 " dynamic \"task\" {\n for_each = [group.value]\n labels = [\"t${task.value}\"]\n"
	 " content {}\n }\n }\n }\n}",
		"TaskGroups.0.Tasks.0.Name", "\"t1\""},
	{TASK("kill_timeout = \"1m\""), "TaskGroups.0.Tasks.0.KillTimeout", "60000000000"},
	{TASK("kill_timeout = 20"), "TaskGroups.0.Tasks.0.KillTimeout", "20"},
	{TASK("template {}"), "TaskGroups.0.Tasks.0.Templates.0.Perms", "\"0644\""},
	{TASK("scaling \"CPU\" {}"), "TaskGroups.0.Tasks.0.ScalingPolicies.0.Type",
		"\"vertical_cpu\""},
	{TASK("service {\n check {\n header {\n A = [\"b\"]\n }\n }\n }"),
		"TaskGroups.0.Tasks.0.Services.0.Checks.0.Header", "{\"A\":[\"b\"]}"},
	{CONFIG("a = {b = 1}"), "TaskGroups.0.Tasks.0.Config", "{\"a\":[{\"b\":1}]}"},
	{CONFIG("a = ({b = 1})"), "TaskGroups.0.Tasks.0.Config", "{\"a\":{\"b\":1}}"},
	{CONFIG("r \"x\" { y = 1 }\nr \"z\" {}"), "TaskGroups.0.Tasks.0.Config",
		"{\"r\":[{\"x\":[{\"y\":1}]},{\"z\":[{}]}]}"},
	{CONFIG("a = null\nb = [null, 1.5, \"${1}\"]"), "TaskGroups.0.Tasks.0.Config",
		"{\"b\":[null,1.5,1]}"},
	{CONFIG("a = \"${node.class}\""), "TaskGroups.0.Tasks.0.Config",
		"{\"a\":\"${node.class}\"}"},
	{"locals {\n b = local.a\n}\nlocals {\n a = 5\n}\njob j {\n priority = local.b\n}",
		"Priority", "5"},
	{"variables { p = 7 }\njob j {\n priority = var.p\n}", "Priority", "7"},
};

static void blocks_become_members(void **unused)
{
	for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
		json_t *job = read_plain(made[i].text);
		check_at(job, made[i].path, made[i].value);
		json_decref(job);
	}
}

static void values_come_from_the_nearest(void **unused)
{
	static const char text[] =
		"variable \"v\" {\n default = \"default\"\n}\njob j {\n name = var.v\n}\n";
	const char *const environment[] = {"NOMAD_VAR_v=environment", "NOMAD_VAR_other=1", NULL};
	const struct text files[] = {TEXT("v = \"one\""), TEXT(" {\"v\": \"two\"}")};
	const char *const names[] = {"one", "two"};
	const char *const arguments[] = {"v=first", "v=a=b", "novalue"};
	static const char *const expected[] = {
		"\"default\"", "\"environment\"", "\"one\"", "\"two\"", "\"a=b\""};
	for (uint32_t i = 0; i < 5; i++) {
		struct jobfile options = {.environment = i > 0 ? environment : NULL,
			.value_files = files,
			.value_file_names = names,
			.value_file_count = i < 2   ? 0
					    : i < 3 ? 1
						    : 2,
			.variables = arguments,
			.variable_count = i == 4 ? 3 : 0};
		json_t *job = read_job(&options, text);
		check_at(job, "Name", expected[i]);
		json_decref(job);
	}
}

static void values_are_of_their_type(void **unused)
{
	const char *const arguments[] = {
		"l=[1, \"b\"]", "m={a = 1}", "n=5", "b=true", "o={x = \"1\"}"};
	struct jobfile options = {.variables = arguments, .variable_count = 5};
	json_t *job = read_job(&options,
		"variable \"l\" {\n type = list(string)\n}\nvariable \"m\" {\n type = "
		"map(string)\n}\n"
		"variable \"n\" {\n type = number\n}\nvariable \"b\" {\n type = bool\n}\n"
		"variable \"o\" {\n type = object({x = number})\n}\n" CONFIG(
			"v = [var.l, var.m, var.n, var.b, var.o]"));
	check_at(job, "TaskGroups.0.Tasks.0.Config.v",
		"[[\"1\",\"b\"],{\"a\":\"1\"},5,true,{\"x\":1}]");
	json_decref(job);
}

static void files_are_read_where_they_may_be(void **unused)
{
	struct jobfile options = {.files_from = "/proc/self"};
	json_t *job = read_job(
		&options, "job j {\n name = fileexists(\"none\") ? \"a\" : basename(\"x/b\")\n}\n");
	check_at(job, "Name", "\"b\"");
	json_decref(job);
}

static void a_canonical_job_leaves_nothing_out(void **unused)
{
	static const struct {
		const char *path, *value;
	} rows[] = {
		{"Priority", "50"},
		{"Region", "\"global\""},
		{"Update.MaxParallel", "3"},
		{"TaskGroups.0.Count", "2"},
		{"TaskGroups.0.Update.MaxParallel", "3"},
		{"TaskGroups.0.Update.Canary", "1"},
		{"TaskGroups.0.ReschedulePolicy.DelayFunction", "\"exponential\""},
		{"TaskGroups.0.RestartPolicy.Attempts", "2"},
		{"TaskGroups.0.Tasks.0.RestartPolicy.Attempts", "9"},
		{"TaskGroups.0.Tasks.0.Resources.CPU", "0"},
		{"TaskGroups.0.Tasks.0.Resources.Cores", "4"},
		{"TaskGroups.0.Tasks.0.Artifacts.0.RelativeDest", "\"local/c\""},
		{"TaskGroups.0.Tasks.0.Services.0.Name", "\"j-g-t\""},
		{"TaskGroups.0.Tasks.0.Services.0.Checks.0.CheckRestart.Grace", "1000000000"},
		{"TaskGroups.0.Tasks.0.Services.0.Checks.0.OnUpdate", "\"ignore\""},
		{"TaskGroups.0.Tasks.0.Services.0.Checks.0.SuccessBeforePassing", "0"},
	};
	json_t *job = read_plain(
		"job \"j\" {\n update { max_parallel = 3 }\n group \"g\" {\n update { canary = 1 "
		"}\n"
		" scaling {\n min = 2\n max = 3\n }\n task \"t\" {\n restart { attempts = 9 }\n"
		" resources { cores = 4 }\n artifact {\n source = \"a/b/c\"\n mode = \"file\"\n }\n"
		" service {\n on_update = \"ignore\"\n check_restart { limit = 1 }\n check { "
		"success_before_passing = -1 }\n }\n"
		" }\n }\n}\n");
	jobfile_canonicalize(job);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		check_at(job, rows[i].path, rows[i].value);
	json_decref(job);
}

static void mistakes_say_where_they_are(void **unused)
{
	static const struct {
		const char *text, *place;
	} cases[] = {
		{"", "A block \"job\" is required."},
		{"job j {\n counts = 1\n}", "test.hcl:2,2: "},
		{"job j {\n restart = 1\n}", "test.hcl:2,2: "},
		{"job j {\n sandbox {}\n}", "test.hcl:2,2: "},
		{"job j {\n group {}\n}", "test.hcl:2,8: "},
		{"job \"a\" \"b\" {}", "test.hcl:1,9: "},
		{"job a {}\njob b {}", "test.hcl:2,1: "},
		{"job j {\n priority = \"x\"\n}", "test.hcl:2,14: "},
		{"job j {\n priority = 1.5\n}", "test.hcl:2,13: "},
		{"job j {\n priority = 1 / 0\n}", "test.hcl:2,13: "},
		{"job j {\n all_at_once = 1\n}", "test.hcl:2,16: "},
		{"job j {\n type = []\n}", "test.hcl:2,9: "},
		{"job j {\n update {}\n update {}\n}", "test.hcl:3,2: "},
		{"job j {\n meta = {}\n meta {}\n}", "test.hcl:3,2: "},
		{"job j {\n spread { weight = 300 }\n}", "test.hcl:2,20: "},
		{"job j {\n name = var.none\n}", "test.hcl:2,12: "},
		{"job j {\n dynamic \"group\" {\n for_each = 5\n labels = [\"a\"]\n content {}\n "
		 "}\n}",
			"test.hcl:3,13: "},
		{"job j {\n dynamic \"group\" {\n for_each = []\n labels = []\n content {}\n }\n}",
			"test.hcl:4,11: "},
		{"job j {\n group g {\n dynamic \"volume\" {\n for_each = [1]\n content {}\n }\n "
		 "}\n}",
			"test.hcl:3,2: "},
		{"job j {\n group g {\n scaling { min = 1 }\n }\n}", "test.hcl:3,10: "},
		{TASK("kill_timeout = null"), "test.hcl:4,16: "},
		{TASK("kill_timeout = \"20\""), "test.hcl:4,17: "},
		{TASK("user = null"), "test.hcl:4,8: "},
		{TASK("scaling \"disk\" {}"), "test.hcl:4,9: "},
		{TASK("env { A = [] }"), "test.hcl:4,11: "},
		{TASK("resources { cpu = 1 + node.x }"), "test.hcl:4,23: "},
		{"locals {\n a = local.b\n b = local.a\n}\njob j {}", "test.hcl:2,11: "},
		{"variable \"v\" {}\njob j {}", "The variable \"v\" has no value"},
		{"variable \"v\" {\n type = strng\n}\njob j {}", "test.hcl:2,9: "},
		{"variable \"v\" {\n type = number\n default = \"x\"\n}\njob j {}",
			"test.hcl:3,12: "},
		{"variable \"v\" {\n default = 9\n validation {\n condition = var.v < 5\n"
		 " error_message = \"Too large.\"\n }\n}\njob j {}",
			"test.hcl:2,12: Too large."},
		{"variable \"v\" {\n default = 9\n validation { condition = var.v < 5 }\n}\njob j "
		 "{}",
			"test.hcl:3,13: "},
		{"job j {\n name = file(\"x\")\n}", "test.hcl:2,9: "},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char *message = NULL;
		struct jobfile options = {.name = "test.hcl", .text = text_of(cases[i].text)};
		assert_null(jobfile_read(&options, &message));
		if (!strstr(message, cases[i].place))
			print_error("%s\n%s\n%s\n", cases[i].text, message, cases[i].place);
		assert_ptr_equal(strstr(message, cases[i].place), message);
		free(message);
	}
}

static void values_that_nobody_asks_for_are_mistakes_or_not(void **unused)
{
	const char *const arguments[] = {"none=1"};
	char *message;
	struct jobfile options = {.name = "test.hcl",
		.text = TEXT("job j {}"),
		.variables = arguments,
		.variable_count = 1};
	assert_null(jobfile_read(&options, &message));
	assert_non_null(strstr(message, "\"none\""));
	free(message);
	options.lenient = true;
	json_decref(read_job(&options, "job j {}"));
}

static void costs_have_a_limit(void **unused)
{
	static const char *const texts[] = {
		"job j {\n dynamic \"group\" {\n for_each = range(1000)\n labels = [\"a\"]\n "
		"content {\n"
		" dynamic \"task\" {\n for_each = range(1000)\n labels = [\"b\"]\n content {}\n "
		"}\n }\n"
		" }\n}\n",
		"locals {\n a = [\"x\"]\n b = [for i in range(1000) : [for k in range(1000) : "
		"local.a]]\n"
		" c = [for i in range(1000) : local.b]\n}\n" CONFIG("x = local.c"),
	};
	for (size_t i = 0; i < 2; i++) {
		char *message;
		struct jobfile options = {.name = "test.hcl", .text = text_of(texts[i])};
		assert_null(jobfile_read(&options, &message));
		assert_non_null(strstr(message, "more than a job file may"));
		free(message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_become_members),
		cmocka_unit_test(values_come_from_the_nearest),
		cmocka_unit_test(values_are_of_their_type),
		cmocka_unit_test(files_are_read_where_they_may_be),
		cmocka_unit_test(a_canonical_job_leaves_nothing_out),
		cmocka_unit_test(mistakes_say_where_they_are),
		cmocka_unit_test(values_that_nobody_asks_for_are_mistakes_or_not),
		cmocka_unit_test(costs_have_a_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
