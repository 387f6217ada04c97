#include "tests/state/acls.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct acl_secret_hash number_secret(uint32_t number)
{
	struct acl_secret_hash secret = {{0}};
	memcpy(secret.bytes + 28, &(uint32_t){number + 1}, sizeof number);
	memcpy(secret.bytes, &(uint32_t){number * 7}, sizeof number);
	return secret;
}

struct acl_policy *build_policy(const char *name, const char *rules)
{
	struct acl_policy *policy = record_create(&acl_policy_description);

	policy->name = text_copy(text_of(name));
	policy->rules = text_copy(text_of(rules));
	return policy;
}

// Appends a copy of each word.
static void add_words(struct array *to, const char *words)
{
	while (*words) {
		uint32_t size = (uint32_t)strcspn(words, " ");
		*(char **)array_append(to, sizeof(char *)) = text_copy((struct text){words, size});
		words += size + (words[size] == ' ');
	}
}

struct acl_role *build_role(struct uuid id, const char *name, const char *policies)
{
	struct acl_role *role = record_create(&acl_role_description);

	role->id = id;
	role->name = text_copy(text_of(name));
	add_words(&role->policies, policies); // a link is its name
	return role;
}

struct acl_token *build_token(
	const struct controller *c, struct uuid accessor, uint32_t secret, const char *policies)
{
	struct acl_token *token = record_create(&acl_token_description);

	token->accessor = accessor;
	token->secret = number_secret(secret);
	token->type = *policies ? ACL_CLIENT : ACL_MANAGEMENT;
	token->create_time_ns = (int64_t)c->time.wall_ns;
	add_words(&token->policies, policies);
	return token;
}

enum command_outcome put_policy(struct controller *c, struct acl_policy *policy)
{
	struct command command = {.type = COMMAND_ACL_POLICY, .acl_policy = {policy}};
	enum command_outcome outcome = controller_run(c, &command);

	assert_int_equal(command.acl_policy.policy != NULL, outcome != OUTCOME_DONE);
	record_free(&acl_policy_description, command.acl_policy.policy);
	return outcome;
}

enum command_outcome put_role(struct controller *c, struct acl_role *role, struct uuid *id)
{
	struct command_acl_role ask = {.role = role};
	struct command command = {.type = COMMAND_ACL_ROLE, .acl_role = &ask};
	enum command_outcome outcome = controller_run(c, &command);

	assert_int_equal(ask.role != NULL, outcome != OUTCOME_DONE);
	assert_int_equal(ask.missing[0] != '\0', outcome == OUTCOME_UNKNOWN_POLICY);
	record_free(&acl_role_description, ask.role);
	if (id)
		*id = ask.id;
	return outcome;
}

static enum command_outcome run_token(
	struct controller *c, enum command_type type, struct command_acl_token *ask)
{
	struct command command = {.type = type, .acl_token = ask};
	enum command_outcome outcome = controller_run(c, &command);

	assert_int_equal(ask->token != NULL, outcome != OUTCOME_DONE);
	record_free(&acl_token_description, ask->token);
	return outcome;
}

enum command_outcome put_token(struct controller *c, struct acl_token *token, struct uuid *accessor)
{
	struct command_acl_token ask = {.token = token};
	enum command_outcome outcome = run_token(c, COMMAND_ACL_TOKEN, &ask);

	if (accessor)
		*accessor = ask.accessor;
	return outcome;
}

enum command_outcome put_first_token(struct controller *c, struct acl_token *token,
	uint64_t reset_index, struct uuid *accessor, uint64_t *done_index)
{
	struct command_acl_token ask = {.token = token, .reset_index = reset_index};
	enum command_outcome outcome = run_token(c, COMMAND_ACL_BOOTSTRAP, &ask);

	if (accessor)
		*accessor = ask.accessor;
	if (done_index)
		*done_index = ask.done_index;
	return outcome;
}

enum command_outcome delete_policy(struct controller *c, const char *name)
{
	struct command command = {
		.type = COMMAND_ACL_POLICY_DELETE, .acl_policy_delete = {text_of(name)}};
	return controller_run(c, &command);
}

enum command_outcome delete_role(struct controller *c, struct uuid id)
{
	struct command command = {.type = COMMAND_ACL_ROLE_DELETE, .acl_delete = {id}};
	return controller_run(c, &command);
}

enum command_outcome delete_token(struct controller *c, struct uuid accessor)
{
	struct command command = {.type = COMMAND_ACL_TOKEN_DELETE, .acl_delete = {accessor}};
	return controller_run(c, &command);
}

uint32_t collect_tokens(struct controller *c, int64_t before_ns)
{
	struct command command = {.type = COMMAND_GC, .gc = {.acl_tokens_before_ns = before_ns}};
	uint32_t done = 0;

	controller_push(c, &command, &done);
	for (uint32_t pieces = 0; done == 0; pieces++) {
		assert_true(pieces < 1000);
		applier_step(c->applier);
	}
	assert_int_equal(command.outcome, OUTCOME_DONE);
	return command.gc.collected;
}

static void *copy_of(const struct record_type *type, const void *record)
{
	return record ? record_duplicate(type, record) : NULL;
}

struct acl_policy *published_policy(const struct controller *c, const char *name)
{
	state_read_begin();
	void *copy = copy_of(&acl_policy_description, state_acl_policy(c->state, text_of(name)));
	state_read_end();
	return copy;
}

struct acl_role *published_role(const struct controller *c, struct uuid id)
{
	state_read_begin();
	void *copy = copy_of(&acl_role_description, state_acl_role(c->state, &id));
	state_read_end();
	return copy;
}

struct acl_token *published_token(const struct controller *c, struct uuid accessor)
{
	state_read_begin();
	void *copy = copy_of(&acl_token_description, state_acl_token(c->state, &accessor));
	state_read_end();
	return copy;
}

struct uuid accessor_of_secret(const struct controller *c, uint32_t secret)
{
	struct acl_secret_hash hash = number_secret(secret);

	state_read_begin();
	const struct acl_token *token = state_acl_token_by_secret(c->state, &hash);
	struct uuid accessor = token ? token->accessor : (struct uuid){0};
	state_read_end();
	return accessor;
}
