// Changes that an operator makes to node pools.
#include "state/base/limits.h"
#include "state/records/nodes/node_pool.h"
#include "tools/api/nomad/nodes/routes.h"
#include "tools/api/server/access.h"
#include "tools/api/server/body.h"
#include "tools/api/server/command_text.h"
#include <stdlib.h>

static void free_pool(struct command *command)
{
	record_free(&node_pool_description, command->node_pool.pool);
}

// What is wrong with the pool, all of it at once.
static void check_pool(const struct node_pool *pool, struct json_sentences *errors)
{
	struct text name = text_of(pool->name);
	if (!node_pool_name_is_fit(name))
		json_sentence(errors,
			"invalid name \"%.*s\", must match regex ^[a-zA-Z0-9-_]{1,%u}$",
			(int)name.size, name.data, NODE_POOL_NAME_MAX);
	if (text_of(pool->description).size > NODE_POOL_DESCRIPTION_MAX)
		json_sentence(errors, "description longer than %u", NODE_POOL_DESCRIPTION_MAX);
	if (!node_pool_meta_is_fit(&pool->meta))
		json_sentence(errors,
			"meta is too large: at most %u values, names of %u and values of %u bytes",
			NODE_POOL_META_MAX, ATTRIBUTE_NAME_BYTES_MAX, ATTRIBUTE_VALUE_BYTES_MAX);
}

static bool reply_mistakes(
	const struct node_pool *pool, const struct json_sentences *errors, struct reply *reply)
{
	if (!errors->count)
		return false;
	char *text = json_sentences_text(errors, "error");
	reply_mistake(reply, "invalid node pool \"%s\": %s", pool->name ? pool->name : "", text);
	free(text);
	return true;
}

// True when the pool may be stored; else a reply.
static bool pool_is_fit(const struct request *request, const struct node_pool *pool,
	struct json_sentences *errors, struct reply *reply)
{
	struct text name = text_of(pool->name);
	const char *of_path = request->ids[0];
	const struct acl *acl = request_acl(request);
	if (acl && !acl_allows_pool(acl, pool->name ? pool->name : "", ACL_POOL_WRITE))
		return reply_denied(reply);
	if (of_path && !text_equal(name, text_of(of_path)))
		return reply_mistake(reply, "Node pool name does not match request path");
	check_pool(pool, errors);
	if (reply_mistakes(pool, errors, reply))
		return false;
	if (!node_pool_is_built_in(name))
		return true;
	return reply_mistake(reply, "modifying node pool \"%s\" is not allowed", pool->name);
}

void node_pool_put(struct request *request, struct reply *reply)
{
	json_t *body = body_read_some(request, reply);
	if (!body)
		return;
	struct json_report report = {0};
	struct node_pool *pool = record_create(&node_pool_description);
	json_read_record(&node_pool_description, pool, body, "NodePool", &report);
	json_decref(body);
	if (pool_is_fit(request, pool, &report.errors, reply)) {
		struct command *command = submission_one(request, COMMAND_NODE_POOL, free_pool);
		command->node_pool.pool = pool;
	} else {
		record_free(&node_pool_description, pool);
	}
	json_report_free(&report);
}

static void reply_done(struct reply *reply, const struct command *command)
{
	reply->status = MHD_HTTP_OK;
	reply_index(reply, command->index);
}

void node_pool_was_put(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	if (command->outcome == OUTCOME_DONE)
		reply_done(reply, command);
	else
		reply_outcome(reply, (int)command->outcome);
}

void node_pool_delete(struct request *request, struct reply *reply)
{
	struct command *command = submission_one(request, COMMAND_NODE_POOL_DELETE, NULL);
	command->node_pool_delete.name = command_text(request, request->ids[0]);
}

static void reply_in_use(const struct request *request, const struct command_node_pool_delete *c,
	struct reply *reply)
{
	const char *region = request->api->region;
	struct json_sentences users = {0};
	if (c->has_jobs)
		json_sentence(&users, "node pool \"%s\" has non-terminal jobs in regions: [%s]",
			request->ids[0], region);
	if (c->has_nodes)
		json_sentence(&users, "node pool \"%s\" has nodes in regions: [%s]",
			request->ids[0], region);
	char *text = json_sentences_text(&users, "error");
	reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR, "%s", text);
	free(text);
	struct json_report report = {.errors = users};
	json_report_free(&report);
}

void node_pool_was_deleted(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	switch ((int)command->outcome) {
	case OUTCOME_DONE: reply_done(reply, command); break;
	case OUTCOME_CONFLICT: reply_in_use(request, &command->node_pool_delete, reply); break;
	case OUTCOME_BAD_DESCRIPTION:
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR,
			"deleting node pool \"%s\" is not allowed", request->ids[0]);
		break;
	case OUTCOME_UNKNOWN_POOL:
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR, "node pool %s not found",
			request->ids[0]);
		break;
	default: reply_outcome(reply, (int)command->outcome);
	}
}
