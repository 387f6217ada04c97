// What a task shows the controller: in its environment, in a file for its user alone, or not at all, as its job asks.
#include "tests/tools/agent/task/stage.h"
#include "tools/agent/task/environment.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

static const struct node_facts facts = {
	.name = "n", .datacenter = "dc1", .class_name = "", .pool = "default"};
static const struct uuid id = {{0xa1}};

static int set_up(void **unused)
{
	stage_open(&facts);
	return 0;
}

static int tear_down(void **unused)
{
	return stage_close();
}

#define TOKEN "task.a10c0000-0000-0000-0000-000000000001.5b3a"
#define TASK(env, file)                                                                          \
	"{\"Name\":\"a\",\"Driver\":\"mock\",\"Identity\":{\"Token\":\"" TOKEN "\",\"Env\":" env \
	",\"File\":" file "}}"
#define PLAIN "{\"Name\":\"a\",\"Driver\":\"mock\",\"Identity\":null}"

// The agent's own token is kept back, whatever the task has.
static void expect_environment(const char *tasks, const char *token)
{
	struct alloc_spec *spec = stage_describe(&id, "batch", "", tasks);
	struct task_folders folders = {"alloc", "local", "secrets", "task"};
	struct environment e;
	char message[256];
	assert_int_equal(setenv("NOMAD_TOKEN", "of-the-agent", 1), 0);
	assert_true(environment_build(
		&e, &facts, spec, &spec->tasks[0], &folders, message, sizeof message));
	const char *found = environment_get(&e, "NOMAD_TOKEN");
	if (token)
		assert_string_equal(found, token);
	else
		assert_null(found);
	environment_free(&e);
	alloc_spec_free(spec);
	unsetenv("NOMAD_TOKEN");
}

static void it_is_in_the_environment(void **unused)
{
	expect_environment(TASK("true", "false"), TOKEN);
	expect_environment(TASK("false", "true"), NULL);
	expect_environment(PLAIN, NULL);
}

static const char *token_path(void)
{
	static char path[300];
	char text[UUID_TEXT_BYTES];
	snprintf(path, sizeof path, "%s/alloc/%s/a/secrets/nomad_token", stage_folder,
		uuid_format(&id, text));
	return path;
}

static void it_is_in_a_file_of_its_user(void **unused)
{
	char text[128] = "";
	struct stat st;
	stage_run(&id, "batch", "", TASK("false", "true"));
	assert_int_equal(stat(token_path(), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	FILE *file = fopen(token_path(), "re");
	assert_non_null(file);
	assert_int_equal(fread(text, 1, sizeof text, file), strlen(TOKEN));
	fclose(file);
	assert_string_equal(text, TOKEN);
}

static void there_is_no_file_unasked(void **unused)
{
	struct stat st;
	stage_run(&id, "batch", "", TASK("true", "false"));
	assert_int_equal(stat(token_path(), &st), -1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(it_is_in_the_environment),
		TEST(it_is_in_a_file_of_its_user),
		TEST(there_is_no_file_unasked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
