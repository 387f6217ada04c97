// Who asks about access control itself, when something changed after the request was let in.
#include "tests/tools/api/acl_world.h"
#include "tools/api/access/token_keeper.h"
#include "tools/api/nomad/acl/asker.h"
#include "tools/api/server/request.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static int world_begin(void **test)
{
	char management[SECRET_BYTES];

	server_group_begin(test);
	acl_world_bootstrap(management);
	acl_world_policy("anonymous", "node { policy = \"read\" }");
	return 0;
}

// Let in while access control was off, a request has no access; meanwhile somebody made the first token.
static void who_was_let_in_before_the_first_token_manages_nothing(void **unused)
{
	struct request request = {.api = server->api};
	struct reply reply = {0};

	assert_false(asker_manages(&request, &reply));
	assert_int_equal(reply.status, 403);
	assert_false(asker_of(&request).is_management);
	reply_free(&reply);
}

static uint32_t policies_of(struct asker asker)
{
	struct name_set names = {0};

	state_read_begin();
	asker_policies(server->state, &asker, &names);
	uint32_t count = names.names.count;
	state_read_end();
	name_set_free(&names);
	return count;
}

// Not even those of whoever shows no token.
static void a_token_that_was_deleted_meanwhile_has_no_policies(void **unused)
{
	char secret[SECRET_BYTES];
	struct asker asker = {.accessor = acl_world_token("anonymous", 0, secret)};

	assert_int_equal(policies_of(asker), 1);
	acl_world_delete_token(asker.accessor);
	assert_int_equal(policies_of(asker), 0);
	assert_int_equal(policies_of((struct asker){0}), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_was_let_in_before_the_first_token_manages_nothing),
		cmocka_unit_test(a_token_that_was_deleted_meanwhile_has_no_policies),
	};
	return cmocka_run_group_tests(tests, world_begin, server_group_end);
}
