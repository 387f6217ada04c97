// From tokens to a tree, by recursive descent.
#include "state/base/memory.h"
#include "tools/template/functions.h"
#include "tools/template/scan.h"
#include <stdlib.h>

// Variables that can be seen at one place.
#define VARIABLES_MAX 256u
#define FIELDS_MAX 32u
#define ARGUMENTS_MAX 256u

struct parser {
	struct scanner scanner;
	struct template *template;
	struct token token; // that comes next
	uint32_t closed_at; // the newest else or end
	uint32_t depth, loops;
	struct {
		struct text name;
		uint32_t slot;
	} seen[VARIABLES_MAX];
	uint32_t seen_count;
};

static void *take(struct parser *p, size_t bytes)
{
	return arena_take(&p->template->memory, bytes);
}

static void next_token(struct parser *p)
{
	p->token = scan_token(&p->scanner);
}

static bool is_keyword(const struct parser *p, const char *word)
{
	return p->token.kind == TOKEN_NAME && text_equal(p->token.text, text_of(word));
}

#define parse_fail(p, at, ...) scan_fail(&(p)->scanner, at, __VA_ARGS__)

static bool descend(struct parser *p, uint32_t at)
{
	if (p->depth++ < TEMPLATE_DEPTH_MAX)
		return true;
	parse_fail(
		p, at, "blocks and parentheses are nested more than %u deep", TEMPLATE_DEPTH_MAX);
	return false;
}

static uint32_t declare_variable(struct parser *p, struct text name, uint32_t at)
{
	if (p->seen_count == VARIABLES_MAX) {
		parse_fail(p, at, "more than %u variables are seen here", VARIABLES_MAX);
		return 0;
	}
	p->seen[p->seen_count].name = name;
	p->seen[p->seen_count].slot = p->template->slot_count;
	p->seen_count++;
	return p->template->slot_count++;
}

static uint32_t find_seen(struct parser *p, struct text name, uint32_t at)
{
	for (uint32_t i = p->seen_count; i-- > 0;)
		if (text_equal(p->seen[i].name, name))
			return p->seen[i].slot;
	parse_fail(p, at, "undefined variable \"$%.*s\"", (int)name.size, name.data);
	return 0;
}

static struct pipe *parse_pipe(struct parser *p, bool is_range);

// Fields that follow without a blank: .a.b
static void parse_fields(struct parser *p, struct operand *o)
{
	struct text fields[FIELDS_MAX];
	uint32_t count = o->field_count;

	if (count)
		fields[0] = o->fields[0];
	while (p->token.kind == TOKEN_FIELD && !p->token.after_space) {
		if (count == FIELDS_MAX) {
			parse_fail(p, p->token.at, "more than %u fields in a row", FIELDS_MAX);
			return;
		}
		fields[count++] = p->token.text;
		next_token(p);
	}
	struct text *kept = take(p, count * sizeof *kept);
	if (count)
		memcpy(kept, fields, count * sizeof *kept);
	o->fields = kept;
	o->field_count = count;
}

static void parse_parentheses(struct parser *p, struct operand *o)
{
	o->kind = OPERAND_PIPE;
	if (!descend(p, o->at))
		return;
	next_token(p);
	o->pipe = parse_pipe(p, false);
	p->depth--;
	if (p->token.kind != TOKEN_CLOSE)
		parse_fail(p, o->at, "this parenthesis is not closed");
	else
		next_token(p);
}

static void parse_function(struct parser *p, struct operand *o)
{
	static const char *const words[] = {"if", "with", "range", "else", "end", "define", "block",
		"template", "break", "continue", NULL};
	const struct function *f = function_of_name(p->token.text);
	struct text name = p->token.text;

	o->kind = OPERAND_FUNCTION;
	o->function = f;
	for (const char *const *word = words; *word; word++)
		if (is_keyword(p, *word))
			parse_fail(p, o->at, "\"%s\" cannot stand here", *word);
	if (!f)
		parse_fail(p, o->at, "function \"%.*s\" not defined",
			(int)(name.size < 64 ? name.size : 64), name.data);
	else if (f->refusal)
		parse_fail(p, o->at, "function \"%s\": %s", f->name, f->refusal);
	else
		p->template->reads_variables |= function_reads_variables(f);
	next_token(p);
}

static bool begins_operand(enum token_kind kind)
{
	return kind == TOKEN_NAME || kind == TOKEN_FIELD || kind == TOKEN_DOT ||
	       kind == TOKEN_VARIABLE || kind == TOKEN_CONSTANT || kind == TOKEN_OPEN;
}

static struct operand *parse_operand(struct parser *p)
{
	struct operand *o = take(p, sizeof *o);
	struct token t = p->token;

	o->at = t.at;
	switch (t.kind) {
	case TOKEN_NAME: parse_function(p, o); return o;
	case TOKEN_CONSTANT:
		o->kind = OPERAND_CONSTANT;
		o->constant = t.value;
		next_token(p);
		return o;
	case TOKEN_OPEN: parse_parentheses(p, o); break;
	case TOKEN_VARIABLE:
		o->kind = OPERAND_VARIABLE;
		o->slot = find_seen(p, t.text, t.at);
		next_token(p);
		break;
	case TOKEN_FIELD:
		o->fields = memcpy(take(p, sizeof t.text), &t.text, sizeof t.text);
		o->field_count = 1;
		__attribute__((fallthrough));
	default: o->kind = OPERAND_DOT; next_token(p);
	}
	if (!p->scanner.failed)
		parse_fields(p, o);
	return o;
}

static void check_arguments(struct parser *p, const struct command *c, bool is_piped)
{
	const struct function *f = c->operands->function;
	uint32_t given = c->count - 1 + is_piped;

	if (p->scanner.failed)
		return;
	if (c->operands->kind != OPERAND_FUNCTION) {
		if (given > 0)
			parse_fail(
				p, c->operands->at, "this is no function, and takes no arguments");
		return;
	}
	if (given < f->least || given > f->most)
		parse_fail(p, c->operands->at, "wrong number of args for %s: want %s%u got %u",
			f->name,
			f->least == f->most ? ""
			: given < f->least  ? "at least "
					    : "at most ",
			given < f->least ? f->least : f->most, given);
}

static struct command *parse_command(struct parser *p, bool is_piped)
{
	struct command *c = take(p, sizeof *c);
	struct operand **link = &c->operands;

	if (!begins_operand(p->token.kind)) {
		parse_fail(p, p->token.at, "a value or a function is missing here");
		return c;
	}
	while (begins_operand(p->token.kind) && !p->scanner.failed) {
		if (c->count++ == ARGUMENTS_MAX) {
			parse_fail(p, p->token.at, "more than %u arguments", ARGUMENTS_MAX);
			break;
		}
		*link = parse_operand(p);
		link = &(*link)->next;
	}
	check_arguments(p, c, is_piped);
	return c;
}

// "$x := ", "$x = ", and of a range "$i, $x := ". The names are seen once the values are parsed.
struct names {
	struct text names[2];
	uint32_t at[2];
};

static bool parse_names(struct parser *p, struct pipe *pipe, struct names *n, bool is_range)
{
	struct scanner before = p->scanner;
	struct token first = p->token;

	while (p->token.kind == TOKEN_VARIABLE && pipe->name_count < 2) {
		n->names[pipe->name_count] = p->token.text;
		n->at[pipe->name_count++] = p->token.at;
		next_token(p);
		if (p->token.kind != TOKEN_COMMA || !is_range)
			break;
		next_token(p);
	}
	pipe->declares = p->token.kind == TOKEN_DECLARE;
	if (pipe->name_count > 0 && (pipe->declares || p->token.kind == TOKEN_ASSIGN)) {
		next_token(p);
		return true;
	}
	bool is_mistake = p->scanner.failed;
	if (!is_mistake) { // a value begins with this variable
		p->scanner = before;
		p->token = first;
	}
	pipe->name_count = 0;
	pipe->declares = false;
	return !is_mistake;
}

static struct pipe *parse_pipe(struct parser *p, bool is_range)
{
	struct pipe *pipe = take(p, sizeof *pipe);
	struct command **link = &pipe->commands;
	struct names n;

	pipe->at = p->token.at;
	if (!parse_names(p, pipe, &n, is_range))
		return pipe;
	for (bool is_piped = false; !p->scanner.failed; is_piped = true) {
		*link = parse_command(p, is_piped);
		link = &(*link)->next;
		if (p->token.kind != TOKEN_PIPE)
			break;
		next_token(p);
	}
	for (uint32_t i = 0; i < pipe->name_count && !p->scanner.failed; i++)
		pipe->slots[i] = pipe->declares ? declare_variable(p, n.names[i], n.at[i])
						: find_seen(p, n.names[i], n.at[i]);
	return pipe;
}

// How a list of nodes ended.
enum closing { CLOSED_BY_TEXT, CLOSED_BY_ELSE, CLOSED_BY_END };

static struct node *parse_nodes(struct parser *p, enum closing *closing);

static void expect_end(struct parser *p)
{
	if (p->token.kind != TOKEN_END)
		parse_fail(p, p->token.at, "the action should end here");
}

static void parse_block(struct parser *p, struct node *node);

// What follows {{ else: the block's other body, or another condition.
static void parse_else(struct parser *p, struct node *node)
{
	enum closing closing = CLOSED_BY_TEXT;
	uint32_t at = p->token.at;

	if ((is_keyword(p, "if") && node->kind == NODE_IF) ||
		(is_keyword(p, "with") && node->kind == NODE_WITH)) {
		node->otherwise = take(p, sizeof *node);
		*node->otherwise = (struct node){.kind = node->kind, .at = at};
		next_token(p);
		if (descend(p, at))
			parse_block(p, node->otherwise); // with its end, which is this one's too
		p->depth--;
		return;
	}
	expect_end(p);
	node->otherwise = parse_nodes(p, &closing);
	if (closing == CLOSED_BY_ELSE)
		parse_fail(p, p->closed_at, "a block has a second {{else}}");
	else if (closing != CLOSED_BY_END)
		parse_fail(p, node->at, "this block has no {{end}}");
	expect_end(p);
}

static void parse_block(struct parser *p, struct node *node)
{
	uint32_t seen = p->seen_count;
	enum closing closing = CLOSED_BY_TEXT;

	node->pipe = parse_pipe(p, node->kind == NODE_RANGE);
	expect_end(p);
	p->loops += node->kind == NODE_RANGE;
	if (!p->scanner.failed)
		node->body = parse_nodes(p, &closing);
	p->loops -= node->kind == NODE_RANGE;
	if (closing == CLOSED_BY_ELSE)
		parse_else(p, node);
	else if (closing != CLOSED_BY_END)
		parse_fail(p, node->at, "this block has no {{end}}");
	else
		expect_end(p);
	p->seen_count = seen;
}

static void parse_leave(struct parser *p, struct node *node, enum node_kind kind)
{
	node->kind = kind;
	if (p->loops == 0)
		parse_fail(p, node->at, "{{%s}} outside {{range}}",
			kind == NODE_BREAK ? "break" : "continue");
	next_token(p);
	expect_end(p);
}

// The action whose first token is there.
static void parse_action(struct parser *p, struct node *node)
{
	static const struct {
		const char *word;
		enum node_kind kind;
	} blocks[] = {{"if", NODE_IF}, {"with", NODE_WITH}, {"range", NODE_RANGE}};

	for (uint32_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
		if (!is_keyword(p, blocks[i].word))
			continue;
		node->kind = blocks[i].kind;
		next_token(p);
		if (descend(p, node->at))
			parse_block(p, node);
		p->depth--;
		return;
	}
	if (is_keyword(p, "break") || is_keyword(p, "continue")) {
		parse_leave(p, node, is_keyword(p, "break") ? NODE_BREAK : NODE_CONTINUE);
		return;
	}
	if (is_keyword(p, "define") || is_keyword(p, "template") || is_keyword(p, "block")) {
		parse_fail(p, p->token.at,
			"{{%.*s}}: named templates are not there; write the "
			"text where it is used",
			(int)p->token.text.size, p->token.text.data);
		return;
	}
	node->pipe = parse_pipe(p, false);
	node->kind = node->pipe->name_count ? NODE_SET : NODE_PRINT;
	expect_end(p);
}

static struct node **add_text(struct parser *p, struct node **link, struct text text)
{
	if (text.size == 0)
		return link;
	*link = take(p, sizeof **link);
	**link = (struct node){.kind = NODE_TEXT, .text = text};
	return &(*link)->next;
}

static struct node *parse_nodes(struct parser *p, enum closing *closing)
{
	struct node *first = NULL, **link = &first;

	*closing = CLOSED_BY_TEXT;
	while (!p->scanner.failed) {
		struct text text;
		enum scanned scanned = scan_text(&p->scanner, &text);
		link = add_text(p, link, text);
		if (scanned == SCANNED_LAST)
			break;
		if (scanned == SCANNED_BEFORE_COMMENT)
			continue;
		next_token(p);
		if (is_keyword(p, "end") || is_keyword(p, "else")) {
			*closing = is_keyword(p, "end") ? CLOSED_BY_END : CLOSED_BY_ELSE;
			p->closed_at = p->token.at;
			next_token(p);
			break;
		}
		*link = take(p, sizeof **link);
		(*link)->at = p->token.at;
		parse_action(p, *link);
		link = &(*link)->next;
	}
	return first;
}

static bool parse_all(struct parser *p)
{
	enum closing closing;

	declare_variable(p, TEXT(""), 0); // $
	p->template->nodes = parse_nodes(p, &closing);
	if (closing != CLOSED_BY_TEXT)
		parse_fail(p, p->closed_at, "{{%s}} without a block that it belongs to",
			closing == CLOSED_BY_END ? "end" : "else");
	return !p->scanner.failed;
}

struct template *template_parse(struct text text, const char *left_delimiter,
	const char *right_delimiter, struct template_trouble *trouble)
{
	*trouble = (struct template_trouble){0};
	if (text.size > TEMPLATE_BYTES_MAX) {
		*trouble = (struct template_trouble){1, 1, "the template is longer than 1 MiB"};
		return NULL;
	}
	struct template *t = memory_take(sizeof *t);
	char *copy = arena_take(&t->memory, text.size + 1);
	if (text.size)
		memcpy(copy, text.data, text.size);
	t->text = (struct text){copy, text.size};
	struct parser p = {.template = t,
		.scanner = {.memory = &t->memory,
			.trouble = trouble,
			.text = t->text,
			.left = text_of(*left_delimiter ? left_delimiter : "{{"),
			.right = text_of(*right_delimiter ? right_delimiter : "}}")}};
	if (parse_all(&p))
		return t;
	template_free(t);
	return NULL;
}

void template_free(struct template *t)
{
	if (!t)
		return;
	arena_release(&t->memory);
	free(t);
}

bool template_reads_variables(const struct template *t)
{
	return t->reads_variables;
}
