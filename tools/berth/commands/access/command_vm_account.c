// berth vm account: accounts of Orchard's clients, and what these are told to begin with.
#include "state/base/base64.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/file.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/name_path.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/access/acl_commands.h"
#include "tools/berth/views/list.h"
#include "tools/berth/views/list_tables.h"
#include <stdio.h>
#include <stdlib.h>

static const char folder[] = "/v1/service-accounts";
#define ROLES_BYTES 256u

// Adds a point and the text in base64, as URLs have it: without padding.
static void add_part(FILE *out, struct text plain)
{
	char *text = base64_encode(plain);
	fputc('.', out);
	for (const char *c = text; *c && *c != '='; c++)
		fputc(*c == '+' ? '-' : *c == '/' ? '_' : *c, out);
	free(text);
}

// What `orchard context create --bootstrap-token` takes: with the certificate of --ca-cert, which the client will
// trust, if there is one. Caller frees; NULL after a complaint.
static char *bootstrap_token(struct session *session, const char *name, const char *token)
{
	const char *ca_file = session->flags.values[FLAG_CA_CERT];
	char *certificate = NULL, *result;
	size_t size = 0, result_size;
	if (ca_file && *ca_file && file_read(ca_file, &certificate, &size) != STATUS_OK)
		return NULL;
	FILE *out = open_memstream(&result, &result_size);
	fputs("orchard-bootstrap-token-v0", out);
	add_part(out, text_of(name));
	add_part(out, text_of(token));
	if (size > 0)
		add_part(out, (struct text){certificate, (uint32_t)size});
	fclose(out);
	free(certificate);
	return result;
}

static void put_account(json_t *account)
{
	char roles[ROLES_BYTES];
	struct table t;
	table_begin_pairs(&t);
	table_pair(&t, "Name", "= %s", field_text(account, "name"));
	table_pair(&t, "Roles", "= %s",
		names_joined(json_object_get(account, "roles"), roles, sizeof roles));
	table_pair(&t, "Created", "= %s", field_text(account, "createdAt"));
	table_pair(&t, "Accessor", "= %s", field_text(account, "accessor"));
	if (json_object_get(account, "token"))
		table_pair(&t, "Token", "= %s", field_text(account, "token"));
	table_print(&t, 0);
	if (json_object_get(account, "bootstrapToken"))
		printf("\n%s\n", field_text(account, "bootstrapToken"));
}

static enum exit_status put_new(struct session *session, json_t *account)
{
	char *token =
		bootstrap_token(session, field_text(account, "name"), field_text(account, "token"));
	if (token)
		json_object_set_new(account, "bootstrapToken", json_string(token));
	if (flag_given(&session->flags, FLAG_JSON))
		field_print(account);
	else
		put_account(account);
	enum exit_status result = token ? STATUS_OK : STATUS_FAILURE;
	free(token);
	return result;
}

enum exit_status account_create(struct session *session, const char **arguments, int count)
{
	json_t *roles = acl_names(&session->flags, FLAG_ROLE), *account = NULL;
	json_t *body = json_pack("{s:s,s:o*}", "name", arguments[0], "roles", roles);
	if (!body)
		return complain(STATUS_USAGE, "name and roles are to be UTF-8 text");
	enum exit_status result = http_put_json(session, folder, body, &account);
	if (result == STATUS_OK)
		result = put_new(session, account);
	json_decref(account);
	json_decref(body);
	return result;
}

enum exit_status account_list(struct session *session, const char **arguments, int count)
{
	return list_print(session, &list_accounts, folder);
}

enum exit_status account_info(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	return http_show(session, name_path(folder, arguments[0], "", path), put_account);
}

// Asks nobody: who has the token may make it.
enum exit_status account_bootstrap_token(struct session *session, const char **arguments, int count)
{
	char *secret = acl_secret_read(arguments[1]);
	char *token = secret ? bootstrap_token(session, arguments[0], secret) : NULL;
	if (token)
		puts(token);
	enum exit_status result = token ? STATUS_OK : STATUS_FAILURE;
	free(secret);
	free(token);
	return result;
}

enum exit_status account_delete(struct session *session, const char **arguments, int count)
{
	return acl_delete(session, folder, "Account", arguments[0]);
}
