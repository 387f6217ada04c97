// Random commands about policies, roles and tokens through the applier: after every command everything is what plain
// arrays say; and the log, and a snapshot, lead to the same state.
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "tests/state/acls.h"
#include "tests/state/evaluations.h"
#include "tests/support/core/slowness.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
	SEEDS = 8 / BUILD_SLOWNESS,
	STEPS = 3000,
	POLICIES = 5,
	NAMES = 5,
	ROLES = 2000,
	SECRETS = 40,
	TOKENS = 4000
};
enum { POLICIES_MAX = 4, ROLES_MAX = 4, TOKENS_MAX = 8 };

static const char *const names[] = {"a", "b", "c", "d", "e"}; // of policies and of roles

struct model_policy {
	bool is_there;
	uint32_t rules; // a number
	uint64_t create_index, modify_index;
};
struct model_role {
	bool is_there;
	struct uuid id;
	uint32_t name, policies; // policies: a bit for each
	uint64_t create_index, modify_index;
};
struct model_token {
	bool is_there;
	struct uuid accessor;
	uint32_t secret, policies, role; // role: number + 1; 0: none
	int64_t create_time_ns, expires_ns;
	uint64_t create_index, modify_index;
};

struct life {
	struct controller c;
	struct prng prng;
	struct model_policy policies[POLICIES];
	struct model_role roles[ROLES]; // all there ever were
	struct model_token tokens[TOKENS];
	uint32_t role_count, token_count;
	uint64_t first_index;
	uint32_t done, refused, full, firsts, collected;
};

static uint32_t below(struct life *l, uint32_t bound)
{
	return (uint32_t)prng_below(&l->prng, bound);
}

static uint64_t now_index(const struct life *l)
{
	return state_index(l->c.state);
}

static bool note(struct life *l, enum command_outcome outcome, enum command_outcome expected)
{
	assert_int_equal(outcome, expected);
	l->done += outcome == OUTCOME_DONE;
	l->full += outcome == OUTCOME_TABLE_FULL;
	l->refused += outcome != OUTCOME_DONE && outcome != OUTCOME_TABLE_FULL;
	return outcome == OUTCOME_DONE;
}

static char *words(uint32_t mask, char text[static 16])
{
	char *end = text;

	for (uint32_t i = 0; i < POLICIES; i++)
		if (mask & 1u << i)
			end += snprintf(end, (size_t)(text + 16 - end), "%s%s",
				end == text ? "" : " ", names[i]);
	*end = '\0';
	return text;
}

static uint32_t count_policies(const struct life *l)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < POLICIES; i++)
		count += l->policies[i].is_there;
	return count;
}

static uint32_t count_roles(const struct life *l)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < l->role_count; i++)
		count += l->roles[i].is_there;
	return count;
}

static uint32_t count_tokens(const struct life *l)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < l->token_count; i++)
		count += l->tokens[i].is_there;
	return count;
}

static void describe_policy(struct life *l)
{
	uint32_t at = below(l, POLICIES), rules = below(l, 100);
	struct model_policy *p = &l->policies[at];
	bool is_full = !p->is_there && count_policies(l) == POLICIES_MAX;
	char text[16];

	snprintf(text, sizeof text, "%u", rules);
	if (!note(l, put_policy(&l->c, build_policy(names[at], text)),
		    is_full ? OUTCOME_TABLE_FULL : OUTCOME_DONE))
		return;
	p->create_index = p->is_there ? p->create_index : now_index(l);
	p->modify_index = now_index(l);
	p->is_there = true;
	p->rules = rules;
}

static void drop_policy(struct life *l)
{
	uint32_t at = below(l, POLICIES);
	bool was_there = l->policies[at].is_there;

	note(l, delete_policy(&l->c, names[at]), was_there ? OUTCOME_DONE : OUTCOME_UNKNOWN_POLICY);
	l->policies[at].is_there = false;
}

static bool lacks_policy(const struct life *l, uint32_t mask)
{
	for (uint32_t i = 0; i < POLICIES; i++)
		if (mask & 1u << i && !l->policies[i].is_there)
			return true;
	return false;
}

static bool has_name(const struct life *l, uint32_t name, const struct model_role *but)
{
	for (uint32_t i = 0; i < l->role_count; i++)
		if (&l->roles[i] != but && l->roles[i].is_there && l->roles[i].name == name)
			return true;
	return false;
}

static enum command_outcome role_outcome(
	const struct life *l, const struct model_role *known, uint32_t name, uint32_t mask)
{
	if (lacks_policy(l, mask))
		return OUTCOME_UNKNOWN_POLICY;
	if (has_name(l, name, known))
		return OUTCOME_CONFLICT;
	if (known && !known->is_there)
		return OUTCOME_UNKNOWN_ROLE;
	if (mask == 0)
		return OUTCOME_BAD_DESCRIPTION;
	return !known && count_roles(l) == ROLES_MAX ? OUTCOME_TABLE_FULL : OUTCOME_DONE;
}

// One of the newest, so that many are there.
static uint32_t recent(struct life *l, uint32_t count, uint32_t among)
{
	return count - 1 - below(l, count < among ? count : among);
}

static void describe_role(struct life *l)
{
	uint32_t name = below(l, NAMES), mask = below(l, 1u << POLICIES) & below(l, 1u << POLICIES);
	bool is_new = l->role_count == 0 || below(l, 2), are_there = below(l, 4);
	struct model_role *known = is_new ? NULL : &l->roles[recent(l, l->role_count, 8)];
	for (uint32_t i = 0; are_there && i < POLICIES; i++)
		mask &= l->policies[i].is_there ? ~0u : ~(1u << i);
	struct uuid id = known ? known->id : (struct uuid){0};
	enum command_outcome expected = role_outcome(l, known, name, mask);
	char text[16];

	if (!note(l, put_role(&l->c, build_role(id, names[name], words(mask, text)), &id),
		    expected))
		return;
	assert_true(l->role_count < ROLES);
	struct model_role *r = known ? known : &l->roles[l->role_count++];
	*r = (struct model_role){
		true, id, name, mask, known ? r->create_index : now_index(l), now_index(l)};
}

static void drop_role(struct life *l)
{
	if (l->role_count == 0)
		return;
	struct model_role *r = &l->roles[recent(l, l->role_count, 8)];
	note(l, delete_role(&l->c, r->id), r->is_there ? OUTCOME_DONE : OUTCOME_UNKNOWN_ROLE);
	r->is_there = false;
}

static bool has_secret(const struct life *l, uint32_t secret)
{
	for (uint32_t i = 0; i < l->token_count; i++)
		if (l->tokens[i].is_there && l->tokens[i].secret == secret)
			return true;
	return false;
}

static struct acl_token *ask_token(struct life *l, struct model_token *t)
{
	char text[16];
	struct acl_token *token =
		build_token(&l->c, t->accessor, t->secret, words(t->policies, text));

	if (t->role > 0) {
		token->type = ACL_CLIENT;
		*(struct uuid *)array_append(&token->roles, sizeof(struct uuid)) =
			l->roles[t->role - 1].id;
	}
	token->expiration_time_ns = t->expires_ns;
	t->create_time_ns = token->create_time_ns;
	return token;
}

static struct model_token any_token(struct life *l)
{
	struct model_token t = {.is_there = true,
		.secret = below(l, SECRETS),
		.policies = below(l, 1u << POLICIES) & below(l, 1u << POLICIES)};

	if (l->role_count > 0 && below(l, 2))
		t.role = 1 + recent(l, l->role_count, 6);
	if (below(l, 2))
		t.expires_ns = (int64_t)l->c.time.wall_ns + 1000000ll * (1 + below(l, 20000));
	return t;
}

static enum command_outcome token_outcome(const struct life *l, const struct model_token *t)
{
	if (t->role > 0 && !l->roles[t->role - 1].is_there)
		return OUTCOME_UNKNOWN_ROLE;
	if (has_secret(l, t->secret))
		return OUTCOME_CONFLICT;
	return count_tokens(l) == TOKENS_MAX ? OUTCOME_TABLE_FULL : OUTCOME_DONE;
}

static void keep_token(struct life *l, struct model_token t, uint64_t index)
{
	assert_true(l->token_count < TOKENS);
	t.create_index = t.modify_index = index;
	l->tokens[l->token_count++] = t;
}

static void create_token(struct life *l)
{
	struct model_token t = any_token(l);
	enum command_outcome expected = token_outcome(l, &t);

	if (note(l, put_token(&l->c, ask_token(l, &t), &t.accessor), expected))
		keep_token(l, t, now_index(l));
}

static void update_token(struct life *l)
{
	if (l->token_count == 0)
		return;
	struct model_token *known = &l->tokens[recent(l, l->token_count, 12)], t = any_token(l);
	t.accessor = known->accessor;
	bool lacks_role = t.role > 0 && !l->roles[t.role - 1].is_there;
	enum command_outcome expected = lacks_role        ? OUTCOME_UNKNOWN_ROLE
					: known->is_there ? OUTCOME_DONE
							  : OUTCOME_UNKNOWN_TOKEN;
	if (!note(l, put_token(&l->c, ask_token(l, &t), NULL), expected))
		return;
	known->policies = t.policies;
	known->role = t.role;
	known->modify_index = now_index(l);
}

static void drop_token(struct life *l)
{
	if (l->token_count == 0)
		return;
	struct model_token *t = &l->tokens[recent(l, l->token_count, 12)];
	note(l, delete_token(&l->c, t->accessor),
		t->is_there ? OUTCOME_DONE : OUTCOME_UNKNOWN_TOKEN);
	t->is_there = false;
}

static void make_first(struct life *l)
{
	struct model_token t = {.is_there = true, .secret = below(l, SECRETS)};
	uint64_t reset = below(l, 3) ? 0 : l->first_index, done;
	enum command_outcome expected =
		l->first_index && reset == 0 ? OUTCOME_NOT_NOW : token_outcome(l, &t);

	bool is_done = note(
		l, put_first_token(&l->c, ask_token(l, &t), reset, &t.accessor, &done), expected);
	assert_int_equal(done, l->first_index);
	if (!is_done)
		return;
	l->first_index = now_index(l) - 1; // the mark comes after it
	keep_token(l, t, l->first_index);
	l->firsts++;
}

static void collect(struct life *l)
{
	int64_t before_ns = (int64_t)l->c.time.wall_ns - 1000000ll * below(l, 5000);
	uint32_t expected = 0;

	for (uint32_t i = 0; i < l->token_count; i++) {
		struct model_token *t = &l->tokens[i];
		if (!t->is_there || t->expires_ns == 0 || t->expires_ns > before_ns)
			continue;
		t->is_there = false;
		expected++;
	}
	assert_int_equal(collect_tokens(&l->c, before_ns), expected);
	l->collected += expected;
}

static void expect_policy(const struct life *l, uint32_t at)
{
	const struct model_policy *p = &l->policies[at];
	const struct acl_policy *policy = state_acl_policy(l->c.state, text_of(names[at]));

	assert_int_equal(policy != NULL, p->is_there);
	if (!policy)
		return;
	assert_int_equal(strtoul(policy->rules, NULL, 10), p->rules);
	assert_int_equal(policy->record.create_index, p->create_index);
	assert_int_equal(policy->record.modify_index, p->modify_index);
}

static void expect_role(const struct life *l, uint32_t at)
{
	const struct model_role *r = &l->roles[at];
	const struct acl_role *role = state_acl_role(l->c.state, &r->id);

	assert_int_equal(role != NULL, r->is_there);
	if (!role)
		return;
	assert_string_equal(role->name, names[r->name]);
	assert_ptr_equal(state_acl_role_by_name(l->c.state, text_of(role->name)), role);
	assert_int_equal(role->policies.count, __builtin_popcount(r->policies));
	assert_int_equal(role->record.create_index, r->create_index);
	assert_int_equal(role->record.modify_index, r->modify_index);
}

static void expect_token(const struct life *l, uint32_t at)
{
	const struct model_token *t = &l->tokens[at];
	const struct acl_token *token = state_acl_token(l->c.state, &t->accessor);
	struct acl_secret_hash secret = number_secret(t->secret);

	assert_int_equal(token != NULL, t->is_there);
	if (!token)
		return;
	assert_ptr_equal(state_acl_token_by_secret(l->c.state, &secret), token);
	assert_int_equal(token->policies.count, __builtin_popcount(t->policies));
	assert_int_equal(token->roles.count, t->role > 0);
	assert_int_equal(token->type, t->policies || t->role ? ACL_CLIENT : ACL_MANAGEMENT);
	assert_true(token->create_time_ns == t->create_time_ns);
	assert_true(token->expiration_time_ns == t->expires_ns);
	assert_int_equal(token->record.create_index, t->create_index);
	assert_int_equal(token->record.modify_index, t->modify_index);
}

static void expect_all(const struct life *l)
{
	state_read_begin();
	for (uint32_t i = 0; i < POLICIES; i++)
		expect_policy(l, i);
	for (uint32_t i = 0; i < l->role_count; i++)
		expect_role(l, i);
	for (uint32_t i = 0; i < l->token_count; i++)
		expect_token(l, i);
	for (uint32_t i = 0; i < SECRETS; i++) {
		struct acl_secret_hash secret = number_secret(i);
		assert_int_equal(
			state_acl_token_by_secret(l->c.state, &secret) != NULL, has_secret(l, i));
	}
	assert_int_equal(state_acl_bootstrap(l->c.state)->reset_index, l->first_index);
	state_read_end();
}

static const struct {
	uint32_t often;
	void (*act)(struct life *);
} actions[] = {{20, describe_policy}, {2, drop_policy}, {20, describe_role}, {6, drop_role},
	{30, create_token}, {15, update_token}, {10, drop_token}, {3, make_first}, {10, collect}};

static void step(struct life *l)
{
	uint32_t all = 0;
	size_t at = 0;

	for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
		all += actions[i].often;
	uint32_t chosen = below(l, all);
	while (chosen >= actions[at].often)
		chosen -= actions[at++].often;
	advance_ms(&l->c, below(l, 2000));
	actions[at].act(l);
	expect_all(l);
}

static struct life *begin(uint64_t seed)
{
	static const struct state_limits limits = {
		.acl_policies = POLICIES_MAX, .acl_roles = ROLES_MAX, .acl_tokens = TOKENS_MAX};
	struct life *l = memory_take(sizeof *l);

	prng_seed(&l->prng, seed);
	controller_init(&l->c, limits);
	controller_open(&l->c);
	return l;
}

static void all_is_as_it_was_asked_for_and_again_after_a_restart(void **unused)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct life *l = begin(seed);

		for (uint32_t i = 0; i < STEPS; i++) {
			step(l);
			if (i % 10 == 0)
				controller_verify(&l->c);
			if (i % 1000 == 999)
				expect_restores(&l->c);
		}
		print_message("seed %lu: %u done, %u refused, %u full, %u first, %u collected\n",
			(unsigned long)seed, l->done, l->refused, l->full, l->firsts, l->collected);
		assert_true(l->done > STEPS / 5 && l->refused > STEPS / 20 && l->full > STEPS / 50);
		assert_true(l->firsts > 1 && l->collected > STEPS / 100);
		controller_free(&l->c);
		free(l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_as_it_was_asked_for_and_again_after_a_restart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
