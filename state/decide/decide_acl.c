// Access control: policies, roles, tokens, and the first token. Secrets never come here: a command brings the hash.
#include "state/base/check.h"
#include "state/decide/command_kinds.h"
#include "state/decide/decide.h"
#include "state/records/acl_policy.h"
#include "state/records/acl_role.h"
#include "state/tables/acl/acl_role_table.h"
#include "state/tables/acl/acl_token_table.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include <stdio.h>

enum command_outcome decide_acl_policy(struct decider *d, struct command *command)
{
	struct command_acl_policy *c = &command->acl_policy;
	enum command_outcome outcome = decider_store(d, STATE_ACL_POLICIES, c->policy);

	if (outcome == OUTCOME_DONE)
		c->policy = NULL;
	return outcome;
}

// Roles and tokens go on naming it: it may be made again.
enum command_outcome decide_acl_policy_delete(struct decider *d, struct command *command)
{
	const struct command_acl_policy_delete *c = &command->acl_policy_delete;

	CHECK(c->name.data);
	if (!cell_is_there(table_find(d->state, STATE_ACL_POLICIES, &c->name)))
		return OUTCOME_UNKNOWN_POLICY;
	decider_delete(d, STATE_ACL_POLICIES, c->name);
	return OUTCOME_DONE;
}

// The first of its policies that is not there; NULL: all are.
static const char *missing_policy(const struct state *state, const struct acl_role *role)
{
	for (uint32_t i = 0; i < role->policies.count; i++) {
		const char *name = ARRAY_AT(&role->policies, struct acl_policy_link, i)->name;
		struct text key = text_of(name);
		if (!cell_is_there(table_find(state, STATE_ACL_POLICIES, &key)))
			return name ? name : "";
	}
	return NULL;
}

static bool has_twin(const struct state *state, const struct acl_role *role)
{
	const struct acl_role *named = acl_role_working(state, text_of(role->name));

	CHECK(!named || !named->record.deleted);
	return named && !uuid_equal(&named->id, &role->id);
}

static enum command_outcome store_role(struct decider *d, struct command_acl_role *c)
{
	enum command_outcome outcome = decider_store(d, STATE_ACL_ROLES, c->role);

	if (outcome == OUTCOME_DONE)
		c->role = NULL;
	return outcome;
}

enum command_outcome decide_acl_role(struct decider *d, struct command *command)
{
	struct command_acl_role *c = command->acl_role;
	struct acl_role *role = c->role;

	CHECK(role);
	const char *missing = missing_policy(d->state, role);
	if (missing) {
		snprintf(c->missing, sizeof c->missing, "%s", missing);
		return OUTCOME_UNKNOWN_POLICY;
	}
	if (has_twin(d->state, role))
		return OUTCOME_CONFLICT;
	if (uuid_is_zero(&role->id))
		role->id = prng_uuid(&d->prng);
	else if (!cell_is_there(table_find(d->state, STATE_ACL_ROLES, &role->id)))
		return OUTCOME_UNKNOWN_ROLE;
	c->id = role->id;
	return store_role(d, c);
}

// Tokens go on naming it, and nobody has it any more: an id is given once.
enum command_outcome decide_acl_role_delete(struct decider *d, struct command *command)
{
	const struct uuid *id = &command->acl_delete.id;

	if (!cell_is_there(table_find(d->state, STATE_ACL_ROLES, id)))
		return OUTCOME_UNKNOWN_ROLE;
	decider_delete_id(d, STATE_ACL_ROLES, id);
	return OUTCOME_DONE;
}

static bool roles_are_there(const struct state *state, const struct acl_token *token)
{
	for (uint32_t i = 0; i < token->roles.count; i++)
		if (!cell_is_there(table_find(
			    state, STATE_ACL_ROLES, ARRAY_AT(&token->roles, struct uuid, i))))
			return false;
	return true;
}

// What an update leaves as it was.
static void keep_identity(struct acl_token *token, const struct acl_token *known)
{
	token->secret = known->secret;
	token->global = known->global;
	token->create_time_ns = known->create_time_ns;
	token->expiration_time_ns = known->expiration_time_ns;
	token->expiration_ttl_ns = known->expiration_ttl_ns;
	CHECK(acl_token_goes_on(known, token));
}

static enum command_outcome store_token(struct decider *d, struct command_acl_token *c)
{
	enum command_outcome outcome = decider_store(d, STATE_ACL_TOKENS, c->token);

	if (outcome == OUTCOME_DONE)
		c->token = NULL;
	return outcome;
}

static enum command_outcome create_token(struct decider *d, struct command_acl_token *c)
{
	CHECK(uuid_is_zero(&c->token->accessor));
	if (acl_token_working(d->state, &c->token->secret))
		return OUTCOME_CONFLICT;
	c->token->accessor = c->accessor = prng_uuid(&d->prng);
	return store_token(d, c);
}

static bool has_namesake(const struct state *state, const struct acl_token *token)
{
	if (!acl_token_is_account(token))
		return false;
	const struct acl_token *named = acl_account_working(state, text_of(token->name));
	return named && !uuid_equal(&named->accessor, &token->accessor);
}

enum command_outcome decide_acl_token(struct decider *d, struct command *command)
{
	struct command_acl_token *c = command->acl_token;

	CHECK(c->token);
	if (!roles_are_there(d->state, c->token))
		return OUTCOME_UNKNOWN_ROLE;
	if (has_namesake(d->state, c->token))
		return OUTCOME_CONFLICT;
	if (uuid_is_zero(&c->token->accessor))
		return create_token(d, c);
	const struct cell *cell = table_find(d->state, STATE_ACL_TOKENS, &c->token->accessor);
	if (!cell_is_there(cell))
		return OUTCOME_UNKNOWN_TOKEN;
	c->accessor = c->token->accessor;
	keep_identity(c->token, cell->working);
	return store_token(d, c);
}

enum command_outcome decide_acl_token_delete(struct decider *d, struct command *command)
{
	const struct uuid *accessor = &command->acl_delete.id;

	if (!cell_is_there(table_find(d->state, STATE_ACL_TOKENS, accessor)))
		return OUTCOME_UNKNOWN_TOKEN;
	decider_delete_id(d, STATE_ACL_TOKENS, accessor);
	return OUTCOME_DONE;
}

// The mark names the change that made the token.
static void mark_bootstrap(struct decider *d, struct command *command)
{
	struct acl_bootstrap *mark = record_create(&acl_bootstrap_description);

	mark->accessor = command->acl_token->accessor;
	mark->reset_index = d->state->index;
	command->index = mark->reset_index;
	CHECK(decider_put(d, STATE_ACL_BOOTSTRAP, mark) == 0);
}

enum command_outcome decide_acl_bootstrap(struct decider *d, struct command *command)
{
	struct command_acl_token *c = command->acl_token;

	CHECK(c->token && c->token->type == ACL_MANAGEMENT);
	c->done_index = acl_bootstrap_working(d->state)->reset_index;
	if (c->done_index && c->done_index != c->reset_index)
		return OUTCOME_NOT_NOW;
	enum command_outcome outcome = create_token(d, c);
	if (outcome == OUTCOME_DONE)
		mark_bootstrap(d, command);
	return outcome;
}
