#include "tools/forms/acl/acl_json.h"
#include "state/base/check.h"
#include "tools/acl/acl_rules.h"
#include "tools/json/duration.h"
#include <sodium.h>
#include <stdlib.h>

#define HASH_BYTES 32
#define HASH_TEXT_BYTES sodium_base64_ENCODED_LEN(HASH_BYTES, sodium_base64_VARIANT_ORIGINAL)

static void hash_begin(crypto_generichash_state *hash)
{
	CHECK(crypto_generichash_init(hash, NULL, 0, HASH_BYTES) == 0);
}

static void hash_add(crypto_generichash_state *hash, const char *string)
{
	struct text text = text_of(string);
	CHECK(crypto_generichash_update(hash, (const unsigned char *)text.data, text.size) == 0);
}

static void put_hash(struct json_writer *w, crypto_generichash_state *hash)
{
	uint8_t sum[HASH_BYTES];
	char text[HASH_TEXT_BYTES];
	CHECK(crypto_generichash_final(hash, sum, sizeof sum) == 0);
	json_put_string(w, "Hash",
		sodium_bin2base64(
			text, sizeof text, sum, sizeof sum, sodium_base64_VARIANT_ORIGINAL));
}

static void put_policy_hash(struct json_writer *w, const struct acl_policy *policy)
{
	crypto_generichash_state hash;
	hash_begin(&hash);
	hash_add(&hash, policy->name);
	hash_add(&hash, policy->description);
	hash_add(&hash, policy->rules);
	if (policy->job) {
		hash_add(&hash, policy->job->namespace_name);
		hash_add(&hash, policy->job->job);
		hash_add(&hash, policy->job->group);
		hash_add(&hash, policy->job->task);
	}
	put_hash(w, &hash);
}

static void put_job(struct json_writer *w, const struct acl_job *job)
{
	if (!json_open_object_if(w, "JobACL", job != NULL))
		return;
	json_put_string(w, "Group", job->group);
	json_put_string(w, "JobID", job->job);
	json_put_string(w, "Namespace", job->namespace_name);
	json_put_string(w, "Task", job->task);
	json_end_object(w);
}

static void put_rules(struct json_writer *w, const char *text)
{
	char *mistake = NULL;
	const char *shown = text ? text : "";
	struct acl_rules *rules = acl_rules_read(shown, text_of(shown).size, &mistake);
	json_write_key(w, "RulesJSON");
	if (rules)
		acl_rules_write(w, rules, shown);
	else
		json_write_null(w);
	acl_rules_free(rules);
	free(mistake);
}

static void put_indexes(struct json_writer *w, const struct record *record)
{
	json_put_u64(w, "CreateIndex", record->create_index);
	json_put_u64(w, "ModifyIndex", record->modify_index);
}

void acl_policy_json(struct json_writer *w, const struct acl_policy *policy)
{
	json_begin_object(w);
	put_indexes(w, &policy->record);
	json_put_string(w, "Description", policy->description);
	put_policy_hash(w, policy);
	put_job(w, policy->job);
	json_put_string(w, "Name", policy->name);
	json_put_string(w, "Rules", policy->rules);
	put_rules(w, policy->rules);
	json_end_object(w);
}

void acl_policy_stub_json(struct json_writer *w, const struct acl_policy *policy)
{
	json_begin_object(w);
	put_indexes(w, &policy->record);
	json_put_string(w, "Description", policy->description);
	put_policy_hash(w, policy);
	json_put_string(w, "Name", policy->name);
	json_end_object(w);
}

static const char *policy_at(const struct acl_role *role, uint32_t i)
{
	return ARRAY_AT(&role->policies, struct acl_policy_link, i)->name;
}

void acl_role_json(struct json_writer *w, const struct acl_role *role)
{
	crypto_generichash_state hash;
	hash_begin(&hash);
	hash_add(&hash, role->name);
	hash_add(&hash, role->description);
	json_begin_object(w);
	put_indexes(w, &role->record);
	json_put_string(w, "Description", role->description);
	json_put_uuid(w, "ID", &role->id);
	json_put_string(w, "Name", role->name);
	json_open_array(w, "Policies");
	for (uint32_t i = 0; i < role->policies.count; i++) {
		hash_add(&hash, policy_at(role, i));
		json_begin_object(w);
		json_put_string(w, "Name", policy_at(role, i));
		json_end_object(w);
	}
	json_end_array(w);
	put_hash(w, &hash);
	json_end_object(w);
}

static void put_token_hash(struct json_writer *w, const struct acl_token *token)
{
	crypto_generichash_state hash;
	char id[UUID_TEXT_BYTES];
	hash_begin(&hash);
	hash_add(&hash, token->name);
	hash_add(&hash, acl_token_type_names[token->type]);
	for (uint32_t i = 0; i < token->policies.count; i++)
		hash_add(&hash, *ARRAY_AT(&token->policies, char *, i));
	hash_add(&hash, token->global ? "global" : "local");
	for (uint32_t i = 0; i < token->roles.count; i++)
		hash_add(&hash, uuid_format(ARRAY_AT(&token->roles, struct uuid, i), id));
	put_hash(w, &hash);
}

// Clients that have roles alone have a list without policies, others have none.
static void put_policies(struct json_writer *w, const struct acl_token *token)
{
	bool is_list = token->policies.count + token->roles.count > 0;
	if (!json_open_array_if(w, "Policies", is_list))
		return;
	for (uint32_t i = 0; i < token->policies.count; i++)
		json_write_string(w, *ARRAY_AT(&token->policies, char *, i));
	json_end_array(w);
}

static void put_roles(
	struct json_writer *w, const struct state *state, const struct acl_token *token)
{
	if (!json_open_array_if(w, "Roles", token->roles.count > 0))
		return;
	for (uint32_t i = 0; i < token->roles.count; i++) {
		const struct acl_role *role =
			state_acl_role(state, ARRAY_AT(&token->roles, struct uuid, i));
		if (!role)
			continue;
		json_begin_object(w);
		json_put_uuid(w, "ID", &role->id);
		json_put_string(w, "Name", role->name);
		json_end_object(w);
	}
	json_end_array(w);
}

// What is said of a token in lists, too.
static void put_token(
	struct json_writer *w, const struct state *state, const struct acl_token *token)
{
	json_put_string(w, "Name", token->name);
	json_put_string(w, "Type", acl_token_type_names[token->type]);
	put_policies(w, token);
	put_roles(w, state, token);
	json_put_bool(w, "Global", token->global);
	put_token_hash(w, token);
	json_put_time(w, "CreateTime", token->create_time_ns);
	json_put_time(w, "ExpirationTime", token->expiration_time_ns);
	put_indexes(w, &token->record);
}

void acl_token_json(struct json_writer *w, const struct state *state, const struct acl_token *token,
	const char *secret)
{
	char text[DURATION_TEXT_BYTES];
	int64_t ttl_ns = token->expiration_ttl_ns;
	json_begin_object(w);
	json_put_string(w, "ExpirationTTL", ttl_ns ? duration_format(ttl_ns, text) : "");
	json_put_uuid(w, "AccessorID", &token->accessor);
	json_put_string(w, "SecretID", secret);
	put_token(w, state, token);
	json_end_object(w);
}

void acl_token_stub_json(
	struct json_writer *w, const struct state *state, const struct acl_token *token)
{
	json_begin_object(w);
	json_put_uuid(w, "AccessorID", &token->accessor);
	put_token(w, state, token);
	json_end_object(w);
}
