#include "tools/acl/acl_rules.h"

static void put_words(struct json_writer *w, const struct array *words)
{
	if (!json_open_array_if(w, "Capabilities", words->count > 0))
		return;
	for (uint32_t i = 0; i < words->count; i++)
		json_write_string(w, *ARRAY_AT(words, const char *, i));
	json_end_array(w);
}

static void put_variables(struct json_writer *w, const struct acl_rule *rule)
{
	if (!json_open_object_if(w, "Variables", rule->has_variables))
		return;
	json_open_array(w, "Paths");
	for (uint32_t i = 0; i < rule->variables.count; i++) {
		const struct acl_rule *path = ARRAY_AT(&rule->variables, struct acl_rule, i);
		json_begin_object(w);
		put_words(w, &path->capabilities);
		json_put_string(w, "PathSpec", path->name);
		json_end_object(w);
	}
	json_end_array(w);
	json_end_object(w);
}

static void put_named(
	struct json_writer *w, const char *key, const struct array *rules, bool are_namespaces)
{
	if (!json_open_array_if(w, key, rules->count > 0))
		return;
	for (uint32_t i = 0; i < rules->count; i++) {
		const struct acl_rule *rule = ARRAY_AT(rules, struct acl_rule, i);
		json_begin_object(w);
		put_words(w, &rule->capabilities);
		json_put_string(w, "Name", rule->name);
		json_put_string(w, "Policy", rule->policy);
		if (are_namespaces)
			put_variables(w, rule);
		json_end_object(w);
	}
	json_end_array(w);
}

static void put_area(struct json_writer *w, const char *key, const char *word)
{
	if (!json_open_object_if(w, key, word != NULL))
		return;
	json_put_string(w, "Policy", word);
	json_end_object(w);
}

void acl_rules_write(struct json_writer *w, const struct acl_rules *rules, const char *text)
{
	json_begin_object(w);
	put_area(w, "Agent", rules->areas[ACL_AGENT]);
	put_named(w, "HostVolumes", &rules->named[ACL_HOST_VOLUMES], false);
	put_named(w, "Namespaces", &rules->named[ACL_NAMESPACES], true);
	put_area(w, "Node", rules->areas[ACL_NODE]);
	put_named(w, "NodePools", &rules->named[ACL_NODE_POOLS], false);
	put_area(w, "Operator", rules->areas[ACL_OPERATOR]);
	put_area(w, "Plugin", rules->areas[ACL_PLUGIN]);
	put_area(w, "Quota", rules->areas[ACL_QUOTA]);
	json_put_string(w, "Raw", text);
	// Other clients know nothing of these.
	if (rules->areas[ACL_VM])
		put_area(w, "VM", rules->areas[ACL_VM]);
	if (rules->areas[ACL_VM_CONNECT])
		put_area(w, "VMConnect", rules->areas[ACL_VM_CONNECT]);
	if (rules->areas[ACL_VM_ADMIN])
		put_area(w, "VMAdmin", rules->areas[ACL_VM_ADMIN]);
	json_end_object(w);
}
