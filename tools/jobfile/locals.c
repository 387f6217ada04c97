// Locals: values with names, in any order. Each pass takes those whose parts are known.
#include "tools/jobfile/variables.h"

struct local {
	const struct hcl2_attribute *attribute;
	const struct hcl2_value *value;
};

struct locals {
	struct local *rows;
	uint32_t count;
};

static void collect(struct decoder *decoder, const struct hcl2_body *file, struct locals *locals)
{
	for (const struct hcl2_block *b = file->blocks; b; b = b->next) {
		if (!text_equal(b->type, TEXT("locals")))
			continue;
		for (const struct hcl2_block *inner = b->body->blocks; inner; inner = inner->next)
			hcl2_mistake(decoder->run, inner->type_at, "There are no blocks here.");
		for (const struct hcl2_attribute *a = b->body->attributes; a; a = a->next) {
			if (locals->rows)
				locals->rows[locals->count].attribute = a;
			locals->count++;
		}
	}
}

static void check_names(struct decoder *decoder, const struct locals *locals)
{
	struct text *names = hcl2_take(decoder->run, locals->count * sizeof *names);
	const struct hcl2_value **values = hcl2_take(decoder->run, locals->count * sizeof *values);
	for (uint32_t i = 0; i < locals->count; i++) {
		names[i] = locals->rows[i].attribute->name;
		values[i] = hcl2_text_value(decoder->run, names[i]);
	}
	// Of several that have one name an object has the last.
	const struct hcl2_value *object = hcl2_object(decoder->run, locals->count, names, values);
	for (uint32_t i = 0; i < locals->count; i++) {
		const struct hcl2_value *last = hcl2_member(object, names[i]);
		uint32_t other = i;
		if (last == values[i])
			continue;
		while (values[other] != last)
			other++;
		hcl2_mistake(decoder->run, locals->rows[other].attribute->name_at,
			"The local \"%.*s\" is there a second time.", (int)names[i].size,
			names[i].data);
		return;
	}
}

static const struct hcl2_value *known_locals(struct decoder *decoder, const struct locals *locals)
{
	struct text *names = hcl2_take(decoder->run, locals->count * sizeof *names);
	const struct hcl2_value **values = hcl2_take(decoder->run, locals->count * sizeof *values);
	uint32_t known = 0;
	for (uint32_t i = 0; i < locals->count; i++)
		if (locals->rows[i].value) {
			names[known] = locals->rows[i].attribute->name;
			values[known++] = locals->rows[i].value;
		}
	return hcl2_object(decoder->run, known, names, values);
}

// One pass. Returns how many became known.
static uint32_t evaluate_some(
	struct decoder *decoder, struct locals *locals, const struct hcl2_scope *scope)
{
	uint32_t made = 0;
	for (uint32_t i = 0; i < locals->count; i++)
		if (!locals->rows[i].value) {
			locals->rows[i].value = hcl2_evaluate(
				decoder->run, scope, locals->rows[i].attribute->expression);
			made += locals->rows[i].value != NULL;
		}
	return made;
}

bool locals_read(struct decoder *decoder, const struct hcl2_body *file, struct hcl2_scope *scope)
{
	struct locals locals = {0};
	struct hcl2_run *run = decoder->run;
	uint32_t before = run->mistake_count, known = 0;
	collect(decoder, file, &locals);
	run->mistake_count = before;
	locals.rows = hcl2_take(run, locals.count * sizeof *locals.rows);
	locals.count = 0;
	collect(decoder, file, &locals);
	check_names(decoder, &locals);
	before = run->mistake_count;
	while (known < locals.count && !hcl2_exhausted(run)) {
		// What was a mistake in a pass may be none in the next.
		run->mistake_count = before;
		uint32_t made = evaluate_some(decoder, &locals, scope);
		if (!made)
			break;
		known += made;
		scope->values[1] = known_locals(decoder, &locals);
	}
	if (known == locals.count || hcl2_exhausted(run))
		run->mistake_count = before;
	if (hcl2_exhausted(run))
		hcl2_mistake(run, locals.rows[0].attribute->name_at,
			"The locals together take more than a job file may.");
	return run->mistake_count == 0;
}
