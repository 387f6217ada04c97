// Secrets and what their tokens allow: random changes to tokens, roles and policies, after each of which a keeper that
// remembers says what the records say.
#include "state/base/prng.h"
#include "tests/state/acls.h"
#include "tests/state/evaluations.h"
#include "tools/api/access/acl_secret.h"
#include "tools/api/access/token_keeper.h"
#include "tools/keyring/task_token.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define POLICIES 5u
#define ROLES 3u
#define SECRETS 12u
#define SECONDS_NS 1000000000ll

static const char *const rules[] = {"node { policy = \"read\" }", "node { policy = \"write\" }",
	"node { policy = \"deny\" }", "agent { policy = \"read\" }", ""};
static const enum acl_level levels[] = {
	ACL_LEVEL_READ, ACL_LEVEL_WRITE, ACL_LEVEL_DENY, ACL_LEVEL_NONE, ACL_LEVEL_NONE};

struct model_token {
	struct uuid accessor; // zero: there is none
	bool is_management;
	uint32_t policies, role; // a bit for each policy; role: number + 1
	struct uuid role_id;     // another role may have its number by now
	int64_t end_ns;          // 0: never
};

struct world {
	struct controller c;
	struct prng prng;
	struct token_keeper *keeper;
	uint32_t rules[POLICIES]; // number + 1; 0: the policy is not there
	uint32_t role_policies[ROLES];
	struct uuid roles[ROLES]; // zero: it is not there
	struct model_token tokens[SECRETS];
};

static uint32_t below(struct world *w, uint32_t bound)
{
	return (uint32_t)prng_below(&w->prng, bound);
}

static void secret_text(uint32_t number, char text[static UUID_TEXT_BYTES])
{
	snprintf(text, UUID_TEXT_BYTES, "%08x-0000-4000-8000-000000000001", number * 2048);
}

// "p0 p3": the policies of the bits.
static const char *policy_names(uint32_t bits, char names[static 64])
{
	size_t size = 0;
	names[0] = '\0';
	for (uint32_t i = 0; i < POLICIES; i++)
		if (bits >> i & 1)
			size += (size_t)snprintf(
				names + size, 64 - size, "%sp%u", size ? " " : "", i);
	return names;
}

static void change_policy(struct world *w)
{
	uint32_t i = below(w, POLICIES), number = below(w, 5);
	char name[64];
	policy_names(1u << i, name);
	if (below(w, 3) == 0) {
		(void)delete_policy(&w->c, name);
		w->rules[i] = 0;
		return;
	}
	assert_int_equal(put_policy(&w->c, build_policy(name, rules[number])), OUTCOME_DONE);
	w->rules[i] = number + 1;
}

static void change_role(struct world *w)
{
	uint32_t i = below(w, ROLES), bits = 1 + below(w, (1u << POLICIES) - 1);
	char name[8], names[64];
	struct uuid id;
	if (!uuid_is_zero(&w->roles[i]) && below(w, 3) == 0) {
		assert_int_equal(delete_role(&w->c, w->roles[i]), OUTCOME_DONE);
		w->roles[i] = (struct uuid){{0}};
		return;
	}
	snprintf(name, sizeof name, "r%u", i);
	// A role may not name a policy that is not there.
	for (uint32_t k = 0; k < POLICIES; k++)
		if (!w->rules[k])
			bits &= ~(1u << k);
	if (!bits)
		return;
	struct acl_role *role = build_role(w->roles[i], name, policy_names(bits, names));
	assert_int_equal(put_role(&w->c, role, &id), OUTCOME_DONE);
	w->roles[i] = id;
	w->role_policies[i] = bits;
}

static void make_token(struct world *w, uint32_t number, struct model_token *model)
{
	char names[64], text[UUID_TEXT_BYTES];
	*model = (struct model_token){.is_management = below(w, 8) == 0,
		.policies = below(w, 1u << POLICIES),
		.role = below(w, ROLES + 1)};
	if (model->role && uuid_is_zero(&w->roles[model->role - 1]))
		model->role = 0;
	if (!model->policies && !model->role)
		model->policies = 1;
	if (model->role)
		model->role_id = w->roles[model->role - 1];
	struct acl_token *token = build_token(&w->c, (struct uuid){{0}}, number,
		model->is_management ? "" : policy_names(model->policies, names));
	secret_text(number, text);
	assert_true(acl_secret_hash(text, &token->secret));
	token->type = model->is_management ? ACL_MANAGEMENT : ACL_CLIENT;
	if (model->role && !model->is_management)
		*(struct uuid *)array_append(&token->roles, sizeof(struct uuid)) =
			w->roles[model->role - 1];
	if (below(w, 3) == 0)
		model->end_ns = token->create_time_ns + (1 + below(w, 20)) * SECONDS_NS;
	token->expiration_time_ns = model->end_ns;
	assert_int_equal(put_token(&w->c, token, &model->accessor), OUTCOME_DONE);
}

static void change_token(struct world *w)
{
	uint32_t number = below(w, SECRETS);
	struct model_token *model = &w->tokens[number];
	if (uuid_is_zero(&model->accessor)) {
		make_token(w, number, model);
		return;
	}
	assert_int_equal(delete_token(&w->c, model->accessor), OUTCOME_DONE);
	*model = (struct model_token){0};
}

static void change_something(struct world *w)
{
	switch (below(w, 4)) {
	case 0: change_policy(w); break;
	case 1: change_role(w); break;
	case 2: w->c.time.wall_ns += SECONDS_NS; break;
	default: change_token(w);
	}
}

// What the policies of a token allow of nodes.
static enum acl_level level_of(const struct world *w, const struct model_token *model)
{
	uint32_t bits = model->policies;
	enum acl_level level = ACL_LEVEL_NONE;
	if (model->role && uuid_equal(&w->roles[model->role - 1], &model->role_id))
		bits |= w->role_policies[model->role - 1];
	for (uint32_t i = 0; i < POLICIES; i++)
		if ((bits >> i & 1) && w->rules[i] && levels[w->rules[i] - 1] > level)
			level = levels[w->rules[i] - 1];
	return level == ACL_LEVEL_DENY ? ACL_LEVEL_NONE : level;
}

static void expect_found(struct world *w, uint32_t number)
{
	const struct model_token *model = &w->tokens[number];
	char text[UUID_TEXT_BYTES];
	struct access *access;
	int64_t now_ns = (int64_t)w->c.time.wall_ns;
	secret_text(number, text);
	enum token_verdict verdict = token_keeper_find(w->keeper, text, now_ns, &access);
	bool is_over = model->end_ns && model->end_ns <= now_ns;
	if (uuid_is_zero(&model->accessor)) {
		assert_null(access);
		assert_int_equal(verdict, TOKEN_UNKNOWN);
		return;
	}
	assert_int_equal(verdict, is_over ? TOKEN_EXPIRED : TOKEN_GOOD);
	assert_true(uuid_equal(&access->accessor, &model->accessor));
	assert_int_equal(acl_is_management(access->acl), model->is_management);
	for (enum acl_level l = ACL_LEVEL_READ; l <= ACL_LEVEL_WRITE; l++)
		assert_int_equal(acl_allows_area(access->acl, ACL_NODE, l),
			model->is_management || level_of(w, model) >= l);
	access_release(access);
}

static void world_begin(struct world *w, uint64_t seed)
{
	*w = (struct world){0};
	prng_seed(&w->prng, seed);
	controller_init(&w->c, (struct state_limits){0});
	controller_open(&w->c);
	w->keeper = token_keeper_create(w->c.state, NULL, false);
}

static void world_end(struct world *w)
{
	token_keeper_destroy(w->keeper);
	controller_free(&w->c);
}

static void what_is_remembered_is_what_the_records_say(void **unused)
{
	static struct world w;
	uint64_t seed = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 10) : 20261126;
	print_message("seed %lu\n", (unsigned long)seed);
	world_begin(&w, seed);
	struct acl_token *first = build_token(&w.c, (struct uuid){{0}}, 1000, "");
	assert_int_equal(put_first_token(&w.c, first, 0, NULL, NULL), OUTCOME_DONE);
	for (uint32_t step = 0; step < 5000; step++) {
		change_something(&w);
		for (uint32_t i = 0; i < 4; i++)
			expect_found(&w, below(&w, SECRETS));
	}
	world_end(&w);
}

static void nothing_is_asked_before_the_first_token(void **unused)
{
	static struct world w;
	struct access *access;
	world_begin(&w, 1);
	assert_int_equal(token_keeper_find(w.keeper, NULL, 0, &access), TOKEN_NOT_ASKED);
	assert_int_equal(token_keeper_find(w.keeper, "x", 0, &access), TOKEN_NOT_ASKED);
	struct token_keeper *forced = token_keeper_create(w.c.state, NULL, true);
	assert_int_equal(token_keeper_find(forced, "x", 0, &access), TOKEN_MALFORMED);
	assert_int_equal(token_keeper_find(forced, NULL, 0, &access), TOKEN_GOOD);
	assert_false(acl_allows_area(access->acl, ACL_NODE, ACL_LEVEL_READ));
	access_release(access);
	token_keeper_destroy(forced);
	world_end(&w);
}

static void tokens_with_the_same_policies_share_what_they_allow(void **unused)
{
	static struct world w;
	struct access *a, *b;
	char text[UUID_TEXT_BYTES];
	world_begin(&w, 1);
	struct acl_token *first = build_token(&w.c, (struct uuid){{0}}, 1000, "");
	assert_int_equal(put_first_token(&w.c, first, 0, NULL, NULL), OUTCOME_DONE);
	assert_int_equal(put_policy(&w.c, build_policy("p0", rules[0])), OUTCOME_DONE);
	for (uint32_t i = 0; i < 2; i++) {
		struct acl_token *token =
			build_token(&w.c, (struct uuid){{0}}, i, i ? "p0 p9" : "p0");
		secret_text(i, text);
		assert_true(acl_secret_hash(text, &token->secret));
		assert_int_equal(put_token(&w.c, token, NULL), OUTCOME_DONE);
		assert_int_equal(token_keeper_find(w.keeper, text, 0, i ? &b : &a), TOKEN_GOOD);
	}
	assert_ptr_not_equal(a, b);
	assert_ptr_equal(a->acl, b->acl);
	access_release(a);
	access_release(b);
	world_end(&w);
}

static enum token_verdict find_task(struct token_keeper *keeper, struct keyring *keyring,
	uint32_t number, struct access **access)
{
	char text[TASK_TOKEN_TEXT_BYTES];
	struct uuid id = placed_id(number);
	assert_true(task_token_make(keyring, &id, "t", text));
	return token_keeper_find(keeper, text, 0, access);
}

static bool never_used(void *unused, const struct uuid *id)
{
	return false;
}

// A job that another launched reads what that one may; what both may is there once.
static void a_task_is_looked_after_as_long_as_it_runs(void **unused)
{
	struct controller c;
	struct node_registration node;
	struct command_job_register made = {0};
	struct access *a, *b;
	struct keyring *keyring = keyring_create();
	controller_init(&c, (struct state_limits){0});
	controller_open(&c);
	struct token_keeper *keeper = token_keeper_create(c.state, keyring, true);
	struct token_keeper *without = token_keeper_create(c.state, NULL, true);
	assert_int_equal(controller_register(&c, 1, &node), OUTCOME_DONE);
	struct job *job = build_scheduled_job("sort/dispatch-1", JOB_BATCH);
	job->parent_id = text_copy(TEXT("sort"));
	assert_int_equal(register_job(&c, job, &made), OUTCOME_DONE);
	for (uint32_t i = 1; i <= 2; i++)
		assert_int_equal(
			place_one(&c, &made.made.id, "sort/dispatch-1", &node, i), OUTCOME_DONE);
	assert_int_equal(find_task(keeper, keyring, 1, &a), TOKEN_GOOD);
	assert_int_equal(find_task(keeper, keyring, 2, &b), TOKEN_GOOD);
	assert_true(a->is_of_task);
	assert_ptr_not_equal(a, b);
	assert_ptr_equal(a->acl, b->acl);
	assert_true(
		acl_allows_variable(a->acl, "default", "nomad/jobs/sort/g0/t", ACL_VARIABLE_READ));
	assert_false(acl_allows_variable(
		a->acl, "default", "nomad/jobs/sort/dispatch-1", ACL_VARIABLE_READ));
	access_release(b);
	assert_int_equal(find_task(without, keyring, 1, &b), TOKEN_UNKNOWN);
	assert_int_equal(report_one(&c, &node, 1, ALLOC_COMPLETE), OUTCOME_DONE);
	state_read_begin();
	assert_false(access_is_alive(c.state, a));
	state_read_end();
	assert_int_equal(find_task(keeper, keyring, 1, &b), TOKEN_UNKNOWN);
	assert_int_equal(find_task(keeper, keyring, 2, &b), TOKEN_GOOD);
	access_release(b);
	// Its key goes: what was found before does not count any more.
	struct keyring_entry keys[KEYRING_KEYS_MAX], made_key;
	char token[TASK_TOKEN_TEXT_BYTES], message[128];
	struct uuid second = placed_id(2);
	assert_true(task_token_make(keyring, &second, "t", token));
	assert_int_equal(keyring_list(keyring, keys), 1);
	assert_true(keyring_rotate(keyring, 1, false, &made_key, message, sizeof message));
	assert_int_equal(token_keeper_find(keeper, token, 0, &b), TOKEN_GOOD);
	access_release(b);
	assert_true(
		keyring_forget(keyring, &keys[0].id, never_used, NULL, message, sizeof message));
	assert_int_equal(token_keeper_find(keeper, token, 0, &b), TOKEN_UNKNOWN);
	access_release(a);
	token_keeper_destroy(keeper);
	token_keeper_destroy(without);
	keyring_destroy(keyring);
	controller_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_asked_before_the_first_token),
		cmocka_unit_test(tokens_with_the_same_policies_share_what_they_allow),
		cmocka_unit_test(what_is_remembered_is_what_the_records_say),
		cmocka_unit_test(a_task_is_looked_after_as_long_as_it_runs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
