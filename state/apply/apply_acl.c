// What roles and tokens have to be, beside sound, when they are put.
#include "state/apply/apply_record.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/records/acl_role.h"
#include "state/tables/acl/acl_role_table.h"
#include "state/tables/acl/acl_token_table.h"
#include "state/tables/state.h"
#include "state/tables/table.h"

// An id is given once, so a cell without a record is none that a record may take.
static bool is_former(const struct cell *cell)
{
	return cell && !cell_is_there(cell);
}

int acl_role_put_check(const struct state *state, const struct entry_record_put *e)
{
	const struct acl_role *role = e->record;

	CHECK(role);
	const struct acl_role *named = acl_role_working(state, text_of(role->name));
	if (is_former(table_find(state, STATE_ACL_ROLES, &role->id)) ||
		(named && !uuid_equal(&named->id, &role->id)))
		return -ERROR_CORRUPT;
	return table_check(state, STATE_ACL_ROLES, role);
}

int acl_token_put_check(const struct state *state, const struct entry_record_put *e)
{
	const struct acl_token *token = e->record;

	CHECK(token);
	const struct cell *cell = table_find(state, STATE_ACL_TOKENS, &token->accessor);
	const struct acl_token *known = acl_token_working(state, &token->secret);
	if (is_former(cell) || (cell ? !acl_token_goes_on(cell->working, token) : known != NULL))
		return -ERROR_CORRUPT;
	return table_check(state, STATE_ACL_TOKENS, token);
}

// The mark names a change that was made before it.
int acl_bootstrap_put_check(const struct state *state, const struct entry_record_put *e)
{
	const struct acl_bootstrap *mark = e->record;

	CHECK(mark);
	if (mark->reset_index > state->index)
		return -ERROR_CORRUPT;
	return table_check(state, STATE_ACL_BOOTSTRAP, mark);
}

bool acl_token_is_garbage(const struct state *state, const struct uuid *accessor)
{
	const struct cell *cell = table_find(state, STATE_ACL_TOKENS, accessor);

	CHECK(!cell || cell->table == STATE_ACL_TOKENS);
	return cell_is_there(cell) &&
	       ((const struct acl_token *)cell->working)->expiration_time_ns != 0;
}
