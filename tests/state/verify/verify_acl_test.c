// Each invariant of roles and tokens is broken once, and has to be found.
#include "state/tables/acl/acl_token_table.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include "tests/state/acls.h"
#include "tests/support/broken.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct uuid new_one;

static void roles_and_tokens(void **unused)
{
	struct controller c;
	struct uuid roles[2], accessor;

	controller_init(&c, (struct state_limits){0});
	controller_open(&c);
	assert_int_equal(put_policy(&c, build_policy("p", "")), OUTCOME_DONE);
	assert_int_equal(put_role(&c, build_role(new_one, "r", "p"), &roles[0]), OUTCOME_DONE);
	assert_int_equal(put_role(&c, build_role(new_one, "s", "p"), &roles[1]), OUTCOME_DONE);
	assert_int_equal(put_first_token(&c, build_token(&c, new_one, 0, ""), 0, &accessor, NULL),
		OUTCOME_DONE);
	assert_int_equal(put_token(&c, build_token(&c, new_one, 1, "p"), NULL), OUTCOME_DONE);
	state_read_begin();
	struct acl_role *role = table_find(c.state, STATE_ACL_ROLES, &roles[0])->working;
	struct acl_role *other = table_find(c.state, STATE_ACL_ROLES, &roles[1])->working;
	struct acl_token_cell *cell =
		(struct acl_token_cell *)table_find(c.state, STATE_ACL_TOKENS, &accessor);
	struct acl_bootstrap *mark = c.state->tables[STATE_ACL_BOOTSTRAP].one->working;
	state_read_end();
	BREAKS_STATE(&c, role->name, other->name);
	BREAKS_STATE(&c, role->policies.count, 0);
	BREAKS_STATE(&c, cell->secret, number_secret(1));
	BREAKS_STATE(&c, cell->working->secret, number_secret(1));
	BREAKS_STATE(&c, cell->working->secret, number_secret(2));
	BREAKS_STATE(&c, cell->working->create_time_ns, 0);
	BREAKS_STATE(&c, mark->reset_index, 999);
	BREAKS_STATE(&c, mark->reset_index, 0);
	controller_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(roles_and_tokens)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
