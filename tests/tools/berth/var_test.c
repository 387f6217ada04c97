// Variables by the command line, as people of Nomad know it.
#include "tests/tools/api/server.h"
#include "tests/tools/berth/run.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static int begin(void **state)
{
	int result = server_group_begin(state);
	run_begin(api_port(server->api));
	return result;
}

static int end(void **state)
{
	run_end();
	return server_group_end(state);
}

// The file is in the folder of the test.
static void expect_in_folder(const char *before, const char *file, const char *after, int status,
	const char *out, const char *error)
{
	char line[512];
	snprintf(line, sizeof line, "%s%s/%s%s", before, run_folder(), file, after);
	expect_run(line, status, out, error);
}

static void items_are_set_and_taken_away(void **unused)
{
	expect_run("var put app/db", 2, "", "NAME=VALUE, @FILE or - is needed");
	expect_run("var put app/db nothing", 2, "", "is not NAME=VALUE");
	expect_run("var put app/db =x", 2, "", "is not NAME=VALUE");
	expect_run("var put app/db user=web password=secret --out none", 0,
		"Created variable \"app/db\" with modify index", "");
	expect_run("var get app/db --item password", 0, "secret", "");
	expect_run("var get /app/db/ --item password", 0, "secret", "");
	expect_run("var get app/db --item nosuch", 3, "", "has no item \"nosuch\"");
	expect_run("var get app/none", 3, "", "variable not found");
	expect_run("var get app/db --out table", 0, "user      = web", "");
	expect_run("var get app/db", 0, "\"password\": \"secret\"", "");
	expect_run("var get app/db --out words", 2, "", "is none of: table json hcl none");
	expect_run("var put app/db user= --out none", 4, "", "missing required Items");
}

static void only_the_newest_version_is_written_over(void **unused)
{
	expect_run("var put app/db user=other", 4, "", "give that as --check-index, or --force");
	expect_run("var put app/db user=other --check-index 999999", 4, "", "is at index");
	expect_run("var put app/db user=other --force --out table", 0, "user  = other", "");
	expect_run("var put app/none user=other --check-index 7", 4, "",
		"give --check-index 0, or --force");
	expect_run("var put app/db user=x --check-index nine", 2, "", "check-index");
	expect_run("var get app/db --out json", 0, "\"user\": \"other\"", "");
	run_write("db.json", run.out);
	expect_in_folder(
		"var put @", "db.json", " more=this --out hcl", 0, "\"more\" = \"this\"", "");
	run_write("db.hcl", run.out);
	expect_in_folder("var put @", "db.json", "", 4, "", "is at index"); // as it was before
	expect_in_folder("var put @", "db.hcl", " more= --out table", 0, "user  = other", "");
	expect_in_folder("var put app/copy @", "db.hcl", " --out table", 0, "= app/copy", "");
	expect_in_folder("var put --namespace team @", "db.hcl", " --out table", 0, "= team", "");
	expect_in_folder(
		"var put app/file text=@", "db.hcl", " --out json", 0, "namespace    = ", "");
	expect_run("var put app/at text=\\@name --out hcl", 0, "\"text\" = \"@name\"", "");
}

static void files_that_are_none_are_refused(void **unused)
{
	run_write("bad.json", "{\"Items\": 5}");
	expect_in_folder("var put a @", "bad.json", "", 4, "", "an object for its items");
	run_write("bad.json", "{\"Items\"");
	expect_in_folder("var put a @", "bad.json", "", 4, "", "line 1");
	run_write("bad.hcl", "items { a = [1] }");
	expect_in_folder("var put a @", "bad.hcl", "", 4, "", "items is no part of a variable");
	run_write("bad.hcl", "other = \"x\"");
	expect_in_folder("var put a @", "bad.hcl", "", 4, "", "other is no part of a variable");
	run_write("bad", "items { a = \"b\" }");
	expect_in_folder("var put a @", "bad", " --in hcl --out hcl", 0, "\"a\" = \"b\"", "");
	expect_in_folder("var put c @", "bad", " --in yaml", 2, "", "neither hcl nor json");
	expect_in_folder("var put @", "bad", " --in hcl", 2, "", "PATH is needed");
	expect_run("var put a @/nosuch", 1, "", "cannot read /nosuch");
}

static void they_are_listed_and_purged(void **unused)
{
	expect_run("var list --out table", 0, "default    app/db", "");
	expect_run("var list app/c --out terse", 0, "app/copy", "");
	expect_run("var list app/c -o name", 0, "app/copy\n", "");
	expect_run("var list --columns path --sort -path", 0, "Path\napp/", "");
	expect_run("var list --out none", 0, "", "");
	assert_string_equal(run.out, "");
	expect_run("var list --namespace * --out table", 0, "team       app/db", "");
	expect_run("var list --out json", 0, "\"Path\":\"app/db\"", "");
	expect_run("var purge app/db --check-index 1", 4, "", "is at index");
	expect_run("var purge app/db", 0, "Successfully purged variable \"app/db\"!", "");
	expect_run("var get app/db", 3, "", "variable not found");
	expect_run("var get app/db --namespace team --item user", 0, "other", "");
}

static void an_example_is_written_and_can_be_put(void **unused)
{
	expect_in_folder("var init ", "spec.nv.hcl", "", 0, "written to", "");
	expect_in_folder("var init ", "spec.nv.hcl", "", 1, "", "File exists");
	expect_in_folder(
		"var put path/one @", "spec.nv.hcl", " --out hcl", 0, "\"key1\" = \"value 1\"", "");
	expect_in_folder("var init ", "spec.nv.json", " --out json", 0, "written to", "");
	expect_in_folder("var put @", "spec.nv.json", " --out json", 0, "path/to/variable", "");
	expect_run("var init --out yaml", 2, "", "is none of: hcl json");
}

static void keys_are_rotated(void **unused)
{
	char line[128], id[64];
	expect_run("operator root keyring list", 0, "active", "");
	expect_run("operator root keyring list --json", 0, "\"KeyID\":\"", "");
	snprintf(id, sizeof id, "%.36s", strstr(run.out, "KeyID\":\"") + 8);
	expect_run("operator root keyring rotate", 0, "encrypts from now on", "");
	snprintf(line, sizeof line, "operator root keyring remove %s", id);
	expect_run(line, 4, "", "the key still encrypts variables");
	expect_run("operator root keyring list", 0, "inactive", "");
	expect_run("operator root keyring rotate -full", 0, "what older keys encrypted", "");
	for (int i = 0; i < 1000 &&
			!(berth("operator root keyring list") == 0 && !strstr(run.out, "rekeying"));
		i++)
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	expect_run(line, 0, "is removed", "");
	expect_run("operator root keyring remove 12345678-1234-1234-1234-123456789abc", 0,
		"is removed", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_are_set_and_taken_away),
		cmocka_unit_test(only_the_newest_version_is_written_over),
		cmocka_unit_test(files_that_are_none_are_refused),
		cmocka_unit_test(they_are_listed_and_purged),
		cmocka_unit_test(an_example_is_written_and_can_be_put),
		cmocka_unit_test(keys_are_rotated),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
