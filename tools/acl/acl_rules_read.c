#include "state/base/check.h"
#include "state/base/memory.h"
#include "tools/acl/acl_rules.h"
#include "tools/hcl/hcl.h"
#include <stdio.h>
#include <stdlib.h>

struct reader {
	struct acl_rules *rules;
	char *mistake;  // the first one
	bool has_other; // words that are none of a policy
	char *other;    // the first of them, as a mistake
};

// What an item of a body is about.
typedef bool item_read(struct reader *, void *context, const struct hcl_item *);

static char *place_text(uint32_t line, uint32_t column, const char *what, const char *name)
{
	char *text;
	CHECK(asprintf(&text, "Failed to parse ACL Policy: At %u:%u: %s%s%s", line, column,
		      name ? name : "", name ? " " : "", what) > 0);
	return text;
}

static bool refuse_rules(
	struct reader *reader, const struct hcl_value *at, const char *name, const char *what)
{
	if (!reader->mistake)
		reader->mistake = place_text(at->line, at->column, what, name);
	return false;
}

// A word that is ignored might have been meant to deny.
static bool note_other(struct reader *reader, const struct hcl_item *item)
{
	if (!reader->other)
		reader->other = place_text(
			item->value.line, item->value.column, "is no word of a policy", item->name);
	return true;
}

static bool is_named(const struct hcl_item *item, const char *name)
{
	return strcmp(item->name, name) == 0;
}

static bool read_text(struct reader *reader, const struct hcl_item *item, const char **text)
{
	if (item->is_block || item->value.kind != HCL_STRING)
		return refuse_rules(reader, &item->value, item->name, "is a text");
	*text = item->value.string;
	return true;
}

static bool read_words(struct reader *reader, const struct hcl_item *item, struct array *words)
{
	if (item->value.kind != HCL_LIST)
		return refuse_rules(reader, &item->value, item->name, "is a list of texts");
	for (const struct hcl_value *v = item->value.list; v; v = v->next) {
		if (v->kind != HCL_STRING)
			return refuse_rules(reader, v, item->name, "is a list of texts");
		*(const char **)array_append(words, sizeof(char *)) = v->string;
	}
	return true;
}

static bool read_body(
	struct reader *reader, void *context, const struct hcl_body *body, item_read *read_item)
{
	for (const struct hcl_item *item = body->first; item; item = item->next)
		if (!read_item(reader, context, item))
			return false;
	return true;
}

// JSON writes several bodies of one name as a list.
static bool read_bodies(struct reader *reader, void *context, const char *name,
	const struct hcl_value *value, item_read *read_item)
{
	if (value->kind == HCL_OBJECT)
		return read_body(reader, context, &value->object, read_item);
	if (value->kind != HCL_LIST)
		return refuse_rules(reader, value, name, "is an object");
	for (const struct hcl_value *v = value->list; v; v = v->next)
		if (v->kind != HCL_OBJECT || !read_body(reader, context, &v->object, read_item))
			return refuse_rules(reader, v, name, "is an object");
	return true;
}

struct named {
	struct array *rules;
	item_read *read_item;
};

static bool add_rule(struct reader *reader, const struct named *named, const char *name,
	const struct hcl_value *value)
{
	struct acl_rule *rule = array_append(named->rules, sizeof *rule);
	rule->name = name;
	rule->policy = "";
	return read_bodies(reader, rule, name, value, named->read_item);
}

static bool read_member(struct reader *reader, void *context, const struct hcl_item *item)
{
	if (item->label_count > 0)
		return refuse_rules(reader, &item->value, item->name, "has one name");
	return add_rule(reader, context, item->name, &item->value);
}

// Rules about what has a name: the label of a block, or the members of an object.
static bool read_named(struct reader *reader, struct array *rules, const struct hcl_item *item,
	item_read *read_item)
{
	struct named named = {rules, read_item};
	if (item->label_count > 1)
		return refuse_rules(reader, &item->value, item->name, "has one name");
	if (item->label_count == 1)
		return add_rule(reader, &named, item->labels[0], &item->value);
	return read_bodies(reader, &named, item->name, &item->value, read_member);
}

static bool read_path_item(struct reader *reader, void *context, const struct hcl_item *item)
{
	struct acl_rule *path = context;
	if (is_named(item, "capabilities"))
		return read_words(reader, item, &path->capabilities);
	return note_other(reader, item);
}

static bool read_variables_item(struct reader *reader, void *context, const struct hcl_item *item)
{
	struct acl_rule *rule = context;
	if (is_named(item, "path"))
		return read_named(reader, &rule->variables, item, read_path_item);
	return note_other(reader, item);
}

static bool read_rule_item(struct reader *reader, void *context, const struct hcl_item *item)
{
	struct acl_rule *rule = context;
	if (is_named(item, "policy"))
		return read_text(reader, item, &rule->policy);
	if (is_named(item, "capabilities"))
		return read_words(reader, item, &rule->capabilities);
	return note_other(reader, item);
}

static bool read_namespace_item(struct reader *reader, void *context, const struct hcl_item *item)
{
	struct acl_rule *rule = context;
	if (!is_named(item, "variables"))
		return read_rule_item(reader, context, item);
	rule->has_variables = true;
	return read_bodies(reader, rule, item->name, &item->value, read_variables_item);
}

static bool read_area_item(struct reader *reader, void *context, const struct hcl_item *item)
{
	const char **word = context;
	return is_named(item, "policy") ? read_text(reader, item, word) : note_other(reader, item);
}

static bool read_area(struct reader *reader, const struct hcl_item *item)
{
	for (enum acl_area area = 0; area < ACL_AREAS; area++) {
		if (!is_named(item, acl_area_name(area)))
			continue;
		if (item->label_count > 0)
			return refuse_rules(reader, &item->value, item->name, "has no name");
		if (reader->rules->areas[area])
			return refuse_rules(reader, &item->value, item->name, "is there twice");
		reader->rules->areas[area] = "";
		return read_bodies(reader, &reader->rules->areas[area], item->name, &item->value,
			read_area_item);
	}
	return note_other(reader, item);
}

static bool read_top_item(struct reader *reader, void *context, const struct hcl_item *item)
{
	struct array *named = reader->rules->named;
	if (is_named(item, "namespace"))
		return read_named(reader, &named[ACL_NAMESPACES], item, read_namespace_item);
	if (is_named(item, "node_pool"))
		return read_named(reader, &named[ACL_NODE_POOLS], item, read_rule_item);
	if (is_named(item, "host_volume"))
		return read_named(reader, &named[ACL_HOST_VOLUMES], item, read_rule_item);
	return read_area(reader, item);
}

static bool are_empty(const struct acl_rules *rules)
{
	for (enum acl_area area = 0; area < ACL_AREAS; area++)
		if (rules->areas[area])
			return false;
	return rules->named[ACL_NAMESPACES].count + rules->named[ACL_NODE_POOLS].count +
		       rules->named[ACL_HOST_VOLUMES].count ==
	       0;
}

// What is wrong with rules of this text; NULL: nothing.
static char *read_all(struct acl_rules *rules, const char *text, uint32_t size)
{
	struct hcl_error error;
	struct reader reader = {.rules = rules};
	char *said;
	rules->source = hcl_read(text, size, &error);
	if (!rules->source)
		return place_text(error.line, error.column, error.text, NULL);
	if (!read_body(&reader, NULL, hcl_body(rules->source), read_top_item)) {
		free(reader.other);
		return reader.mistake;
	}
	if (size > 0 && are_empty(rules)) {
		free(reader.other);
		CHECK(asprintf(&said, "Invalid policy: %.*s", (int)size, text) > 0);
		return said;
	}
	char *mistake = acl_rules_check(rules);
	if (!mistake)
		return reader.other;
	free(reader.other);
	return mistake;
}

struct acl_rules *acl_rules_read(const char *text, uint32_t size, char **mistake)
{
	struct acl_rules *rules = memory_take(sizeof *rules);
	*mistake = read_all(rules, text, size);
	if (!*mistake)
		return rules;
	acl_rules_free(rules);
	return NULL;
}

static void free_named(struct array *rules)
{
	for (uint32_t i = 0; i < rules->count; i++) {
		struct acl_rule *rule = ARRAY_AT(rules, struct acl_rule, i);
		free(rule->capabilities.items);
		free_named(&rule->variables);
	}
	free(rules->items);
}

void acl_rules_free(struct acl_rules *rules)
{
	if (!rules)
		return;
	for (enum acl_subject subject = 0; subject < ACL_SUBJECTS; subject++)
		free_named(&rules->named[subject]);
	hcl_free(rules->source);
	free(rules);
}
