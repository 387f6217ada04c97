// What is refused of templates and artifacts, and what is not.
#include "state/records/job_traits.h"
#include "tools/forms/not_done/job_prepared.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect_refusal(const char *templates, const char *artifacts, const char *wanted)
{
	struct job job = {.type = JOB_SERVICE};
	struct task_group group = {.name = (char *)"g"};
	struct task task = {.name = (char *)"t",
		.templates = (char *)templates,
		.artifacts = (char *)artifacts};
	struct json_report report = {0};

	group.tasks = (struct array){.items = &task, .count = 1};
	job.task_groups = (struct array){.items = &group, .count = 1};
	job_check_prepared(&job, &report.errors);
	char *text = json_sentences_text(&report.errors, "mistakes");
	if (*wanted ? !strstr(text, wanted) : report.errors.count > 0)
		fail_msg("%s %s: \"%s\" is not \"%s\"", templates, artifacts, text, wanted);
	free(text);
	json_report_free(&report);
	report = (struct json_report){0};
	job.type = JOB_DIRECT;
	job_check_prepared(&job, &report.errors);
	assert_int_equal(report.errors.count, 0);
	json_report_free(&report);
}

static void templates_are_checked(void **unused)
{
	static const struct {
		const char *json, *wanted;
	} cases[] = {
		{"[{\"EmbeddedTmpl\":\"x{{ env \\\"A\\\" "
		 "}}\",\"DestPath\":\"${NOMAD_SECRETS_DIR}/x\"}]",
			""},
		{"[{\"SourcePath\":\"local/a.tpl\",\"DestPath\":\"../alloc/"
		 "x\",\"ChangeMode\":\"signal\",\"Perms\":\"0600\"}]",
			""},
		{"null", ""},
		{"[{\"DestPath\":\"x\"}]",
			"Template 1: Must specify a source path or have an embedded template"},
		{"[{\"EmbeddedTmpl\":\"x\"}]",
			"Template 1: Must specify a destination for the template"},
		{"[{\"EmbeddedTmpl\":\"x\",\"DestPath\":\"../../x\"}]",
			"Template 1: destination escapes allocation directory"},
		{"[{\"EmbeddedTmpl\":\"x\",\"DestPath\":\"a/../../../b\"}]",
			"destination escapes allocation directory"},
		{"[{\"SourcePath\":\"../../x\",\"DestPath\":\"a\"}]",
			"source path escapes allocation directory"},
		{"[{\"EmbeddedTmpl\":\"x\",\"DestPath\":\"x\",\"ChangeMode\":\"foo\"}]",
			"Invalid change mode. Must be one of the following: noop, signal, script, "
			"restart"},
		{"[{\"EmbeddedTmpl\":\"x\",\"DestPath\":\"x\",\"ChangeMode\":\"script\"}]",
			"Template 1: must specify script path value when change mode is script"},
		{"[{\"EmbeddedTmpl\":\"x\",\"DestPath\":\"x\",\"ChangeMode\":\"script\","
		 "\"ChangeScript\":{\"Command\":\"\",\"Args\":[\"x\"]}}]",
			"Template 1: must specify script path value when change mode is script"},
		{"[{\"EmbeddedTmpl\":\"x\",\"DestPath\":\"x\",\"ChangeMode\":\"script\","
		 "\"ChangeScript\":{\"Command\":\"/bin/true\"}}]",
			""},
		{"[{\"EmbeddedTmpl\":\"x\",\"DestPath\":\"x\",\"Perms\":\"999\"}]",
			"Failed to parse \"999\" as octal: strconv.ParseUint: parsing \"999\": "
			"invalid syntax"},
		{"[{\"EmbeddedTmpl\":\"x\",\"DestPath\":\"x\"},{\"EmbeddedTmpl\":\"y\","
		 "\"DestPath\":\"x\"}]",
			"group \"g\" task \"t\": Template 2 has same destination as 1"},
		{"[{\"EmbeddedTmpl\":\"x\",\"DestPath\":\"x\"},{\"EmbeddedTmpl\":\"a\\nb{{ if "
		 "}}\",\"DestPath\":\"y\"}]",
			"group \"g\" task \"t\": Template 2: line 2, column 7: a value or a "
			"function is missing here"},
		{"[{\"EmbeddedTmpl\":\"<< secret 1 "
		 ">>\",\"LeftDelim\":\"<<\",\"RightDelim\":\">>\",\"DestPath\":\"x\"}]",
			"line 1, column 4: function \"secret\": Vault is not there"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		expect_refusal(cases[i].json, NULL, cases[i].wanted);
}

static void artifacts_are_checked(void **unused)
{
#define WITH(more) "[{\"GetterSource\":\"http://x/y\"," more "}]"
	static const struct {
		const char *json, *wanted;
	} cases[] = {
		{"[{\"GetterSource\":\"HTTPS://x/y.tgz?a=b//"
		 "c\",\"GetterMode\":\"file\",\"RelativeDest\":\"../alloc/x\"}]",
			""},
		{"[{\"GetterSource\":\"${meta.mirror}/x\"}]", ""},
		{WITH("\"GetterOptions\":{\"checksum\":\"md5:5d41402abc4b2a76b9719d911017C592\","
		      "\"archive\":\"false\"}"),
			""},
		{WITH("\"GetterOptions\":{\"checksum\":\"sha256:${meta.sum}\"}"), ""},
		{WITH("\"GetterHeaders\":{\"X-Token\":\"${meta.x}\"}"), ""},
		{"[{\"GetterSource\":\"\"}]", "Artifact 1: source must be specified"},
		{"[{\"GetterSource\":\"s3::https://x/y\"}]",
			"artifacts are fetched from http:// and https:// alone"},
		{"[{\"GetterSource\":\"github.com/x/y\"}]",
			"artifacts are fetched from http:// and https:// alone"},
		{"[{\"GetterSource\":\"/etc/passwd\"}]",
			"artifacts are fetched from http:// and https:// alone"},
		{"[{\"GetterSource\":\"http://x/y.zip//sub\"}]", "a folder within an archive"},
		{WITH("\"RelativeDest\":\"../../../x\""),
			"Artifact 1: destination escapes allocation directory"},
		{WITH("\"GetterMode\":\"foo\""),
			"invalid artifact mode \"foo\"; must be one of: any, file, dir"},
		{WITH("\"GetterOptions\":{\"checksum\":\"md5:zz\"}"),
			"invalid checksum: encoding/hex: invalid byte: U+007A 'z'"},
		{WITH("\"GetterOptions\":{\"checksum\":\"sha1:ab\"}"),
			"invalid checksum: it has 2 digits"},
		{WITH("\"GetterOptions\":{\"checksum\":\"file:http://x/sums\"}"),
			"is not TYPE:VALUE"},
		{WITH("\"GetterHeaders\":{\"X\":\"a\\r\\nY: b\"}"), "GetterHeaders: a name has"},
		{WITH("\"GetterHeaders\":{\"X: a\":\"b\"}"), "GetterHeaders: a name has"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		expect_refusal(NULL, cases[i].json, cases[i].wanted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(templates_are_checked),
		cmocka_unit_test(artifacts_are_checked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
