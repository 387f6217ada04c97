// What stands in a body: attributes and blocks that may be there, and blocks that dynamic ones make.
#include "tools/jobfile/decode.h"
#include <string.h>

struct expansion {
	struct decoder *decoder;
	const struct body_rules *rules;
	const struct job_body *body;
	struct job_block *first, **last;
};

const struct hcl2_attribute *body_attribute(const struct hcl2_body *body, const char *name)
{
	for (const struct hcl2_attribute *a = body->attributes; a; a = a->next)
		if (text_equal(a->name, text_of(name)))
			return a;
	return NULL;
}

static bool rules_have_attribute(const struct body_rules *rules, struct text name)
{
	const struct member_rule *field =
		rules->schema ? schema_member(rules->schema, name.data, name.size) : NULL;
	if (field)
		return field->kind <= MEMBER_TEXTS || field->kind == MEMBER_META;
	for (const char *const *a = rules->attributes; a && *a; a++)
		if (text_equal(name, text_of(*a)))
			return true;
	return false;
}

static bool rules_have_block(const struct body_rules *rules, struct text type, uint32_t *labels)
{
	const struct member_rule *field =
		rules->schema ? schema_member(rules->schema, type.data, type.size) : NULL;
	*labels = field && field->inside && field->inside->label ? 1 : 0;
	if (field)
		return field->kind > MEMBER_TEXTS;
	for (const struct block_rule *b = rules->blocks; b && b->type; b++)
		if (text_equal(type, text_of(b->type))) {
			*labels = b->labels;
			return true;
		}
	return false;
}

static void check_attributes(struct expansion *e)
{
	uint32_t labels;
	const struct hcl2_body *body = e->body->body;
	for (const char *const *name = e->rules->required; name && *name; name++)
		if (!body_attribute(body, *name))
			hcl2_mistake(e->decoder->run, body->end,
				"The argument \"%s\" is required here.", *name);
	for (const struct hcl2_attribute *a = body->attributes; a; a = a->next)
		if (!rules_have_attribute(e->rules, a->name))
			hcl2_mistake(e->decoder->run, a->name_at,
				"An argument named \"%.*s\" is not expected here%s.",
				(int)a->name.size, a->name.data,
				rules_have_block(e->rules, a->name, &labels)
					? "; it is a block, without an equals sign"
					: "");
}

static void append(struct expansion *e, struct job_block *block)
{
	*e->last = block;
	e->last = &block->next;
}

static void add_written(struct expansion *e, const struct hcl2_block *written, uint32_t labels)
{
	struct hcl2_run *run = e->decoder->run;
	if (written->label_count < labels) {
		hcl2_mistake(run, written->open, "A block \"%.*s\" has a name before its brace.",
			(int)written->type.size, written->type.data);
		return;
	}
	if (written->label_count > labels) {
		hcl2_mistake(run, written->labels[labels].at,
			"A block \"%.*s\" has no such name: it has %u.", (int)written->type.size,
			written->type.data, labels);
		return;
	}
	struct job_block *block = hcl2_take(run, sizeof *block);
	struct text *texts = hcl2_take(run, (labels + 1) * sizeof *texts);
	struct hcl2_range *places = hcl2_take(run, (labels + 1) * sizeof *places);
	for (uint32_t i = 0; i < labels; i++) {
		texts[i] = written->labels[i].text;
		places[i] = written->labels[i].at;
	}
	*block = (struct job_block){.type = written->type,
		.type_at = written->type_at,
		.header = written->header,
		.open = written->open,
		.labels = texts,
		.label_places = places,
		.label_count = labels,
		.body = {written->body, e->body->scope}};
	append(e, block);
}

// A dynamic block: for each element of a collection one block of this type.
struct generator {
	struct text type, iterator;
	const struct hcl2_block *written;
	const struct hcl2_node *const *labels;
	uint32_t label_count;
	const struct hcl2_value *elements;
	const struct hcl2_body *content;
};

static bool read_labels(struct expansion *e, struct generator *g, uint32_t wanted)
{
	struct hcl2_run *run = e->decoder->run;
	const struct hcl2_attribute *labels = body_attribute(g->written->body, "labels");
	if (!labels)
		return true;
	struct hcl2_range at = hcl2_range(labels->expression);
	g->labels = hcl2_list_literal(labels->expression, &g->label_count);
	if (!g->labels)
		return hcl2_mistake(run, at, "A list that is written out is required here.");
	if (g->label_count > wanted)
		return hcl2_mistake(run, hcl2_range(g->labels[wanted]),
			"Blocks of this type have %u names.", wanted);
	if (g->label_count < wanted)
		return hcl2_mistake(run, at, "Blocks of this type have %u names.", wanted);
	return true;
}

static bool read_content(struct expansion *e, struct generator *g)
{
	const struct hcl2_block *content = g->written->body->blocks;
	if (!content)
		return hcl2_mistake(e->decoder->run, g->written->body->end,
			"A dynamic block has a block \"content\" inside.");
	if (content->next)
		return hcl2_mistake(e->decoder->run, content->next->header,
			"A dynamic block has one block \"content\" only.");
	g->content = content->body;
	return true;
}

static bool check_generator(struct expansion *e, const struct hcl2_block *written, uint32_t labels)
{
	static const char *const attributes[] = {"for_each", "iterator", "labels", NULL};
	static const char *const unlabelled[] = {"for_each", "iterator", NULL};
	static const char *const required[] = {"for_each", NULL};
	static const struct block_rule content[] = {{"content", 0}, {0}};
	struct body_rules rules = {NULL, labels ? attributes : unlabelled, required, content};
	struct job_body body = {written->body, e->body->scope};
	uint32_t before = e->decoder->run->mistake_count;
	struct expansion inner = {.decoder = e->decoder, .rules = &rules, .body = &body};
	check_attributes(&inner);
	for (const struct hcl2_block *b = written->body->blocks; b; b = b->next)
		if (!text_equal(b->type, TEXT("content")))
			hcl2_mistake(e->decoder->run, b->type_at,
				"Blocks of type \"%.*s\" are not expected here.", (int)b->type.size,
				b->type.data);
	return e->decoder->run->mistake_count == before;
}

static bool read_elements(struct expansion *e, struct generator *g)
{
	struct hcl2_run *run = e->decoder->run;
	const struct hcl2_node *each = body_attribute(g->written->body, "for_each")->expression;
	const struct hcl2_attribute *iterator = body_attribute(g->written->body, "iterator");
	g->elements = hcl2_evaluate(run, e->body->scope, each);
	if (!g->elements)
		return false;
	if (g->elements->is_null || g->elements->type->kind < HCL2_LIST)
		return hcl2_mistake(run, hcl2_range(each),
			"for_each wants a collection, and this is %s.",
			g->elements->is_null ? "null" : hcl2_type_name(run, g->elements->type));
	g->iterator = g->type;
	if (iterator && !hcl2_name_of(iterator->expression, &g->iterator))
		return hcl2_mistake(
			run, hcl2_range(iterator->expression), "An iterator is a single name.");
	return true;
}

static struct hcl2_scope *element_scope(struct expansion *e, const struct generator *g, uint32_t i)
{
	struct hcl2_scope *scope = hcl2_take(e->decoder->run, sizeof *scope);
	scope->outer = e->body->scope;
	scope->names[0] = g->iterator;
	scope->values[0] = hcl2_element(e->decoder->run, g->elements, i);
	return scope;
}

static bool make_block(struct expansion *e, const struct generator *g, uint32_t i)
{
	struct hcl2_run *run = e->decoder->run;
	struct job_block *block = hcl2_take(run, sizeof *block);
	struct text *labels = hcl2_take(run, (g->label_count + 1) * sizeof *labels);
	struct hcl2_range *places = hcl2_take(run, (g->label_count + 1) * sizeof *places);
	*block = (struct job_block){.type = g->type,
		.type_at = g->written->labels[0].at,
		.header = g->written->header,
		.open = g->written->open,
		.labels = labels,
		.label_places = places,
		.label_count = g->label_count,
		.body = {g->content, element_scope(e, g, i)}};
	for (uint32_t n = 0; n < g->label_count; n++) {
		const char *problem;
		places[n] = hcl2_range(g->labels[n]);
		const struct hcl2_value *label =
			hcl2_evaluate(run, block->body.scope, g->labels[n]);
		if (!label)
			return false;
		label = hcl2_convert(run, label, &hcl2_text_type, &problem);
		if (!label || label->is_null)
			return hcl2_mistake(run, places[n], "This is no name for a block: %s.",
				label ? "it is null" : problem);
		labels[n] = label->string;
	}
	append(e, block);
	return hcl2_step(run, block->header);
}

static void add_dynamic(struct expansion *e, const struct hcl2_block *written)
{
	struct hcl2_run *run = e->decoder->run;
	uint32_t labels;
	struct generator g = {.written = written};
	if (written->label_count != 1) {
		hcl2_mistake(run, written->label_count ? written->labels[1].at : written->open,
			"A dynamic block has the type of its blocks as its name.");
		return;
	}
	g.type = written->labels[0].text;
	if (!rules_have_block(e->rules, g.type, &labels)) {
		hcl2_mistake(run, written->labels[0].at,
			"Blocks of type \"%.*s\" are not expected here.", (int)g.type.size,
			g.type.data);
		return;
	}
	if (!check_generator(e, written, labels) || !read_elements(e, &g) ||
		!read_labels(e, &g, labels) || !read_content(e, &g))
		return;
	for (uint32_t i = 0; i < g.elements->count; i++)
		if (!make_block(e, &g, i))
			return;
}

struct job_block *body_blocks(
	struct decoder *decoder, const struct body_rules *rules, const struct job_body *body)
{
	struct expansion e = {.decoder = decoder, .rules = rules, .body = body};
	uint32_t labels;
	e.last = &e.first;
	check_attributes(&e);
	for (const struct hcl2_block *b = body->body->blocks; b; b = b->next) {
		if (rules->schema && text_equal(b->type, TEXT("dynamic")))
			add_dynamic(&e, b);
		else if (rules_have_block(rules, b->type, &labels))
			add_written(&e, b, labels);
		else
			hcl2_mistake(decoder->run, b->type_at,
				"Blocks of type \"%.*s\" are not expected here%s.",
				(int)b->type.size, b->type.data,
				rules_have_attribute(rules, b->type)
					? "; it is an argument, with an equals sign"
					: "");
	}
	return e.first;
}
