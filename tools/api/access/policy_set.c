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

static void add_item(struct policy_set *set, const struct acl_policy *policy)
{
	set->items = memory_one_more(
		set->items, set->count, &set->capacity, sizeof(const struct acl_policy *));
	set->items[set->count++] = policy;
}

// A policy that is not there, or not any more, allows nothing.
static void add_policy(struct policy_set *set, const struct state *state, const char *name)
{
	const struct acl_policy *policy = acl_policy_is_role(name)
						  ? account_role(name)
						  : state_acl_policy(state, text_of(name));
	if (policy)
		add_item(set, policy);
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

static void sort_items(struct policy_set *set)
{
	if (set->count > 1)
		set->count = items_sort_unique(
			set->items, set->count, sizeof(const struct acl_policy *), name_order);
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
	sort_items(set);
}

static bool is_named(const char *name, const char *wanted)
{
	return name && strcmp(name, wanted) == 0;
}

// A policy that names no job is no task's.
static bool is_for_task(const struct acl_job *of, const struct acl_task *task)
{
	return of && is_named(of->namespace_name, task->namespace_name) &&
	       is_named(of->job, task->job) &&
	       (!of->group || !*of->group || strcmp(of->group, task->group) == 0) &&
	       (!of->task || !*of->task || strcmp(of->task, task->task) == 0);
}

void policy_set_collect_of_task(
	struct policy_set *set, const struct state *state, const struct acl_task *task)
{
	const struct acl_policy *policy;
	uint64_t cursor = 0;
	set->task = task;
	while ((policy = state_next(state, STATE_ACL_POLICIES, &cursor)))
		if (is_for_task(policy->job, task))
			add_item(set, policy);
	sort_items(set);
}

void policy_set_free(struct policy_set *set)
{
	free(set->items);
	*set = (struct policy_set){0};
}

// With the NULs, as below. No policy has an empty name, with which a task begins.
static void add_task(crypto_generichash_state *hash, const struct acl_task *task)
{
	const char *const parts[] = {"", task ? task->namespace_name : NULL,
		task ? task->job : NULL, task ? task->group : NULL, task ? task->task : NULL};
	for (size_t i = 0; task && i < sizeof parts / sizeof parts[0]; i++)
		CHECK(crypto_generichash_update(
			      hash, (const uint8_t *)parts[i], strlen(parts[i]) + 1) == 0);
}

void policy_set_fingerprint(const struct policy_set *set, struct policy_fingerprint *fingerprint)
{
	crypto_generichash_state hash;
	CHECK(crypto_generichash_init(&hash, NULL, 0, sizeof fingerprint->bytes) == 0);
	add_task(&hash, set->task);
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
	bool is_readable = count == set->count;
	const struct acl *acl = acl_merge((const struct acl_rules *const *)rules,
		is_readable ? count : 0, is_readable ? set->task : NULL);
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
