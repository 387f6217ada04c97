// Rules of admission, and the nodes that were refused by them.
#include "state/records/nodes/admit_rule.h"
#include "tools/api/berth/routes.h"
#include "tools/api/lists/record_list.h"
#include "tools/api/server/body.h"
#include "tools/api/server/command_text.h"
#include <stdlib.h>

const struct record_kind admit_rule_list = {
	.table = STATE_ADMIT_RULES, .type = &admit_rule_description};
const struct record_kind refused_node_list = {
	.table = STATE_REFUSED_NODES, .type = &refused_node_description};

static void free_rule(struct command *command)
{
	record_free(&admit_rule_description, command->admit_rule.rule);
}

static void check_rule(const struct admit_rule *rule, struct json_sentences *errors)
{
	struct text pattern = text_of(rule->pattern);
	if (pattern.size == 0)
		json_sentence(errors, "Pattern is missing: the id of a node, a name, or a glob");
	else if (!errors->count && !admit_rule_is_sound(rule))
		json_sentence(errors,
			"names are at most %u printable bytes, lists at most %u names, numbers not "
			"negative",
			NAME_BYTES_MAX, ADMIT_GLOBS_MAX);
}

static bool rule_is_fit(
	const struct admit_rule *rule, struct json_sentences *errors, struct reply *reply)
{
	check_rule(rule, errors);
	if (!errors->count)
		return true;
	char *text = json_sentences_text(errors, "error");
	reply_mistake(reply, "invalid rule \"%s\": %s", rule->pattern ? rule->pattern : "", text);
	free(text);
	return false;
}

void admit_rule_put(struct request *request, struct reply *reply)
{
	json_t *body = body_read_some(request, reply);
	if (!body)
		return;
	struct json_report report = {0};
	struct admit_rule *rule = record_create(&admit_rule_description);
	json_read_record(&admit_rule_description, rule, body, "Rule", &report);
	json_decref(body);
	if (rule_is_fit(rule, &report.errors, reply)) {
		struct command *command = submission_one(request, COMMAND_ADMIT_RULE, free_rule);
		command->admit_rule.rule = rule;
	} else {
		record_free(&admit_rule_description, rule);
	}
	json_report_free(&report);
}

void admit_rule_delete(struct request *request, struct reply *reply)
{
	struct command *command = submission_one(request, COMMAND_ADMIT_RULE_DELETE, NULL);
	command->admit_rule_delete.pattern = command_text(request, request->ids[0]);
}

void quarantine_clear(struct request *request, struct reply *reply)
{
	struct uuid id;
	if (path_uuid(request, "node", &id, reply))
		submission_one(request, COMMAND_QUARANTINE_CLEAR, NULL)->node_named.node = id;
}
