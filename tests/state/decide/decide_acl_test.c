// Policies, roles and tokens through the applier: what is refused, what an update leaves as it was, the first token,
// and that a successor has them.
#include "state/base/limits.h"
#include "state/base/memory.h"
#include "tests/state/acls.h"
#include "tests/state/evaluations.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct state_limits limits = {.acl_policies = 3, .acl_roles = 2, .acl_tokens = 3};
static const struct uuid new_one, none;

static int setup(void **test)
{
	struct controller *c = memory_take(sizeof *c);

	controller_init(c, limits);
	controller_open(c);
	*test = c;
	return 0;
}

static int teardown(void **test)
{
	expect_restores(*test);
	controller_free(*test);
	free(*test);
	return 0;
}

static bool is_accessor(const struct controller *c, uint32_t secret, struct uuid expected)
{
	struct uuid accessor = accessor_of_secret(c, secret);
	return uuid_equal(&accessor, &expected);
}

static void policies_are_described_anew(void **test)
{
	struct controller *c = *test;

	assert_int_equal(put_policy(c, build_policy("readers", "one")), OUTCOME_DONE);
	struct acl_policy *first = published_policy(c, "readers");
	struct acl_policy *next = build_policy("readers", "two");
	next->job = memory_take(sizeof *next->job);
	next->job->namespace_name = text_copy(TEXT("default"));
	assert_int_equal(put_policy(c, next), OUTCOME_DONE);
	struct acl_policy *second = published_policy(c, "readers");
	assert_string_equal(second->rules, "two");
	assert_string_equal(second->job->namespace_name, "default");
	assert_int_equal(second->record.create_index, first->record.create_index);
	assert_int_equal(second->record.modify_index, state_index(c->state));
	assert_int_equal(state_table_index(c->state, STATE_ACL_POLICIES), state_index(c->state));
	record_free(&acl_policy_description, first);
	record_free(&acl_policy_description, second);
}

static char *long_text(size_t size)
{
	char *text = memory_take(size + 1);

	memset(text, 'x', size);
	return text;
}

static void bad_policies_are_refused(void **test)
{
	static const char *const names[] = {"", "a b", "a/b", "a_b", "\xc3\xa4"};
	struct controller *c = *test;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		assert_int_equal(
			put_policy(c, build_policy(names[i], "")), OUTCOME_BAD_DESCRIPTION);
	struct acl_policy *policy = build_policy("p", "");
	policy->description = long_text(ACL_DESCRIPTION_MAX + 1);
	assert_int_equal(put_policy(c, policy), OUTCOME_BAD_DESCRIPTION);
	policy = build_policy("p", "");
	free(policy->rules);
	policy->rules = long_text(ACL_RULES_BYTES_MAX + 1);
	assert_int_equal(put_policy(c, policy), OUTCOME_BAD_DESCRIPTION);
	policy = build_policy("p", "");
	policy->job = memory_take(sizeof *policy->job);
	policy->job->job = text_copy(TEXT("web"));
	assert_int_equal(put_policy(c, policy), OUTCOME_BAD_DESCRIPTION);
}

static void there_is_an_end_of_room(void **test)
{
	static const char *const names[] = {"a", "b", "c"};
	struct controller *c = *test;

	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(put_policy(c, build_policy(names[i], "")), OUTCOME_DONE);
	assert_int_equal(put_policy(c, build_policy("d", "")), OUTCOME_TABLE_FULL);
	assert_int_equal(put_policy(c, build_policy("c", "anew")), OUTCOME_DONE);
	assert_int_equal(put_role(c, build_role(new_one, "r", "a"), NULL), OUTCOME_DONE);
	assert_int_equal(put_role(c, build_role(new_one, "s", "a"), NULL), OUTCOME_DONE);
	assert_int_equal(put_role(c, build_role(new_one, "t", "a"), NULL), OUTCOME_TABLE_FULL);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(put_token(c, build_token(c, new_one, i, "a"), NULL), OUTCOME_DONE);
	assert_int_equal(put_token(c, build_token(c, new_one, 3, "a"), NULL), OUTCOME_TABLE_FULL);
	assert_int_equal(put_first_token(c, build_token(c, new_one, 3, ""), 0, NULL, NULL),
		OUTCOME_TABLE_FULL);
	assert_int_equal(delete_token(c, accessor_of_secret(c, 1)), OUTCOME_DONE);
	assert_int_equal(
		put_first_token(c, build_token(c, new_one, 3, ""), 0, NULL, NULL), OUTCOME_DONE);
}

static void a_policy_goes_though_it_is_named(void **test)
{
	struct controller *c = *test;
	struct uuid role;

	assert_int_equal(delete_policy(c, "p"), OUTCOME_UNKNOWN_POLICY);
	assert_int_equal(put_policy(c, build_policy("p", "")), OUTCOME_DONE);
	assert_int_equal(put_role(c, build_role(new_one, "r", "p"), &role), OUTCOME_DONE);
	assert_int_equal(put_token(c, build_token(c, new_one, 0, "p q"), NULL), OUTCOME_DONE);
	assert_int_equal(delete_policy(c, "p"), OUTCOME_DONE);
	assert_int_equal(delete_policy(c, "p"), OUTCOME_UNKNOWN_POLICY);
	assert_null(published_policy(c, "p"));
	struct acl_role *left = published_role(c, role);
	assert_int_equal(left->policies.count, 1);
	record_free(&acl_role_description, left);
	assert_int_equal(put_role(c, build_role(role, "r", "p"), NULL), OUTCOME_UNKNOWN_POLICY);
}

static void roles_have_names_of_their_own(void **test)
{
	struct controller *c = *test;
	struct uuid first, second;

	assert_int_equal(put_policy(c, build_policy("p", "")), OUTCOME_DONE);
	assert_int_equal(put_role(c, build_role(new_one, "r", "p"), &first), OUTCOME_DONE);
	assert_int_equal(put_role(c, build_role(new_one, "r", "p"), NULL), OUTCOME_CONFLICT);
	assert_int_equal(put_role(c, build_role(new_one, "s", "p"), &second), OUTCOME_DONE);
	assert_int_equal(put_role(c, build_role(second, "r", "p"), NULL), OUTCOME_CONFLICT);
	assert_int_equal(put_role(c, build_role(first, "t", "p"), NULL), OUTCOME_DONE);
	assert_int_equal(put_role(c, build_role(second, "r", "p"), NULL), OUTCOME_DONE);
	state_read_begin();
	assert_true(uuid_equal(&state_acl_role_by_name(c->state, TEXT("r"))->id, &second));
	assert_true(uuid_equal(&state_acl_role_by_name(c->state, TEXT("t"))->id, &first));
	assert_null(state_acl_role_by_name(c->state, TEXT("s")));
	state_read_end();
	assert_int_equal(
		put_role(c, build_role(number_uuid(9), "u", "p"), NULL), OUTCOME_UNKNOWN_ROLE);
	assert_int_equal(delete_role(c, first), OUTCOME_DONE);
	assert_int_equal(delete_role(c, first), OUTCOME_UNKNOWN_ROLE);
	assert_int_equal(put_role(c, build_role(first, "t", "p"), NULL), OUTCOME_UNKNOWN_ROLE);
	assert_int_equal(put_role(c, build_role(new_one, "t", "p"), NULL), OUTCOME_DONE);
}

static void bad_roles_are_refused(void **test)
{
	struct controller *c = *test;

	assert_int_equal(put_policy(c, build_policy("p", "")), OUTCOME_DONE);
	assert_int_equal(
		put_role(c, build_role(new_one, "a b", "p"), NULL), OUTCOME_BAD_DESCRIPTION);
	assert_int_equal(put_role(c, build_role(new_one, "", "p"), NULL), OUTCOME_BAD_DESCRIPTION);
	assert_int_equal(put_role(c, build_role(new_one, "r", ""), NULL), OUTCOME_BAD_DESCRIPTION);
	assert_int_equal(
		put_role(c, build_role(new_one, "r", "p q"), NULL), OUTCOME_UNKNOWN_POLICY);
	struct acl_role *role = build_role(new_one, "r", "p");
	role->description = long_text(ACL_DESCRIPTION_MAX + 1);
	assert_int_equal(put_role(c, role, NULL), OUTCOME_BAD_DESCRIPTION);
}

static void an_update_keeps_what_a_token_is(void **test)
{
	struct controller *c = *test;
	struct uuid accessor;
	struct acl_token *asked = build_token(c, new_one, 5, "p");
	int64_t create_time_ns = asked->create_time_ns;

	asked->expiration_ttl_ns = 3600000000000;
	asked->expiration_time_ns = create_time_ns + asked->expiration_ttl_ns;
	asked->global = true;
	assert_int_equal(put_token(c, asked, &accessor), OUTCOME_DONE);
	advance_ms(c, 5000);
	assert_int_equal(put_token(c, build_token(c, accessor, 6, ""), NULL), OUTCOME_DONE);
	struct acl_token *token = published_token(c, accessor);
	assert_int_equal(token->type, ACL_MANAGEMENT);
	assert_int_equal(token->policies.count, 0);
	assert_true(token->global);
	assert_true(token->create_time_ns == create_time_ns);
	assert_true(token->expiration_time_ns == create_time_ns + 3600000000000);
	assert_true(token->expiration_ttl_ns == 3600000000000);
	assert_int_equal(token->record.modify_index, state_index(c->state));
	record_free(&acl_token_description, token);
	assert_true(is_accessor(c, 5, accessor));
	assert_true(is_accessor(c, 6, none));
	assert_int_equal(
		put_token(c, build_token(c, number_uuid(9), 5, ""), NULL), OUTCOME_UNKNOWN_TOKEN);
}

static void a_deleted_token_opens_nothing(void **test)
{
	struct controller *c = *test;
	struct uuid first, second;

	assert_int_equal(put_token(c, build_token(c, new_one, 5, "p"), &first), OUTCOME_DONE);
	assert_int_equal(put_token(c, build_token(c, new_one, 5, "p"), NULL), OUTCOME_CONFLICT);
	assert_int_equal(delete_token(c, first), OUTCOME_DONE);
	assert_true(is_accessor(c, 5, none));
	assert_int_equal(delete_token(c, first), OUTCOME_UNKNOWN_TOKEN);
	assert_int_equal(put_token(c, build_token(c, first, 5, "p"), NULL), OUTCOME_UNKNOWN_TOKEN);
	assert_int_equal(put_token(c, build_token(c, new_one, 5, "p"), &second), OUTCOME_DONE);
	assert_true(is_accessor(c, 5, second));
	assert_false(uuid_equal(&first, &second));
}

static struct acl_token *build_account(const struct controller *c, struct uuid accessor,
	uint32_t secret, const char *name, const char *roles)
{
	struct acl_token *token = build_token(c, accessor, secret, roles);

	free(token->name);
	token->name = text_copy(text_of(name));
	return token;
}

static void an_account_has_its_name_alone(void **test)
{
	struct controller *c = *test;
	struct uuid first, second;

	assert_int_equal(put_token(c, build_account(c, new_one, 1, "ci", "compute:read"), &first),
		OUTCOME_DONE);
	assert_int_equal(
		put_token(c, build_account(c, new_one, 2, "ci", "admin:read admin:write"), NULL),
		OUTCOME_CONFLICT);
	assert_int_equal(
		put_token(c, build_account(c, first, 1, "ci", "admin:read"), NULL), OUTCOME_DONE);
	// One with another policy is no account, and may have any name until it becomes one.
	assert_int_equal(
		put_token(c, build_account(c, new_one, 2, "ci", "compute:read p"), &second),
		OUTCOME_DONE);
	assert_int_equal(put_token(c, build_account(c, second, 2, "ci", "compute:read"), NULL),
		OUTCOME_CONFLICT);
	state_read_begin();
	assert_true(uuid_equal(&state_acl_account(c->state, TEXT("ci"))->accessor, &first));
	assert_null(state_acl_account(c->state, TEXT("c")));
	state_read_end();
	assert_int_equal(delete_token(c, first), OUTCOME_DONE);
	assert_int_equal(put_token(c, build_account(c, second, 2, "ci", "compute:read"), NULL),
		OUTCOME_DONE);
	state_read_begin();
	assert_true(uuid_equal(&state_acl_account(c->state, TEXT("ci"))->accessor, &second));
	state_read_end();
}

static void bad_tokens_are_refused(void **test)
{
	struct controller *c = *test;
	struct acl_token *token = build_token(c, new_one, 0, "p");

	token->type = ACL_MANAGEMENT;
	assert_int_equal(put_token(c, token, NULL), OUTCOME_BAD_DESCRIPTION);
	token = build_token(c, new_one, 0, "");
	token->type = ACL_CLIENT;
	assert_int_equal(put_token(c, token, NULL), OUTCOME_BAD_DESCRIPTION);
	token = build_token(c, new_one, 0, "");
	token->name = long_text(ACL_TOKEN_NAME_MAX + 1);
	assert_int_equal(put_token(c, token, NULL), OUTCOME_BAD_DESCRIPTION);
	token = build_token(c, new_one, 0, "");
	token->expiration_time_ns = token->create_time_ns;
	assert_int_equal(put_token(c, token, NULL), OUTCOME_BAD_DESCRIPTION);
	token = build_token(c, new_one, 0, "");
	token->secret = (struct acl_secret_hash){{0}};
	assert_int_equal(put_token(c, token, NULL), OUTCOME_BAD_DESCRIPTION);
	token = build_token(c, new_one, 0, "p");
	*(struct uuid *)array_append(&token->roles, sizeof(struct uuid)) = number_uuid(4);
	assert_int_equal(put_token(c, token, NULL), OUTCOME_UNKNOWN_ROLE);
}

static void the_first_token_is_made_once(void **test)
{
	struct controller *c = *test;
	struct uuid first, second;
	uint64_t done;

	state_read_begin();
	assert_false(state_acl_is_bootstrapped(c->state));
	state_read_end();
	assert_int_equal(
		put_first_token(c, build_token(c, new_one, 0, ""), 0, &first, NULL), OUTCOME_DONE);
	struct acl_token *token = published_token(c, first);
	uint64_t index = token->record.create_index;
	record_free(&acl_token_description, token);
	assert_int_equal(put_first_token(c, build_token(c, new_one, 1, ""), 0, NULL, &done),
		OUTCOME_NOT_NOW);
	assert_int_equal(done, index);
	assert_int_equal(put_first_token(c, build_token(c, new_one, 1, ""), index + 1, NULL, NULL),
		OUTCOME_NOT_NOW);
	assert_int_equal(put_first_token(c, build_token(c, new_one, 0, ""), index, NULL, NULL),
		OUTCOME_CONFLICT);
	assert_int_equal(put_first_token(c, build_token(c, new_one, 1, ""), index, &second, NULL),
		OUTCOME_DONE);
	assert_int_equal(put_first_token(c, build_token(c, new_one, 2, ""), index, NULL, NULL),
		OUTCOME_NOT_NOW);
	state_read_begin();
	assert_true(uuid_equal(&state_acl_bootstrap(c->state)->accessor, &second));
	assert_true(state_acl_is_bootstrapped(c->state));
	state_read_end();
	// Without any token there was still a first one.
	assert_int_equal(delete_token(c, first), OUTCOME_DONE);
	assert_int_equal(delete_token(c, second), OUTCOME_DONE);
	assert_int_equal(
		put_first_token(c, build_token(c, new_one, 2, ""), 0, NULL, NULL), OUTCOME_NOT_NOW);
}

static void expired_tokens_are_collected(void **test)
{
	struct controller *c = *test;
	struct acl_token *token = build_token(c, new_one, 0, "p");
	int64_t ends_ns = token->create_time_ns + 1000000000;

	token->expiration_time_ns = ends_ns;
	assert_int_equal(put_token(c, token, NULL), OUTCOME_DONE);
	assert_int_equal(put_token(c, build_token(c, new_one, 1, "p"), NULL), OUTCOME_DONE);
	assert_int_equal(collect_tokens(c, ends_ns - 1), 0);
	assert_false(is_accessor(c, 0, none));
	assert_int_equal(collect_tokens(c, ends_ns), 1);
	assert_true(is_accessor(c, 0, none));
	assert_false(is_accessor(c, 1, none));
	assert_int_equal(collect_tokens(c, INT64_MAX), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(policies_are_described_anew),
		TEST(bad_policies_are_refused),
		TEST(there_is_an_end_of_room),
		TEST(a_policy_goes_though_it_is_named),
		TEST(roles_have_names_of_their_own),
		TEST(bad_roles_are_refused),
		TEST(an_update_keeps_what_a_token_is),
		TEST(a_deleted_token_opens_nothing),
		TEST(an_account_has_its_name_alone),
		TEST(bad_tokens_are_refused),
		TEST(the_first_token_is_made_once),
		TEST(expired_tokens_are_collected),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
