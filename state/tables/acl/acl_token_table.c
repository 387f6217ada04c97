#include "state/tables/acl/acl_token_table.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/limits.h"
#include "state/tables/kind.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include <urcu-qsbr.h>

static struct cds_lfht *secrets_of(const struct state *state)
{
	return state->tables[STATE_ACL_TOKENS].other.buckets;
}

// The hash of a secret is as even as any hash of it.
static uint64_t secret_bucket(const struct acl_secret_hash *secret)
{
	uint64_t first;

	memcpy(&first, secret->bytes, sizeof first);
	return first;
}

static int has_secret(struct cds_lfht_node *node, const void *secret)
{
	return acl_secret_equal(
		&caa_container_of(node, struct acl_token_cell, by_secret)->secret, secret);
}

// A token that is gone leaves its place later, so there may be one beside it that has the secret now.
static const struct acl_token *token_of_secret(
	const struct state *state, const struct acl_secret_hash *secret, bool is_published)
{
	struct cds_lfht_iter iter;
	struct cds_lfht_node *node;

	cds_lfht_lookup(secrets_of(state), secret_bucket(secret), has_secret, secret, &iter);
	while ((node = cds_lfht_iter_get_node(&iter))) {
		const struct acl_token_cell *found =
			caa_container_of(node, struct acl_token_cell, by_secret);
		if (is_published && cell_published(&found->cell))
			return cell_published(&found->cell);
		if (!is_published && cell_is_there(&found->cell))
			return found->working;
		cds_lfht_next_duplicate(secrets_of(state), has_secret, secret, &iter);
	}
	return NULL;
}

const struct acl_token *acl_token_working(
	const struct state *state, const struct acl_secret_hash *secret)
{
	CHECK(secret);
	return token_of_secret(state, secret, false);
}

static bool is_account_of(const struct acl_token *token, struct text name)
{
	return acl_token_is_account(token) && text_equal(text_of(token->name), name);
}

const struct acl_token *acl_account_working(const struct state *state, struct text name)
{
	const struct sequence *order = &state->tables[STATE_ACL_TOKENS].order;
	const struct cell *cell;
	uint64_t cursor = 0;

	CHECK(name.size > 0);
	while ((cell = sequence_next(order, &cursor)))
		if (cell_is_there(cell) && is_account_of(cell->working, name))
			return cell->working;
	return NULL;
}

static bool are_policies_sound(const struct acl_token *token)
{
	for (uint32_t i = 0; i < token->policies.count; i++) {
		struct text name = text_of(*ARRAY_AT(&token->policies, char *, i));
		if (name.size == 0 || name.size > NAME_BYTES_MAX)
			return false;
	}
	return token->policies.count <= ACL_LINKS_MAX && token->roles.count <= ACL_LINKS_MAX;
}

static bool are_times_sound(const struct acl_token *token)
{
	return token->create_time_ns > 0 && token->expiration_ttl_ns >= 0 &&
	       (token->expiration_time_ns == 0 ? token->expiration_ttl_ns == 0
					       : token->expiration_time_ns > token->create_time_ns);
}

static bool is_acl_token_sound(const void *record)
{
	static const struct acl_secret_hash none;
	const struct acl_token *token = record;

	CHECK(record);
	return !uuid_is_zero(&token->accessor) && !acl_secret_equal(&token->secret, &none) &&
	       text_of(token->name).size <= ACL_TOKEN_NAME_MAX &&
	       acl_token_type_fits(token->type, token->policies.count + token->roles.count) &&
	       are_policies_sound(token) && are_times_sound(token) &&
	       record_is_sound(&acl_token_description, record);
}

static int check_loaded_acl_token(const struct state *state, const void *record)
{
	const struct acl_token *token = record;
	return acl_token_working(state, &token->secret) ? -ERROR_CORRUPT : 0;
}

static void acl_token_entered(struct state *state, struct cell *entered)
{
	struct acl_token_cell *cell = (struct acl_token_cell *)entered;

	CHECK(cell->working);
	cell->secret = cell->working->secret;
	cds_lfht_add(secrets_of(state), secret_bucket(&cell->secret), &cell->by_secret);
}

static void acl_token_released(struct state *state, struct cell *released)
{
	struct acl_token_cell *cell = (struct acl_token_cell *)released;

	CHECK(cell->cell.index > 0);
	CHECK(cds_lfht_del(secrets_of(state), &cell->by_secret) == 0);
}

const struct kind acl_token_kind = {
	.name = "token",
	.key = KEY_UUID,
	.key_offset = offsetof(struct acl_token, accessor),
	.cell_bytes = sizeof(struct acl_token_cell),
	.fields = &acl_token_description,
	.limit_offset = offsetof(struct state_limits, acl_tokens),
	.limit_max = ACL_TOKENS_MAX,
	.has_other_hash = true,
	.has_ids = true,
	.is_sound = is_acl_token_sound,
	.check_loaded = check_loaded_acl_token,
	.entered = acl_token_entered,
	.released = acl_token_released,
};

static bool is_acl_bootstrap_sound(const void *record)
{
	const struct acl_bootstrap *mark = record;

	CHECK(record);
	return uuid_is_zero(&mark->accessor) == (mark->reset_index == 0);
}

static int check_loaded_acl_bootstrap(const struct state *state, const void *record)
{
	const struct acl_bootstrap *mark = record;
	return mark->reset_index <= mark->record.modify_index ? 0 : -ERROR_CORRUPT;
}

const struct kind acl_bootstrap_kind = {
	.name = "first token",
	.key = KEY_ONE,
	.cell_bytes = sizeof(struct cell),
	.fields = &acl_bootstrap_description,
	.is_sound = is_acl_bootstrap_sound,
	.check_loaded = check_loaded_acl_bootstrap,
};

const struct acl_token *state_acl_token(const struct state *state, const struct uuid *accessor)
{
	CHECK(accessor);
	return table_published(state, STATE_ACL_TOKENS, accessor);
}

const struct acl_token *state_acl_token_by_secret(
	const struct state *state, const struct acl_secret_hash *secret)
{
	return token_of_secret(state, secret, true);
}

const struct acl_token *state_acl_account(const struct state *state, struct text name)
{
	const struct acl_token *token;
	uint64_t cursor = 0;

	while ((token = state_next(state, STATE_ACL_TOKENS, &cursor)))
		if (is_account_of(token, name))
			return token;
	return NULL;
}

const struct acl_bootstrap *state_acl_bootstrap(const struct state *state)
{
	return cell_published(state->tables[STATE_ACL_BOOTSTRAP].one);
}

bool state_acl_is_bootstrapped(const struct state *state)
{
	return state_acl_bootstrap(state)->reset_index > 0;
}

const struct acl_bootstrap *acl_bootstrap_working(const struct state *state)
{
	CHECK(state->tables[STATE_ACL_BOOTSTRAP].one);
	return state->tables[STATE_ACL_BOOTSTRAP].one->working;
}
