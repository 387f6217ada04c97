#include "placement/constraint/constraint.h"
#include "placement/constraint/operators.h"
#include "placement/constraint/quantity.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include <stdlib.h>
#include <string.h>

// What a constraint is matched against: a class alone, a node, or a device group of a class.
struct subject {
	const struct node_class *node_class;
	const struct node *node;           // NULL: the class alone
	const struct device_group *device; // NULL: not a device constraint
	char id[UUID_TEXT_BYTES];
};

struct target;
typedef const char *target_value(const struct target *, struct subject *); // NULL: missing

struct target {
	target_value *value;
	const char *text; // a literal, or the name of an attribute
	bool node_unique;
};

struct compiled_constraint {
	const struct constraint_operator *operation;
	struct target left, right;
	void *program; // of a literal right side
	char texts[];  // of both sides
};

static const char *literal_text(const struct target *t, struct subject *s)
{
	return t->text;
}
static const char *no_value(const struct target *t, struct subject *s)
{
	return NULL;
}
static const char *node_id(const struct target *t, struct subject *s)
{
	return s->node ? uuid_format(&s->node->id, s->id) : NULL;
}
static const char *node_name(const struct target *t, struct subject *s)
{
	return s->node ? s->node->name : NULL;
}
static const char *node_datacenter(const struct target *t, struct subject *s)
{
	return s->node_class->datacenter;
}
static const char *node_class_name(const struct target *t, struct subject *s)
{
	return s->node_class->class_name;
}
static const char *node_pool(const struct target *t, struct subject *s)
{
	return s->node_class->pool;
}
static const char *device_type(const struct target *t, struct subject *s)
{
	return s->device ? s->device->type : NULL;
}
static const char *device_vendor(const struct target *t, struct subject *s)
{
	return s->device ? s->device->vendor : NULL;
}
static const char *device_model(const struct target *t, struct subject *s)
{
	return s->device ? s->device->name : NULL;
}

static const char *find_sorted(const struct attribute *sorted, uint32_t count, const char *name)
{
	uint32_t low = 0;
	while (low < count) {
		uint32_t middle = low + (count - low) / 2;
		int order = strcmp(name, sorted[middle].name);
		if (order == 0)
			return sorted[middle].value;
		if (order < 0)
			count = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static const char *node_attribute_of(const struct target *t, struct subject *s)
{
	return s->node ? node_attribute(s->node, t->text)
		       : find_sorted(s->node_class->attributes, s->node_class->attribute_count,
				 t->text);
}
static const char *node_meta_of(const struct target *t, struct subject *s)
{
	return s->node ? node_meta(s->node, t->text)
		       : find_sorted(s->node_class->meta, s->node_class->meta_count, t->text);
}

static const char *device_attribute(const struct target *t, struct subject *s)
{
	return s->device ? find_sorted(s->device->attributes, s->device->attribute_count, t->text)
			 : NULL;
}

static const struct {
	struct text text; // ends in '.': a prefix, a name and "}" follow
	target_value *value;
	bool node_unique;
} targets[] = {
	{TEXT("${node.unique.id}"), node_id, true},
	{TEXT("${node.unique.name}"), node_name, true},
	{TEXT("${node.datacenter}"), node_datacenter, false},
	{TEXT("${node.class}"), node_class_name, false},
	{TEXT("${node.pool}"), node_pool, false},
	{TEXT("${device.type}"), device_type, false},
	{TEXT("${device.vendor}"), device_vendor, false},
	{TEXT("${device.model}"), device_model, false},
	{TEXT("${device.attr."), device_attribute, false},
	{TEXT("${attr."), node_attribute_of, false},
	{TEXT("${meta."), node_meta_of, false},
};

static bool names_target(struct text text, struct text row)
{
	bool is_prefix = row.data[row.size - 1] == '.';

	return (is_prefix ? text.size >= row.size : text.size == row.size) &&
	       memcmp(text.data, row.data, row.size) == 0;
}

// Writes the target's text into the room, which is zeroed and has space for all of the text and one byte more.
static struct target target_compile(struct text text, char *room)
{
	if (text.size < 2 || text.data[0] != '$' || text.data[1] != '{')
		return (struct target){literal_text, memcpy(room, text.data, text.size), false};
	for (uint32_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
		uint32_t size = targets[i].text.size;
		if (!names_target(text, targets[i].text))
			continue;
		struct text name = {text.data + size, text.size - size};
		if (name.size > 0 && name.data[name.size - 1] == '}')
			name.size--;
		return (struct target){targets[i].value, memcpy(room, name.data, name.size),
			targets[i].node_unique || attribute_is_unique(name)};
	}
	return (struct target){no_value, NULL, false};
}

// What a side of a constraint may have: lists are compared item by item with those of nodes.
#define TARGET_BYTES_MAX 4096u

static const struct constraint_operator *operator_check(
	struct text left, struct text right, const char *operand, struct constraint_error *error)
{
	char names[256];
	if (operand[0] == 0)
		return constraint_refuse(error, "missing constraint operator");
	if (left.size > TARGET_BYTES_MAX || right.size > TARGET_BYTES_MAX)
		return constraint_refuse(
			error, "LTarget and RTarget may have %u bytes each", TARGET_BYTES_MAX);
	const struct constraint_operator *operation = operator_find(operand);
	if (!operation)
		return constraint_refuse(error,
			"operator \"%.40s\" is not known; known operators are %s", operand,
			operator_names(names, sizeof names));
	if (operation->needs_value && right.size == 0)
		return constraint_refuse(error, "operator \"%s\" requires an RTarget", operand);
	if (!operation->needs_value && right.size > 0)
		return constraint_refuse(
			error, "operator \"%s\" does not support an RTarget", operand);
	if (left.size == 0)
		return constraint_refuse(
			error, "no LTarget provided but operator \"%s\" requires one", operand);
	return operation;
}

struct compiled_constraint *constraint_compile(const char *l_target, const char *r_target,
	const char *operand, struct constraint_error *error)
{
	struct text left = text_of(l_target ? l_target : "");
	struct text right = text_of(r_target ? r_target : "");
	const struct constraint_operator *operation =
		operator_check(left, right, operand ? operand : "", error);
	if (!operation)
		return NULL;
	struct compiled_constraint *c = memory_take(sizeof *c + left.size + right.size + 2);
	c->operation = operation;
	c->left = target_compile(left, c->texts);
	c->right = target_compile(right, c->texts + left.size + 1);
	if (operation->compile && c->right.value == literal_text) {
		c->program = operation->compile(c->right.text, error);
		if (!c->program) {
			constraint_free(c);
			return NULL;
		}
	}
	return c;
}

void constraint_free(struct compiled_constraint *c)
{
	if (!c)
		return;
	if (c->program)
		c->operation->release(c->program);
	free(c);
}

bool constraint_is_node_unique(const struct compiled_constraint *c)
{
	return c->left.node_unique || c->right.node_unique;
}

bool constraint_searches(const struct compiled_constraint *c)
{
	return c->operation->searches;
}

// Attributes of devices have units, so they are ordered as quantities.
static bool quantities_match(uint8_t accepts, const char *left, const char *right)
{
	if (!left || !right)
		return accepts == (ORDER_LESS | ORDER_GREATER) && left != right;
	return quantity_order(left, right) & accepts;
}

static bool constraint_matches(const struct compiled_constraint *c, struct subject left_of)
{
	struct subject right_of = left_of;
	const char *left = c->left.value(&c->left, &left_of);
	const char *right = c->right.value(&c->right, &right_of);
	if (left_of.device && c->operation->accepts)
		return quantities_match(c->operation->accepts, left, right);
	if (!c->operation->compile || c->program)
		return c->operation->test(left, right, c->program);
	// The right side is the node's, so it is compiled here, once for each class or node.
	struct constraint_error ignored;
	void *program = left && right ? c->operation->compile(right, &ignored) : NULL;
	if (!program)
		return false;
	bool matched = c->operation->test(left, right, program);
	c->operation->release(program);
	return matched;
}

bool constraint_is_distinct(const char *operand)
{
	static const char *const distinct[] = {"distinct_hosts", "distinct_property"};
	return operand && (strcmp(operand, distinct[0]) == 0 || strcmp(operand, distinct[1]) == 0);
}

bool constraint_matches_node(const struct compiled_constraint *c, const struct node *node)
{
	return constraint_matches(
		c, (struct subject){.node_class = node->node_class, .node = node});
}

bool constraint_matches_device(const struct compiled_constraint *c,
	const struct node_class *node_class, const struct device_group *device)
{
	return constraint_matches(c, (struct subject){.node_class = node_class, .device = device});
}

struct node_property {
	struct target target;
	char text[];
};

struct node_property *node_property_compile(const char *target)
{
	struct text text = text_of(target ? target : "");
	struct node_property *p = memory_take(sizeof *p + text.size + 1);
	p->target = target_compile(text, p->text);
	return p;
}

void node_property_free(struct node_property *p)
{
	free(p);
}

bool node_property_is_node_unique(const struct node_property *p)
{
	return p->target.node_unique;
}

const char *node_property_value(
	const struct node_property *p, const struct node *node, char id[UUID_TEXT_BYTES])
{
	struct subject subject = {.node_class = node->node_class, .node = node};
	const char *value = p->target.value(&p->target, &subject);
	return value == subject.id ? memcpy(id, value, UUID_TEXT_BYTES) : value;
}
