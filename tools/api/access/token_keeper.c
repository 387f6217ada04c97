#include "tools/api/access/token_keeper.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/acl_policy.h"
#include "state/records/acl_role.h"
#include "state/records/acl_token.h"
#include "state/tables/state.h"
#include "tools/acl/acl_rules.h"
#include "tools/api/access/acl_secret.h"
#include <pthread.h>
#include <stdlib.h>

// Tokens that are in use at the same time; one more takes the place of another.
#define PLACES 4096u
// The policy of whoever shows no token.
#define ANONYMOUS "anonymous"

struct place {
	struct acl_secret_hash secret; // zero: no token
	uint64_t index;                // of the tables, when the records were looked at
	struct access *access;         // NULL: empty
};

struct token_keeper {
	const struct state *state;
	bool is_forced;
	pthread_mutex_t lock; // guards the places
	struct place places[PLACES];
};

struct token_keeper *token_keeper_create(const struct state *state, bool is_forced)
{
	struct token_keeper *keeper = memory_take(sizeof *keeper);
	keeper->state = state;
	keeper->is_forced = is_forced;
	pthread_mutex_init(&keeper->lock, NULL);
	return keeper;
}

void token_keeper_destroy(struct token_keeper *keeper)
{
	for (uint32_t i = 0; i < PLACES; i++)
		access_release(keeper->places[i].access);
	pthread_mutex_destroy(&keeper->lock);
	free(keeper);
}

struct access *access_hold(struct access *access)
{
	if (access)
		CHECK(atomic_fetch_add(&access->holders, 1) > 0);
	return access;
}

void access_release(struct access *access)
{
	if (!access || atomic_fetch_sub(&access->holders, 1) > 1)
		return;
	acl_free(access->acl);
	free(access);
}

// The index of the newest change to tokens, roles or policies.
static uint64_t tables_index(const struct state *state)
{
	static const enum state_table tables[] = {
		STATE_ACL_TOKENS, STATE_ACL_ROLES, STATE_ACL_POLICIES};
	uint64_t newest = 0;
	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
		uint64_t index = state_table_index(state, tables[i]);
		newest = index > newest ? index : newest;
	}
	return newest;
}

// The policies of a token, those of its roles too.
struct policies {
	const struct acl_policy **items;
	uint32_t count, capacity;
	uint64_t fingerprint;
};

static void add_to_fingerprint(struct policies *policies, uint64_t index)
{
	policies->fingerprint = (policies->fingerprint ^ index) * 0x9e3779b97f4a7c15;
	policies->fingerprint ^= policies->fingerprint >> 29;
}

static void add_policy(struct policies *policies, const struct state *state, const char *name)
{
	const struct acl_policy *policy = state_acl_policy(state, text_of(name));
	add_to_fingerprint(policies, policy ? policy->record.modify_index : 0);
	if (!policy)
		return;
	policies->items = memory_one_more(policies->items, policies->count, &policies->capacity,
		sizeof(const struct acl_policy *));
	policies->items[policies->count++] = policy;
}

static void add_role(struct policies *policies, const struct state *state, const struct uuid *id)
{
	const struct acl_role *role = state_acl_role(state, id);
	add_to_fingerprint(policies, role ? role->record.modify_index : 0);
	for (uint32_t i = 0; role && i < role->policies.count; i++)
		add_policy(policies, state,
			ARRAY_AT(&role->policies, struct acl_policy_link, i)->name);
}

// token NULL: whoever shows none.
static void add_policies(
	struct policies *policies, const struct state *state, const struct acl_token *token)
{
	if (!token) {
		add_policy(policies, state, ANONYMOUS);
		return;
	}
	add_to_fingerprint(policies, token->record.modify_index);
	for (uint32_t i = 0; i < token->policies.count; i++)
		add_policy(policies, state, *ARRAY_AT(&token->policies, char *, i));
	for (uint32_t i = 0; i < token->roles.count; i++)
		add_role(policies, state, ARRAY_AT(&token->roles, struct uuid, i));
}

// A policy that cannot be read might deny something: then nothing is allowed.
static const struct acl *merge_policies(const struct policies *policies)
{
	struct acl_rules **rules =
		memory_take_array(policies->count + 1, sizeof(struct acl_rules *));
	uint32_t count = 0;
	while (count < policies->count) {
		struct text text = text_of(policies->items[count]->rules);
		char *mistake = NULL;
		rules[count] = acl_rules_read(text.data ? text.data : "", text.size, &mistake);
		free(mistake);
		if (!rules[count])
			break;
		count++;
	}
	const struct acl *acl = acl_merge(
		(const struct acl_rules *const *)rules, count == policies->count ? count : 0);
	for (uint32_t i = 0; i < count; i++)
		acl_rules_free(rules[i]);
	free(rules);
	return acl;
}

static struct access *make_access(const struct acl_token *token, const struct policies *policies)
{
	struct access *access = memory_take(sizeof *access);
	bool is_management = token && token->type == ACL_MANAGEMENT;
	access->acl = is_management ? acl_of_management() : merge_policies(policies);
	access->accessor = token ? token->accessor : (struct uuid){{0}};
	access->expiration_time_ns = token ? token->expiration_time_ns : 0;
	access->fingerprint = policies->fingerprint;
	atomic_store(&access->holders, 1);
	return access;
}

// What the state says of the secret now; the one before, when nothing of it changed. NULL: there is no such token.
static struct access *look_up(
	const struct state *state, const struct acl_secret_hash *secret, struct access *before)
{
	struct policies policies = {0};
	struct access *access = NULL;
	state_read_begin();
	const struct acl_token *token = secret ? state_acl_token_by_secret(state, secret) : NULL;
	if (token || !secret) {
		add_policies(&policies, state, token);
		bool is_same = before && before->fingerprint == policies.fingerprint;
		access = is_same ? access_hold(before) : make_access(token, &policies);
	}
	state_read_end();
	free(policies.items);
	return access;
}

static struct place *place_of(struct token_keeper *keeper, const struct acl_secret_hash *secret)
{
	uint32_t first;
	memcpy(&first, secret->bytes, sizeof first);
	return &keeper->places[first % PLACES];
}

// Finds what is kept of the secret; *index is when it was looked at, 0: there is nothing. Holds it.
static struct access *take_kept(
	struct token_keeper *keeper, const struct acl_secret_hash *secret, uint64_t *index)
{
	struct access *access = NULL;
	pthread_mutex_lock(&keeper->lock);
	const struct place *place = place_of(keeper, secret);
	if (place->access && acl_secret_equal(&place->secret, secret)) {
		access = access_hold(place->access);
		*index = place->index;
	}
	pthread_mutex_unlock(&keeper->lock);
	return access;
}

static void keep_access(struct token_keeper *keeper, const struct acl_secret_hash *secret,
	uint64_t index, struct access *access)
{
	pthread_mutex_lock(&keeper->lock);
	struct place *place = place_of(keeper, secret);
	struct access *before = place->access;
	*place = (struct place){*secret, index, access_hold(access)};
	pthread_mutex_unlock(&keeper->lock);
	access_release(before);
}

// has_secret: false, then the hash is zero.
static struct access *find_access(
	struct token_keeper *keeper, const struct acl_secret_hash *secret, bool has_secret)
{
	// Before the records are looked at, so that a change meanwhile is not missed.
	uint64_t index = tables_index(keeper->state), kept_index = 0;
	struct access *kept = take_kept(keeper, secret, &kept_index);
	if (kept && kept_index == index)
		return kept;
	struct access *access = look_up(keeper->state, has_secret ? secret : NULL, kept);
	access_release(kept);
	if (access)
		keep_access(keeper, secret, index, access);
	return access;
}

static bool is_on(const struct token_keeper *keeper)
{
	state_read_begin();
	bool is_bootstrapped = state_acl_is_bootstrapped(keeper->state);
	state_read_end();
	return keeper->is_forced || is_bootstrapped;
}

enum token_verdict token_keeper_find(
	struct token_keeper *keeper, const char *secret, int64_t now_ns, struct access **access)
{
	struct acl_secret_hash hash = {{0}};
	*access = NULL;
	if (!is_on(keeper))
		return TOKEN_NOT_ASKED;
	if (secret && !acl_secret_hash(secret, &hash))
		return TOKEN_MALFORMED;
	*access = find_access(keeper, &hash, secret != NULL);
	if (!*access)
		return TOKEN_UNKNOWN;
	int64_t end_ns = (*access)->expiration_time_ns;
	if (end_ns == 0 || end_ns > now_ns)
		return TOKEN_GOOD;
	access_release(*access);
	*access = NULL;
	return TOKEN_EXPIRED;
}
