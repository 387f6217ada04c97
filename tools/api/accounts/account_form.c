#include "tools/api/accounts/account_form.h"
#include "state/base/limits.h"
#include "state/base/schema_table.h"
#include "tools/api/access/account_roles.h"
#include "tools/json/json_reader.h"
#include <stdlib.h>

static const struct field account_form_fields[] = {
	{"name", FIELD_STRING, OF(account_form, name)},
	{"token", FIELD_STRING, OF(account_form, token)},
	{"roles", FIELD_STRINGS, OF(account_form, roles)},
};
static DESCRIBE(account_form_description, account_form);

static bool refuse_form(struct reply *reply, const char *what)
{
	return reply_error(reply, MHD_HTTP_PRECONDITION_FAILED, "service account %s", what);
}

// A name with a colon could not be shown by HTTP's basic scheme.
static bool check_name(const char *name, struct reply *reply)
{
	struct text text = text_of(name);
	if (text.size == 0)
		return refuse_form(reply, "name is empty");
	if (text.size > ACL_TOKEN_NAME_MAX)
		return refuse_form(reply, "name is too long");
	return text_is_word(text, "-_.") ||
	       refuse_form(reply,
		       "name contains restricted characters, please only use [A-Za-z0-9-_.]");
}

static bool check_roles(const struct array *roles, struct reply *reply)
{
	for (uint32_t i = 0; i < roles->count; i++) {
		const char *role = *ARRAY_AT(roles, char *, i);
		if (!role || !account_role(role))
			return reply_error(reply, MHD_HTTP_PRECONDITION_FAILED,
				"unsupported role \"%.64s\": the roles are " ACCOUNT_ROLES_TEXT,
				role ? role : "");
	}
	if (roles->count > ACL_LINKS_MAX)
		return refuse_form(reply, "has too many roles");
	return roles->count > 0 ||
	       refuse_form(reply, "has no role: the roles are " ACCOUNT_ROLES_TEXT);
}

// Secrets are stored as hashes that are quick to try, so nobody may choose one that can be guessed.
static bool check_token(const char *token, struct reply *reply)
{
	struct uuid secret;
	return text_of(token).size == 0 || uuid_parse(token, &secret) ||
	       refuse_form(reply,
		       "token is no UUID, as uuidgen makes them; leave it out and one is made");
}

bool account_form_read(struct account_form *form, json_t *body, struct reply *reply)
{
	struct json_report report = {0};
	*form = (struct account_form){0};
	json_read_record(&account_form_description, form, body, "ServiceAccount", &report);
	bool is_read = report.errors.count == 0;
	if (!is_read)
		reply_mistake(reply, "%s", report.errors.texts[0]);
	json_report_free(&report);
	return is_read && check_name(form->name, reply) && check_roles(&form->roles, reply) &&
	       check_token(form->token, reply);
}

void account_form_release(struct account_form *form)
{
	record_release(&account_form_description, form);
}
