// Roles and tokens: a name is of one role, a secret of one token, and the mark of the first token names one.
#include "state/records/acl_role.h"
#include "state/tables/acl/acl_role_table.h"
#include "state/tables/acl/acl_token_table.h"
#include "state/tables/sequence.h"
#include "state/verify/verifier.h"
#include <urcu-qsbr.h>

static void check_roles(struct verifier *v)
{
	const struct cell *cell;
	uint64_t cursor = 0;

	while ((cell = sequence_next(&v->state->tables[STATE_ACL_ROLES].order, &cursor))) {
		const struct acl_role *role = cell->working;
		expect(v,
			!cell_is_there(cell) ||
				acl_role_working(v->state, text_of(role->name)) == role,
			"role %s: another one has its name", role->name);
	}
}

static void check_tokens(struct verifier *v)
{
	const struct acl_token_cell *cell;
	uint64_t cursor = 0;

	while ((cell = sequence_next(&v->state->tables[STATE_ACL_TOKENS].order, &cursor))) {
		const struct acl_token *token = cell->working;
		expect(v, acl_secret_equal(&cell->secret, &token->secret),
			"token %s: found by another secret than its own", token->name);
		expect(v,
			!cell_is_there(&cell->cell) ||
				(acl_token_working(v->state, &token->secret) == token &&
					state_acl_token_by_secret(v->state, &token->secret) ==
						token),
			"token %s: its secret does not lead to it", token->name);
	}
}

void verify_acl(struct verifier *v)
{
	const struct acl_bootstrap *mark = acl_bootstrap_working(v->state);

	check_roles(v);
	check_tokens(v);
	expect(v, mark->reset_index <= mark->record.modify_index,
		"first token: made after it was noted");
}
