// The tree is walked; what it prints is appended.
#include "tools/template/functions.h"
#include <stdio.h>

static struct value run_pipe(struct render *run, const struct pipe *pipe, struct value dot);

static struct value no_such_field(
	struct render *run, const struct operand *o, struct text name, struct value in)
{
	if (in.kind == VALUE_NIL)
		return render_fail(run, o->at, "nil has no field .%.*s", (int)name.size, name.data);
	return render_fail(run, o->at, "%s has no field .%.*s", value_kind_name(in.kind),
		(int)name.size, name.data);
}

static struct value field_of(
	struct render *run, const struct operand *o, struct value in, struct text name)
{
	const struct record *record = in.kind == VALUE_RECORD ? in.record : NULL;
	const struct value *found =
		record ? value_member(record->fields, record->count, name) : NULL;
	struct value plain = value_plain(in);

	if (found)
		return *found;
	if (plain.kind != VALUE_MAP)
		return no_such_field(run, o, name, plain);
	found = value_member(plain.members, plain.count, name);
	if (found)
		return *found;
	if (run->data->missing_key_fails)
		return render_fail(
			run, o->at, "map has no entry for key \"%.*s\"", (int)name.size, name.data);
	return record && record->has_texts ? value_text(TEXT("")) : (struct value){0};
}

static struct value run_operand(struct render *run, const struct operand *o, struct value dot)
{
	struct value v = {0};

	if (!render_step(run, 1))
		return v;
	run->at = o->at;
	switch (o->kind) {
	case OPERAND_CONSTANT: v = o->constant; break;
	case OPERAND_DOT: v = dot; break;
	case OPERAND_VARIABLE: v = run->slots[o->slot]; break;
	case OPERAND_PIPE: v = run_pipe(run, o->pipe, dot); break;
	case OPERAND_FUNCTION: { // as an argument, without any of its own
		struct call call = {.run = run, .function = o->function, .at = o->at};
		if (o->function->least > 0)
			return render_fail(run, o->at, "wrong number of args for %s: want %u got 0",
				o->function->name, o->function->least);
		v = o->function->run(&call);
	}
	}
	for (uint32_t i = 0; i < o->field_count && !run->failed; i++)
		v = field_of(run, o, v, o->fields[i]);
	return v;
}

// and, or: the first argument that decides, or the last one.
static struct value run_lazy(
	struct render *run, const struct command *c, const struct value *piped, struct value dot)
{
	bool ends_with = strcmp(c->operands->function->name, "or") == 0;
	struct value v = {0};

	for (const struct operand *o = c->operands->next; o && !run->failed; o = o->next) {
		v = run_operand(run, o, dot);
		if (value_is_true(v) == ends_with)
			return v;
	}
	return piped ? *piped : v;
}

static struct value run_command(
	struct render *run, const struct command *c, const struct value *piped, struct value dot)
{
	const struct operand *first = c->operands;
	uint32_t count = 0;

	if (first->kind != OPERAND_FUNCTION)
		return run_operand(run, first, dot);
	if (function_is_lazy(first->function))
		return run_lazy(run, c, piped, dot);
	struct value *args = render_take(run, (c->count + 1) * sizeof *args);
	if (!args)
		return (struct value){0};
	for (const struct operand *o = first->next; o; o = o->next)
		args[count++] = run_operand(run, o, dot);
	if (piped)
		args[count++] = *piped;
	run->at = first->at;
	struct call call = {run, first->function, first->at, count, args};
	return render_step(run, 1) ? first->function->run(&call) : (struct value){0};
}

static struct value run_pipe(struct render *run, const struct pipe *pipe, struct value dot)
{
	struct value v = {0};

	for (const struct command *c = pipe->commands; c && !run->failed; c = c->next)
		v = run_command(run, c, c == pipe->commands ? NULL : &v, dot);
	if (pipe->name_count == 1)
		run->slots[pipe->slots[0]] = v;
	return v;
}

static void run_nodes(struct render *run, const struct node *node, struct value dot);

// The items of what a range goes through; keys for maps.
static bool range_item(
	struct render *run, struct value of, uint32_t i, struct value *key, struct value *item)
{
	if (of.kind == VALUE_LIST) {
		*key = value_int(i);
		*item = of.items[i];
		return true;
	}
	*key = value_text(of.members[i].name);
	*item = of.members[i].value;
	return render_step(run, 1);
}

static void run_range(struct render *run, const struct node *node, struct value dot)
{
	const struct pipe *pipe = node->pipe;
	struct value whole = run_pipe(run, pipe, dot), of = value_plain(whole), key, item;

	if (run->failed)
		return;
	if (of.kind != VALUE_LIST && of.kind != VALUE_MAP && of.kind != VALUE_NIL) {
		render_fail(run, node->at, "range can't iterate over %s", value_kind_name(of.kind));
		return;
	}
	if (of.kind == VALUE_NIL || of.count == 0) {
		run_nodes(run, node->otherwise, dot);
		return;
	}
	for (uint32_t i = 0; i < of.count && render_step(run, 1); i++) {
		if (!range_item(run, of, i, &key, &item))
			return;
		if (pipe->name_count > 0)
			run->slots[pipe->slots[pipe->name_count - 1]] = item;
		if (pipe->name_count == 2)
			run->slots[pipe->slots[0]] = key;
		run_nodes(run, node->body, item);
		bool ends = run->leave == LEAVE_BREAK;
		run->leave = LEAVE_NOT;
		if (ends)
			return;
	}
}

static void run_node(struct render *run, const struct node *node, struct value dot)
{
	struct value v;

	switch (node->kind) {
	case NODE_TEXT: bytes_put(run->out, node->text.data, node->text.size); break;
	case NODE_PRINT:
		v = run_pipe(run, node->pipe, dot);
		if (!run->failed)
			value_print(run->out, v, 0);
		break;
	case NODE_SET: run_pipe(run, node->pipe, dot); break;
	case NODE_IF:
	case NODE_WITH:
		v = run_pipe(run, node->pipe, dot);
		if (run->failed)
			break;
		if (value_is_true(v))
			run_nodes(run, node->body, node->kind == NODE_WITH ? v : dot);
		else
			run_nodes(run, node->otherwise, dot);
		break;
	case NODE_RANGE: run_range(run, node, dot); break;
	case NODE_BREAK: run->leave = LEAVE_BREAK; break;
	case NODE_CONTINUE: run->leave = LEAVE_CONTINUE; break;
	}
}

static void run_nodes(struct render *run, const struct node *node, struct value dot)
{
	for (; node && run->leave == LEAVE_NOT && render_step(run, 1); node = node->next) {
		run->at = node->kind == NODE_TEXT ? run->at : node->at;
		run_node(run, node, dot);
		if (run->out->size > TEMPLATE_RESULT_BYTES_MAX)
			render_fail(run, run->at, "the result is longer than %u MiB",
				TEMPLATE_RESULT_BYTES_MAX >> 20);
	}
}

enum template_end template_render(const struct template *t, const struct template_data *data,
	struct bytes_writer *out, struct template_trouble *trouble)
{
	*trouble = (struct template_trouble){0};
	struct render run = {.template = t, .data = data, .out = out, .trouble = trouble};
	run.slots = arena_take(&run.memory, t->slot_count * sizeof run.slots[0]);
	run_nodes(&run, t->nodes, (struct value){0});
	arena_release(&run.memory);
	// What came of values that are not there yet means nothing, a failure included.
	if (run.missing_count > 0) {
		bool more = run.missing_count > RENDER_MISSING_NAMED;
		*trouble = (struct template_trouble){0};
		snprintf(trouble->text, sizeof trouble->text, "Missing: %s", run.missing);
		size_t size = strlen(trouble->text);
		if (more)
			snprintf(trouble->text + size, sizeof trouble->text - size, " and %u more",
				run.missing_count - RENDER_MISSING_NAMED);
		return TEMPLATE_WAITS;
	}
	return run.failed ? TEMPLATE_FAILED : TEMPLATE_RENDERED;
}
