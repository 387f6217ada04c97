#include "tools/api/nomad/acl/acl_token_form.h"
#include "state/base/limits.h"
#include "state/base/schema_table.h"
#include "state/base/time_units.h"
#include "state/records/acl_role.h"
#include "tools/json/duration.h"
#include "tools/json/timestamp.h"
#include <stdlib.h>

// How long a token with an end may hold, unless the settings say otherwise.
#define TTL_MIN_NS NS_PER_S
#define TTL_MAX_NS (24 * NS_PER_HOUR)

struct ttl_bounds {
	int64_t min_ns, max_ns;
};

#define BAD_ID \
	"token lookup failed: acl token lookup failed: index error: UUID must be 36 characters"

struct role_link {
	char *id, *name;
};

struct acl_token_form {
	char *accessor, *name, *type;
	struct array policies; // char *
	struct array roles;    // struct role_link
	bool global;
	// Not of the body's description.
	int64_t ttl_ns, expires_ns; // 0: not said
};

static const struct field role_link_fields[] = {
	{"ID", FIELD_STRING, OF(role_link, id)},
	{"Name", FIELD_STRING, OF(role_link, name)},
};
static DESCRIBE(role_link_description, role_link);

static const struct field acl_token_form_fields[] = {
	{"AccessorID", FIELD_STRING, OF(acl_token_form, accessor)},
	{"Name", FIELD_STRING, OF(acl_token_form, name)},
	{"Type", FIELD_STRING, OF(acl_token_form, type)},
	{"Policies", FIELD_STRINGS, OF(acl_token_form, policies)},
	{"Roles", FIELD_ARRAY, OF(acl_token_form, roles), &role_link_description},
	{"Global", FIELD_BOOL, OF(acl_token_form, global)},
};
static DESCRIBE(form_description, acl_token_form);

// A duration as text or as nanoseconds; "" is none.
static bool read_ttl(json_t *value, int64_t *ttl_ns, struct reply *reply)
{
	const char *text = json_string_value(value);
	*ttl_ns = json_integer_value(value);
	if (json_is_absent(value) || json_is_integer(value) || (text && !*text))
		return true;
	return (text && duration_parse(text, ttl_ns)) ||
	       reply_mistake(reply, "time: invalid duration \"%.64s\"", text ? text : "");
}

static bool read_expiration(json_t *value, int64_t *expires_ns, struct reply *reply)
{
	const char *text = json_string_value(value);
	if (json_is_absent(value))
		return true;
	return (text && timestamp_parse(text, expires_ns)) ||
	       reply_mistake(reply, "ExpirationTime: \"%.64s\" is no time", text ? text : "");
}

static bool read_form(struct acl_token_form *form, json_t *body, struct reply *reply)
{
	struct json_report report = {0};
	json_read_record(&form_description, form, body, "Token", &report);
	bool is_read = report.errors.count == 0;
	if (!is_read) {
		char *text = json_sentences_text(&report.errors, "error");
		reply_mistake(reply, "token 0 invalid: %s", text);
		free(text);
	}
	json_report_free(&report);
	return is_read && read_ttl(json_object_get(body, "ExpirationTTL"), &form->ttl_ns, reply) &&
	       read_expiration(json_object_get(body, "ExpirationTime"), &form->expires_ns, reply);
}

static int64_t saturated(int64_t a, int64_t b, bool plus)
{
	int64_t sum;
	bool is_over =
		plus ? __builtin_add_overflow(a, b, &sum) : __builtin_sub_overflow(a, b, &sum);
	return is_over ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static int type_of(const char *name)
{
	for (int type = 0; name && acl_token_type_names[type]; type++)
		if (strcmp(acl_token_type_names[type], name) == 0)
			return type;
	return -1;
}

static void check_name_and_type(const struct acl_token_form *form, struct json_sentences *errors)
{
	uint32_t links = form->policies.count + form->roles.count;
	int type = type_of(form->type);
	if (text_of(form->name).size > ACL_TOKEN_NAME_MAX)
		json_sentence(errors, "token name too long");
	if (type < 0)
		json_sentence(errors, "token type must be client or management");
	else if (!acl_token_type_fits(type, links))
		json_sentence(errors, "%s",
			type == ACL_CLIENT ? "client token missing policies or roles"
					   : "management token cannot be associated with policies "
					     "or roles");
	if (form->policies.count > ACL_LINKS_MAX || form->roles.count > ACL_LINKS_MAX)
		json_sentence(errors, "more than %u policies or roles", ACL_LINKS_MAX);
	for (uint32_t i = 0; i < form->policies.count; i++) {
		struct text name = text_of(*ARRAY_AT(&form->policies, char *, i));
		if (name.size == 0 || name.size > NAME_BYTES_MAX)
			json_sentence(
				errors, "invalid policy name '%.64s'", name.size ? name.data : "");
	}
}

static struct ttl_bounds ttl_bounds_of(const struct api_settings *settings)
{
	return (struct ttl_bounds){
		settings->token_ttl_min_ns ? settings->token_ttl_min_ns : (int64_t)TTL_MIN_NS,
		settings->token_ttl_max_ns ? settings->token_ttl_max_ns : (int64_t)TTL_MAX_NS};
}

static void check_end(const struct acl_token_form *form, struct ttl_bounds bounds, int64_t now_ns,
	struct json_sentences *errors)
{
	char least[DURATION_TEXT_BYTES], most[DURATION_TEXT_BYTES], asked[DURATION_TEXT_BYTES];
	if (form->ttl_ns < 0)
		json_sentence(errors, "token expiration TTL '%s' should not be negative",
			duration_format(form->ttl_ns, asked));
	if (!form->expires_ns)
		return;
	int64_t in_ns = saturated(form->expires_ns, now_ns, false);
	duration_format(in_ns, asked);
	if (in_ns < 0)
		json_sentence(errors, "expiration time cannot be before create time");
	if (in_ns > bounds.max_ns)
		json_sentence(errors,
			"expiration time cannot be more than %s in the future (was %s)",
			duration_format(bounds.max_ns, most), asked);
	if (in_ns < bounds.min_ns)
		json_sentence(errors,
			"expiration time cannot be less than %s in the future (was %s)",
			duration_format(bounds.min_ns, least), asked);
}

static void check_update(const struct acl_token_form *form, const struct acl_token *known,
	struct json_sentences *errors)
{
	if (form->global != known->global)
		json_sentence(errors, "cannot toggle global mode");
	if (form->ttl_ns != known->expiration_ttl_ns)
		json_sentence(errors, "cannot update expiration TTL");
	else if (form->expires_ns && form->expires_ns != known->expiration_time_ns)
		json_sentence(errors, "cannot update expiration time");
}

static const struct acl_role *role_of(const struct state *state, const struct role_link *link)
{
	struct uuid id;
	if (!text_of(link->id).size)
		return state_acl_role_by_name(state, text_of(link->name));
	return uuid_parse(link->id, &id) ? state_acl_role(state, &id) : NULL;
}

static void add_role(struct acl_token *token, const struct uuid *id)
{
	for (uint32_t i = 0; i < token->roles.count; i++)
		if (uuid_equal(ARRAY_AT(&token->roles, struct uuid, i), id))
			return;
	*(struct uuid *)array_append(&token->roles, sizeof *id) = *id;
}

// Under read lock. False with a reply when one is not there.
static bool take_roles(const struct state *state, const struct acl_token_form *form,
	struct acl_token *token, struct reply *reply)
{
	for (uint32_t i = 0; i < form->roles.count; i++) {
		const struct role_link *link = ARRAY_AT(&form->roles, struct role_link, i);
		const struct acl_role *role = role_of(state, link);
		if (!role)
			return reply_mistake(reply, "cannot find role %.128s",
				text_of(link->id).size ? link->id
				: link->name           ? link->name
						       : "");
		add_role(token, &role->id);
	}
	return true;
}

static struct acl_token *make_token(struct acl_token_form *form, int64_t now_ns)
{
	struct acl_token *token = record_create(&acl_token_description);
	token->name = form->name;
	token->policies = form->policies;
	form->name = NULL;
	form->policies = (struct array){0};
	token->type = type_of(form->type);
	token->global = form->global;
	token->create_time_ns = now_ns;
	token->expiration_time_ns = form->expires_ns;
	token->expiration_ttl_ns = form->ttl_ns;
	return token;
}

static bool reply_mistakes(struct json_sentences *errors, struct reply *reply)
{
	char *text = errors->count ? json_sentences_text(errors, "error") : NULL;
	if (text)
		reply_mistake(reply, "token 0 invalid: %s", text);
	free(text);
	struct json_report report = {.errors = *errors};
	json_report_free(&report);
	return text != NULL;
}

// The known token that the form is about, NULL for a new one. False with a reply. Under read lock.
static bool find_known(const struct request *request, const struct acl_token_form *form,
	const struct acl_token **known, struct reply *reply)
{
	const char *named = form->accessor ? form->accessor : "";
	struct uuid accessor;
	*known = NULL;
	if (request->ids[0] && strcmp(named, request->ids[0]) != 0)
		return reply_mistake(reply, "ACL token accessor does not match request path");
	if (!*named)
		return true;
	if (!uuid_parse(named, &accessor))
		return reply_mistake(reply, BAD_ID);
	*known = state_acl_token(request->api->settings.state, &accessor);
	return *known || reply_mistake(reply, "cannot find token %s", named);
}

// Under read lock.
static struct acl_token *check_form(
	const struct request *request, struct acl_token_form *form, struct reply *reply)
{
	const struct api_settings *settings = &request->api->settings;
	int64_t now_ns = (int64_t)time_wall_ns(settings->time);
	struct json_sentences errors = {0};
	const struct acl_token *known;
	if (!find_known(request, form, &known, reply))
		return NULL;
	if (!known && !form->expires_ns && form->ttl_ns)
		form->expires_ns = saturated(now_ns, form->ttl_ns, true);
	check_name_and_type(form, &errors);
	if (known)
		check_update(form, known, &errors);
	else
		check_end(form, ttl_bounds_of(settings), now_ns, &errors);
	if (reply_mistakes(&errors, reply))
		return NULL;
	struct acl_token *token = make_token(form, now_ns);
	if (known)
		token->accessor = known->accessor;
	if (take_roles(settings->state, form, token, reply))
		return token;
	record_free(&acl_token_description, token);
	return NULL;
}

struct acl_token *acl_token_read_form(
	const struct request *request, json_t *body, struct reply *reply)
{
	struct acl_token_form form = {0};
	struct acl_token *token = NULL;
	if (read_form(&form, body, reply)) {
		state_read_begin();
		token = check_form(request, &form, reply);
		state_read_end();
	}
	record_release(&form_description, &form);
	return token;
}
