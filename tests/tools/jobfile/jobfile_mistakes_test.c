// Job files that say what no job may: where the mistake is, and its whole sentence.
#include "state/base/text.h"
#include "tools/jobfile/jobfile.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct mistake {
	const char *text, *says;
};

// One mistake a line; of several the message begins with the first.
static void expect(const struct mistake *mistakes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char *message = NULL;
		struct jobfile file = {.name = "f", .text = text_of(mistakes[i].text)};
		assert_null(jobfile_read(&file, &message));
		if (strncmp(message, mistakes[i].says, strlen(mistakes[i].says)) != 0)
			fail_msg("\"%s\": \"%s\" instead of \"%s\"", mistakes[i].text, message,
				mistakes[i].says);
		free(message);
	}
}

#define DYNAMIC(inside) "job j {\n dynamic \"group\" {\n for_each = [1]\n " inside "\n }\n}"

static void mistakes_of_generated_blocks(void **unused)
{
	static const struct mistake mistakes[] = {
		{DYNAMIC("labels = group.key\n content {}"),
			"f:4,11: A list that is written out is required here."},
		{DYNAMIC("labels = [\"a\", \"b\"]\n content {}"),
			"f:4,17: Blocks of this type have 1 names."},
		{DYNAMIC("labels = [\"a\"]"),
			"f:2,18: A dynamic block has a block \"content\" inside."},
		{DYNAMIC("labels = [\"a\"]\n content {}\n content {}"),
			"f:6,2: A dynamic block has one block \"content\" only."},
		{DYNAMIC("labels = [\"a\"]\n odd {}"),
			"f:5,2: Blocks of type \"odd\" are not expected here."},
		{DYNAMIC("iterator = a.b\n labels = [\"a\"]\n content {}"),
			"f:4,13: An iterator is a single name."},
		{DYNAMIC("labels = [null]\n content {}"),
			"f:4,12: This is no name for a block: it is null."},
		{"job j {\n dynamic {\n for_each = [1]\n content {}\n }\n}",
			"f:2,10: A dynamic block has the type of its blocks as its name."},
		{"job j {\n dynamic \"odd\" {\n for_each = [1]\n content {}\n }\n}",
			"f:2,10: Blocks of type \"odd\" are not expected here."},
	};
	expect(mistakes, sizeof mistakes / sizeof mistakes[0]);
}

#define GROUP(inside) "job j {\n group g {\n " inside "\n }\n}"
#define TASK(inside) GROUP("task t {\n " inside "\n }")

static void mistakes_of_jobs(void **unused)
{
	static const struct mistake mistakes[] = {
		{GROUP("constraint { distinct_hosts = \"often\" }"),
			"f:3,32: Unsuitable value: a bool is required."},
		{GROUP("affinity { weight = \"much\" }"),
			"f:3,22: Unsuitable value: a number is required."},
		{TASK("scaling \"cpu\" { max = 1 }\n scaling \"cpu\" { max = 1 }"),
			"f:5,2: There may be only one scaling policy \"cpu\"."},
		{TASK("scaling \"cpu\" {\n max = 1\n type = \"vertical_mem\"\n }"),
			"f:4,2: A policy of this name has the type \"vertical_cpu\"."},
		{GROUP("scaling {\n max = 1\n type = \"vertical_cpu\"\n }"),
			"f:5,9: A group is scaled horizontally only."},
		{TASK("config {\n a = 1e400\n }"), "f:5,6: The value cannot be written as JSON."},
		{TASK("env {\n odd {}\n }"),
			"f:5,6: There are no blocks here, only names and values."},
	};
	expect(mistakes, sizeof mistakes / sizeof mistakes[0]);
}

static void mistakes_of_names_and_values(void **unused)
{
	static const struct mistake mistakes[] = {
		{"locals {\n odd {}\n}\njob j {}", "f:2,2: There are no blocks here."},
		{"locals {\n a = 1\n a = 2\n}\njob j {}",
			"f:3,2: \"a\" is set a second time; the first is on line 2."},
		{"locals {\n a = 1\n}\nlocals {\n a = 2\n}\njob j {}",
			"f:5,2: The local \"a\" is there a second time."},
		{"variables {\n odd {}\n}\njob j {}", "f:2,2: There are no blocks here."},
		{"variable \"a b\" {\n default = 1\n}\njob j {}", "f:1,10: This is no name."},
		{"variable \"a\" {\n default = 1\n}\nvariable \"a\" {\n default = 1\n}\njob j {}",
			"f:4,1: The variable \"a\" is declared a second time."},
	};
	expect(mistakes, sizeof mistakes / sizeof mistakes[0]);
}

static void values_of_a_file_are_values(void **unused)
{
	static const struct mistake files[] = {
		{"odd {\n}\n", "values:1,1: There are no blocks among values: write NAME = VALUE."},
		{"{\"a\":", "values: this is not JSON: it ends too early."},
		{"[1]", "values:1,1: An argument or block definition is required here."},
	};
	static const char *const names[] = {"values"};
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		struct text text = text_of(files[i].text);
		struct jobfile file = {.name = "f",
			.text = TEXT("variable a {}\njob j {}"),
			.value_files = &text,
			.value_file_names = names,
			.value_file_count = 1};
		char *message = NULL;
		assert_null(jobfile_read(&file, &message));
		if (strncmp(message, files[i].says, strlen(files[i].says)) != 0)
			fail_msg("\"%s\": \"%s\" instead of \"%s\"", files[i].text, message,
				files[i].says);
		free(message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mistakes_of_generated_blocks),
		cmocka_unit_test(mistakes_of_jobs),
		cmocka_unit_test(mistakes_of_names_and_values),
		cmocka_unit_test(values_of_a_file_are_values),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
