// Access control by the command line: from the first token to one that is taken away.
#include "tests/tools/api/server.h"
#include "tests/tools/berth/run.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ID_BYTES = 36 };

static char manager[ID_BYTES + 1], client[ID_BYTES + 1], accessor[ID_BYTES + 1];

static int begin(void **state)
{
	int result = server_group_begin(state);
	run_begin(api_port(server->api));
	return result;
}

static int end(void **state)
{
	run_as(NULL);
	run_end();
	return server_group_end(state);
}

// The id behind a label of what was printed last.
static void take_id(const char *label, char id[static ID_BYTES + 1])
{
	const char *at = strstr(run.out, label);

	if (!at)
		fail_msg("no %s in %s", label, run.out);
	at = strstr(at, "= ");
	assert_non_null(at);
	snprintf(id, ID_BYTES + 1, "%s", at + 2);
	assert_int_equal(strlen(id), ID_BYTES);
}

static void the_first_token(void **unused)
{
	char line[256];

	expect_run("acl token list", 4, "", "ACL support disabled");
	run_write("bad", "no-uuid\n");
	snprintf(line, sizeof line, "acl bootstrap %s/bad", run_folder());
	expect_run(line, 4, "", "invalid acl token");
	run_write("secret", " 2b778dd9-f5f1-6f29-b4b4-9a5fa948757a\n");
	snprintf(line, sizeof line, "acl bootstrap %s/secret", run_folder());
	expect_run(line, 0, "2b778dd9-f5f1-6f29-b4b4-9a5fa948757a", "");
	take_id("Secret ID", manager);
	expect_run("acl bootstrap", 4, "", "ACL bootstrap already done (reset index: ");
	expect_run("acl token list", 4, "", "Permission denied");
	run_as(manager);
	expect_run("acl token list", 0, "Bootstrap Token  management  true    never", "");
	expect_run("acl token self", 0, manager, "");
	expect_run("acl token self --json", 0, "\"Type\": \"management\"", "");
}

static void a_policy(void **unused)
{
	char line[256];

	run_write("rules", "namespace \"default\" { policy = \"read\" }\n");
	run_write("wrong", "namespace \"default\" { policy = \"foo\" }\n");
	snprintf(line, sizeof line,
		"acl policy apply readers %s/rules --description readers-of-all", run_folder());
	expect_run(line, 0, "Policy \"readers\" is described", "");
	snprintf(line, sizeof line, "acl policy apply readers %s/wrong", run_folder());
	expect_run(line, 4, "", "Invalid namespace policy");
	snprintf(line, sizeof line, "acl policy apply of-web %s/rules --job web --task t",
		run_folder());
	expect_run(line, 4, "", "group must be set to set task");
	snprintf(line, sizeof line, "acl policy apply of-web %s/rules --job web --group g --task t",
		run_folder());
	expect_run(line, 0, "is described", "");
	expect_run("acl policy info of-web --json", 0, "\"JobID\": \"web\"", "");
	expect_run("acl policy list", 0, "readers  readers-of-all", "");
	expect_run("acl policy info readers", 0, "policy = \"read\"", "");
	expect_run("acl policy info nosuch", 3, "",
		"policy not found: no name begins with \"nosuch\"");
	expect_run("acl policy delete of-web", 0, "Policy \"of-web\" is deleted", "");
}

static void a_role(void **unused)
{
	expect_run("acl role create ops", 4, "", "at least one policy should be specified");
	expect_run("acl role create ops --policy nosuch", 4, "", "cannot find policy nosuch");
	expect_run("acl role create ops --policy readers", 0, "Policies      = readers", "");
	expect_run("acl role update ops people --description all-of-us", 0,
		"Description   = all-of-us", "");
	expect_run("acl role info people", 0, "Policies      = readers", "");
	expect_run("acl role list", 0, "people  all-of-us    readers", "");
	expect_run("acl role info ops", 3, "", "role not found: no id begins with");
}

static void a_token(void **unused)
{
	char line[256];

	expect_run("acl token create one", 4, "", "client token missing policies or roles");
	expect_run("acl token create one --role people --ttl 1h", 0, "Roles         = people", "");
	take_id("Secret ID", client);
	take_id("Accessor ID", accessor);
	snprintf(line, sizeof line, "acl token info %s", accessor);
	expect_run(line, 0, "(shown to its owner alone)", "");
	snprintf(line, sizeof line, "acl token update %s two --policy readers", accessor);
	expect_run(line, 0, "Policies      = readers", "");
	snprintf(line, sizeof line, "acl token info %s", accessor);
	expect_run(line, 0, "Name          = two", "");
	run_as(client);
	expect_run("acl token self", 0, client, "");
	expect_run("acl policy list", 0, "readers", "");
	expect_run("acl role list", 0, "people", "");
	expect_run("acl token list", 4, "", "Permission denied");
	expect_run("acl role delete people", 4, "", "Permission denied");
	run_as(manager);
	expect_run("acl role delete people", 0, "is deleted", "");
	snprintf(line, sizeof line, "acl token update %s --type management --policy readers",
		accessor);
	expect_run(line, 4, "", "management token cannot be associated with policies or roles");
	snprintf(line, sizeof line, "acl token update %s --type management", accessor);
	expect_run(line, 0, "Type          = management", "");
	snprintf(line, sizeof line, "acl token delete %s", accessor);
	expect_run(line, 0, "is deleted", "");
	run_as(client);
	expect_run("acl token self", 3, "", "ACL token not found");
}

static void who_may_not_list_types_the_whole_id(void **unused)
{
	char line[256];

	run_as(manager);
	run_write("seen.json",
		"{\"ID\":\"seen\",\"Name\":\"seen\",\"Type\":\"direct\",\"Datacenters\":[\"*\"],"
		"\"TaskGroups\":[{\"Name\":\"g\",\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"mock\"}]}]"
		"}");
	snprintf(line, sizeof line, "job run %s/seen.json", run_folder());
	expect_run(line, 0, "Registered job \"seen\"", "");
	run_write("seer", "namespace \"default\" { capabilities = [\"read-job\"] }");
	snprintf(line, sizeof line, "acl policy apply seers %s/seer", run_folder());
	expect_run(line, 0, "is described", "");
	expect_run("acl token create three --policy seers", 0, "Policies      = seers", "");
	take_id("Secret ID", client);
	run_as(client);
	expect_run("job list", 4, "", "Permission denied");
	expect_run("job inspect seen", 0, "\"ID\": \"seen\"", "");
	assert_string_equal(run.error, "");
	expect_run("job inspect see", 3, "", "job not found");
}

static void accounts_of_another_client(void **unused)
{
	char line[256], token[ID_BYTES + 1], *bootstrap;

	run_as(manager);
	expect_run("vm account create ci", 4, "", "service account has no role");
	expect_run("vm account create ci --role boss", 4, "", "unsupported role \"boss\"");
	expect_run("vm account create ci --role compute:read --role compute:write", 0,
		"Roles     = compute:read, compute:write", "");
	take_id("Token", token);
	bootstrap = strstr(run.out, "\norchard-bootstrap-token-v0.Y2k.");
	assert_non_null(bootstrap);
	char *kept = strdup(bootstrap + 1);
	run_write("token", token);
	snprintf(line, sizeof line, "vm account bootstrap-token ci %s/token", run_folder());
	expect_run(line, 0, kept, "");
	free(kept);
	snprintf(line, sizeof line, "vm account bootstrap-token ci %s/none", run_folder());
	expect_run(line, 1, "", "none");
	run_write("ca.pem", "\?\?>");
	snprintf(line, sizeof line, "vm account bootstrap-token ci %s/token --ca-cert %s/ca.pem",
		run_folder(), run_folder());
	expect_run(line, 0, ".Pz8-\n", "");
	expect_run("vm account list", 0, "ci    compute:read, compute:write", "");
	expect_run("vm account info ci", 0, "Roles     = compute:read", "");
	assert_null(strstr(run.out, token));
	run_as(token);
	expect_run("vm list", 0, "Name", "");
	expect_run("vm account list", 4, "", "Permission denied");
	run_as(manager);
	expect_run("vm account delete ci", 0, "Account \"ci\" is deleted", "");
	expect_run("vm account info ci", 3, "", "not found");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_token),
		cmocka_unit_test(a_policy),
		cmocka_unit_test(a_role),
		cmocka_unit_test(a_token),
		cmocka_unit_test(who_may_not_list_types_the_whole_id),
		cmocka_unit_test(accounts_of_another_client),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
