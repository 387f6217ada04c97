#include "tools/api/server/access.h"
#include "state/base/time_units.h"
#include "state/records/acl_token.h"
#include "state/records/allocation.h"
#include "state/records/deployment.h"
#include "state/records/evaluation.h"
#include "tools/api/access/basic_scheme.h"
#include "tools/api/access/token_keeper.h"
#include "tools/api/server/clients/connections.h"
#include "tools/api/server/elsewhere/greeting.h"
#include "tools/api/server/one_record.h"
#include <stdio.h>
#include <string.h>

#define DENIED "Permission denied"
// A stream ends within a second after its token did.
#define LOOK_NS (NS_PER_S / 2)

// What a bad token is told, which depends on who would look at it.
struct manner {
	const char *pattern; // of routes that begin so
	unsigned unknown_status;
	const char *unknown, *malformed, *expired;
};

#define NOT_FOUND "ACL token not found"
#define BAD_LENGTH "acl token lookup failed: index error: UUID must be 36 characters"
#define EXPIRED "ACL token expired"
#define RESOLVING "failed to resolve ACL token: "
#define SEGMENTS                                                                                   \
	"rpc error: failed to verify token: token is malformed: token contains an invalid number " \
	"of segments"

static const struct manner manners[] = {
	{"/v1/jobs/parse", 403, NOT_FOUND, RESOLVING BAD_LENGTH, RESOLVING EXPIRED},
	{"/v1/agent/self", 403, NOT_FOUND, RESOLVING BAD_LENGTH, RESOLVING EXPIRED},
	{"/v1/agent/host", 403, NOT_FOUND, RESOLVING BAD_LENGTH, RESOLVING EXPIRED},
	{"/v1/agent/force-leave", 403, NOT_FOUND, BAD_LENGTH, EXPIRED},
	{"/v1/agent/schedulers", 500, NOT_FOUND, BAD_LENGTH, EXPIRED},
	{"/v1/agent/servers", 403, DENIED, SEGMENTS, "rpc error: " EXPIRED},
	{"/v1/client/", 403, DENIED, SEGMENTS, "rpc error: " EXPIRED},
};

static bool pattern_begins(const struct request *request, const char *with)
{
	return strncmp(request->route->pattern, with, strlen(with)) == 0;
}

static struct refusal refuse_token(const struct request *request, enum token_verdict verdict)
{
	for (size_t i = 0; i < sizeof manners / sizeof manners[0]; i++) {
		const struct manner *manner = &manners[i];
		if (!pattern_begins(request, manner->pattern))
			continue;
		if (verdict == TOKEN_UNKNOWN)
			return (struct refusal){manner->unknown_status, manner->unknown};
		return (struct refusal){MHD_HTTP_INTERNAL_SERVER_ERROR,
			verdict == TOKEN_EXPIRED ? manner->expired : manner->malformed};
	}
	return (struct refusal){MHD_HTTP_FORBIDDEN, DENIED};
}

// An allocation that may not be seen is as good as none.
static struct refusal refuse_right(struct request *request)
{
	if (strcmp(request->route->pattern, "/v1/allocation/:id") == 0) {
		snprintf(request->complaint, sizeof request->complaint,
			"Unknown allocation \"%.64s\"", request->ids[0]);
		return (struct refusal){MHD_HTTP_INTERNAL_SERVER_ERROR, request->complaint};
	}
	if (pattern_begins(request, "/v1/client/fs/logs/"))
		return (struct refusal){MHD_HTTP_INTERNAL_SERVER_ERROR, DENIED};
	return (struct refusal){MHD_HTTP_FORBIDDEN, DENIED};
}

// The namespace of the record that the path names. Of what is not there: that of the request; NULL of an allocation
// that is to stop, or whose files are asked for, which is not refused: as a real server does, its route says that it is
// not there. Under read lock.
static const char *namespace_of_record(const struct request *request, enum right right)
{
	enum right_scope scope = right_scope_of(right);
	if (scope == SCOPE_ALLOCATION) {
		const struct allocation *a = record_of_path(request, STATE_ALLOCATIONS);
		if (!a && (right == RIGHT_ALLOCATION_STOP || right == RIGHT_ALLOCATION_FILES ||
				  right == RIGHT_ALLOCATION_LOGS))
			return NULL;
		return a ? a->job->namespace_name : request_namespace(request);
	}
	if (scope == SCOPE_EVALUATION) {
		const struct evaluation *e = record_of_path(request, STATE_EVALUATIONS);
		return e ? e->namespace_name : request_namespace(request);
	}
	const struct deployment *d = record_of_path(request, STATE_DEPLOYMENTS);
	return d ? d->namespace_name : request_namespace(request);
}

// What runs beside a task that nothing shuts in runs on the node itself. Of a name that no task has, whichever of them
// the node takes it for counts. Under read lock.
static bool asks_for_the_node(const struct request *request)
{
	const struct allocation *a = record_of_path(request, STATE_ALLOCATIONS);
	const char *name = request_parameter(request, "task");
	bool has_open_tasks = false;
	for (uint32_t i = 0; a && i < allocation_group(a)->tasks.count; i++) {
		const struct task *task = ARRAY_AT(&allocation_group(a)->tasks, struct task, i);
		bool is_open = strcmp(task->driver, "raw_exec") == 0;
		if (name && strcmp(task->name, name) == 0)
			return is_open;
		has_open_tasks = has_open_tasks || is_open;
	}
	return has_open_tasks;
}

// The right that the route asks for, as far as the record decides. Under read lock.
static enum right right_of_record(const struct request *request)
{
	enum right right = request->route->right;
	bool is_more = right == RIGHT_ALLOCATION_EXEC && asks_for_the_node(request);
	return is_more ? RIGHT_ALLOCATION_NODE_EXEC : right;
}

static bool may_by_record(const struct request *request, const struct acl *acl)
{
	state_read_begin();
	enum right right = right_of_record(request);
	const char *namespace_name = namespace_of_record(request, right);
	bool may = !namespace_name || right_allows(right, acl, namespace_name);
	state_read_end();
	return may;
}

static bool may_by_right(const struct request *request, const struct acl *acl)
{
	enum right right = request->route->right;
	const struct access *access = request->access;
	if (right == RIGHT_TOKEN && (access->is_of_task || uuid_is_zero(&access->accessor)))
		return false;
	const char *namespace_name = request_namespace(request);
	const char *asked = request_parameter(request, "namespace");
	switch (right_scope_of(right)) {
	case SCOPE_NONE: return right_allows(right, acl, NULL);
	case SCOPE_POOL: return right_allows(right, acl, request->ids[0]);
	case SCOPE_NAMESPACE: return right_allows(right, acl, namespace_name);
	case SCOPE_LIST:
		return right_allows(
			right, acl, strcmp(namespace_name, "*") == 0 ? NULL : namespace_name);
	case SCOPE_BODY: return right_allows(right, acl, asked && *asked ? asked : NULL);
	case SCOPE_VARIABLE:
		return right_allows_variable(right, acl, namespace_name, request->ids[0]);
	case SCOPE_ALLOCATION:
	case SCOPE_EVALUATION:
	case SCOPE_DEPLOYMENT: break;
	}
	return may_by_record(request, acl);
}

// The secret must be that of the account of the name.
static enum token_verdict find_account(
	struct request *request, const struct basic_credentials *credentials, int64_t now_ns)
{
	struct api *api = request->api;
	enum token_verdict verdict =
		token_keeper_find(api->tokens, credentials->secret, now_ns, &request->access);
	if (verdict != TOKEN_GOOD)
		return verdict;
	state_read_begin();
	const struct acl_token *token =
		state_acl_token(api->settings.state, &request->access->accessor);
	bool is_its =
		token && acl_token_is_account(token) && strcmp(token->name, credentials->name) == 0;
	state_read_end();
	if (is_its)
		return TOKEN_GOOD;
	access_release(request->access);
	request->access = NULL;
	return TOKEN_UNKNOWN;
}

// Clients of Orchard show the name of an account, too, and on Orchard's routes alone.
static enum token_verdict find_token(struct request *request, const char *secret)
{
	struct api *api = request->api;
	struct basic_credentials credentials;
	int64_t now_ns = (int64_t)time_wall_ns(api->settings.time);
	if (secret || !api->routes->is_of_orchard(request->route) ||
		!basic_credentials_read(request_authorization(request), &credentials))
		return token_keeper_find(api->tokens, secret, now_ns, &request->access);
	enum token_verdict verdict = find_account(request, &credentials, now_ns);
	basic_credentials_erase(&credentials);
	return verdict;
}

// "ALLOCATION/TASK".
static struct access *find_task_access(const struct request *request, const struct uuid *node)
{
	char id[UUID_TEXT_BYTES];
	struct uuid allocation;
	const char *task =
		MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, NODE_TASK_HEADER);
	const char *slash = task ? strchr(task, '/') : NULL;
	if (!slash || slash - task != UUID_TEXT_BYTES - 1)
		return NULL;
	snprintf(id, sizeof id, "%s", task);
	if (!uuid_parse(id, &allocation))
		return NULL;
	return token_keeper_of_task(request->api->tokens, node, &allocation, slash + 1);
}

// A node asks for a task that runs on it, and for its variables alone, whether access control is on or not.
static struct refusal check_node(struct request *request, const struct uuid *node)
{
	bool is_read = strcmp(request->route->method, "GET") == 0 &&
		       (pattern_begins(request, "/v1/var/") || pattern_begins(request, "/v1/vars"));
	request->access_looked_ns = time_monotonic_ns(request->api->settings.time);
	request->access = is_read ? find_task_access(request, node) : NULL;
	if (request->access && may_by_right(request, request->access->acl))
		return (struct refusal){0};
	return (struct refusal){MHD_HTTP_FORBIDDEN, DENIED};
}

static struct refusal check_token(struct request *request, const char *secret)
{
	request->access_looked_ns = time_monotonic_ns(request->api->settings.time);
	enum token_verdict verdict = find_token(request, secret);
	if (request->access)
		request->accessor = request->access->accessor;
	if (verdict == TOKEN_NOT_ASKED) {
		request->is_greeted = false;
		return (struct refusal){0};
	}
	if (verdict == TOKEN_EXPIRED) {
		access_release(request->access);
		request->access = NULL;
	}
	if (verdict != TOKEN_GOOD)
		return refuse_token(request, verdict);
	if ((request->is_greeted && request->lacks_token) ||
		may_by_right(request, request->access->acl))
		return (struct refusal){0};
	return refuse_right(request);
}

struct refusal access_check(struct request *request)
{
	const struct uuid *node = connection_node(request->socket);
	access_release(request->access);
	request->access = NULL;
	if (node)
		return check_node(request, node);
	if (request->route->right == RIGHT_OPEN)
		return (struct refusal){0};
	const char *secret = request_secret(request);
	request->is_greeted = greeting_is_announced(request);
	request->lacks_token = !secret;
	return check_token(request, secret);
}

struct refusal access_check_secret(struct request *request, const char *secret)
{
	access_release(request->access);
	request->access = NULL;
	request->lacks_token = false;
	return check_token(request, secret);
}

bool access_still_holds(struct request *request)
{
	if (time_monotonic_ns(request->api->settings.time) < request->access_looked_ns + LOOK_NS)
		return true;
	return access_check(request).status == 0;
}

bool access_has_ended(const struct request *request)
{
	const struct api_settings *settings = &request->api->settings;
	const struct access *access = request->access;
	if (!access)
		return false;
	int64_t end_ns = access->expiration_time_ns;
	return !access_is_alive(settings->state, access) ||
	       (end_ns && end_ns <= (int64_t)time_wall_ns(settings->time));
}

uint64_t access_end_ns(const struct request *request)
{
	const struct time_source *time = request->api->settings.time;
	int64_t end_ns = request->access ? request->access->expiration_time_ns : 0;
	int64_t left_ns = end_ns - (int64_t)time_wall_ns(time);
	if (end_ns == 0)
		return UINT64_MAX;
	return time_monotonic_ns(time) + (left_ns > 0 ? (uint64_t)left_ns : 0);
}

uint64_t access_look_ns(const struct request *request)
{
	return request->access ? request->access_looked_ns + LOOK_NS : UINT64_MAX;
}

const struct acl *request_acl(const struct request *request)
{
	return request->access ? request->access->acl : NULL;
}

bool request_may(
	const struct request *request, const char *namespace_name, enum acl_capability capability)
{
	return !request->access || acl_allows_in(request->access->acl, namespace_name, capability);
}

bool request_may_area(const struct request *request, enum acl_area area, enum acl_level level)
{
	return !request->access || acl_allows_area(request->access->acl, area, level);
}

bool request_may_in(const struct request *request, const char *namespace_name)
{
	return !request->access ||
	       right_allows(request->route->right, request->access->acl, namespace_name);
}

bool reply_denied(struct reply *reply)
{
	return reply_error(reply, MHD_HTTP_FORBIDDEN, "%s", DENIED);
}
