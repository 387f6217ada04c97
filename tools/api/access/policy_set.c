#include "tools/api/access/policy_set.h"
#include "state/base/array.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/acl_role.h"
#include "state/records/acl_token.h"
#include "state/tables/state.h"
#include "tools/acl/acl_rules.h"
#include "tools/api/access/account_roles.h"
#include <sodium.h>
#include <stdlib.h>

// The policy of whoever shows no token.
#define ANONYMOUS "anonymous"

// A policy that is not there, or not any more, allows nothing.
static void add_policy(struct policy_set *set, const struct state *state, const char *name)
{
	const struct acl_policy *policy = acl_policy_is_role(name)
						  ? account_role(name)
						  : state_acl_policy(state, text_of(name));
	if (!policy)
		return;
	set->items = memory_one_more(
		set->items, set->count, &set->capacity, sizeof(const struct acl_policy *));
	set->items[set->count++] = policy;
}

static void add_role(struct policy_set *set, const struct state *state, const struct uuid *id)
{
	const struct acl_role *role = state_acl_role(state, id);
	for (uint32_t i = 0; role && i < role->policies.count; i++)
		add_policy(set, state, ARRAY_AT(&role->policies, struct acl_policy_link, i)->name);
}

static int name_order(const void *a, const void *b)
{
	const struct acl_policy *const *x = a, *const *y = b;
	return strcmp((*x)->name, (*y)->name);
}

void policy_set_collect(
	struct policy_set *set, const struct state *state, const struct acl_token *token)
{
	if (!token)
		add_policy(set, state, ANONYMOUS);
	for (uint32_t i = 0; token && i < token->policies.count; i++)
		add_policy(set, state, *ARRAY_AT(&token->policies, char *, i));
	for (uint32_t i = 0; token && i < token->roles.count; i++)
		add_role(set, state, ARRAY_AT(&token->roles, struct uuid, i));
	if (set->count > 1)
		set->count = items_sort_unique(
			set->items, set->count, sizeof(const struct acl_policy *), name_order);
}

void policy_set_free(struct policy_set *set)
{
	free(set->items);
	*set = (struct policy_set){0};
}

void policy_set_fingerprint(const struct policy_set *set, struct policy_fingerprint *fingerprint)
{
	crypto_generichash_state hash;
	CHECK(crypto_generichash_init(&hash, NULL, 0, sizeof fingerprint->bytes) == 0);
	for (uint32_t i = 0; i < set->count; i++) {
		const struct acl_policy *policy = set->items[i];
		uint64_t index = policy->record.modify_index;
		// With the NUL, so that no two rows of names are the same bytes.
		const uint8_t *name = (const uint8_t *)policy->name;
		CHECK(crypto_generichash_update(&hash, name, strlen(policy->name) + 1) == 0);
		CHECK(crypto_generichash_update(&hash, (const uint8_t *)&index, sizeof index) == 0);
	}
	CHECK(crypto_generichash_final(&hash, fingerprint->bytes, sizeof fingerprint->bytes) == 0);
}

// A policy that cannot be read might deny something: then nothing is allowed.
static const struct acl *merge_all(const struct policy_set *set)
{
	struct acl_rules **rules = memory_take_array(set->count + 1, sizeof(struct acl_rules *));
	uint32_t count = 0;
	while (count < set->count) {
		struct text text = text_of(set->items[count]->rules);
		char *mistake = NULL;
		rules[count] = acl_rules_read(text.data ? text.data : "", text.size, &mistake);
		free(mistake);
		if (!rules[count])
			break;
		count++;
	}
	const struct acl *acl =
		acl_merge((const struct acl_rules *const *)rules, count == set->count ? count : 0);
	for (uint32_t i = 0; i < count; i++)
		acl_rules_free(rules[i]);
	free(rules);
	return acl;
}

struct merged_policies *policy_set_merge(
	const struct policy_set *set, const struct policy_fingerprint *fingerprint)
{
	struct merged_policies *merged = memory_take(sizeof *merged);
	merged->fingerprint = *fingerprint;
	merged->acl = merge_all(set);
	atomic_store(&merged->holders, 1);
	return merged;
}

struct merged_policies *merged_policies_hold(struct merged_policies *merged)
{
	if (merged)
		CHECK(atomic_fetch_add(&merged->holders, 1) > 0);
	return merged;
}

void merged_policies_release(struct merged_policies *merged)
{
	if (!merged || atomic_fetch_sub(&merged->holders, 1) > 1)
		return;
	acl_free(merged->acl);
	free(merged);
}
