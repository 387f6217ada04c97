// From a text to its tree.
#include "tools/hcl2/build.h"
#include "tools/hcl2/grammar.h"
#include "tools/hcl2/values.h"

struct hcl2_range token_range(const struct tokens *tokens, const struct token *token)
{
	return (struct hcl2_range){tokens->source, token->from, token->to};
}

void tokens_add(struct tokens *tokens, int kind, uint32_t from, uint32_t to)
{
	if (tokens->count == tokens->room) {
		uint32_t room = 2 * tokens->room + 64;
		struct token *wider = hcl2_take(tokens->run, room * sizeof *wider);
		if (tokens->count)
			memcpy(wider, tokens->rows, tokens->count * sizeof *wider);
		tokens->rows = wider;
		tokens->room = room;
	}
	tokens->rows[tokens->count++] = (struct token){.kind = kind,
		.from = from,
		.to = to,
		.text = {tokens->source->text.data + from, to - from}};
}

static const char *complaint_about(const struct tokens *tokens, const struct token *token)
{
	switch (token->kind) {
	case SCANNED_BAD_TEXT: return "This is not UTF-8 text.";
	case SCANNED_BAD_OPERATOR: return "There are no operators of bits; did you mean && or ||?";
	case SCANNED_OPEN_COMMENT: return "The comment has no end.";
	case SCANNED_BAD_NEWLINE:
		return "A quoted string may not have several lines: write \\n, or the text between "
		       "<<EOT and EOT.";
	case SCANNED_BAD_CHARACTER: break;
	default: return NULL;
	}
	if (text_equal(token->text, TEXT("'")))
		return "Single quotes are not valid; use double quotes around strings.";
	if (text_equal(token->text, TEXT(";")))
		return "Semicolons are not valid; use a new line.";
	return "This character is no part of the language.";
}

// Words that no grammar knows. Returns whether there are none.
static bool tokens_are_valid(const struct tokens *tokens)
{
	uint32_t before = tokens->run->mistake_count;
	for (uint32_t i = 0; i < tokens->count && tokens->run->mistake_count < before + 4; i++) {
		const char *complaint = complaint_about(tokens, &tokens->rows[i]);
		if (complaint)
			hcl2_mistake(tokens->run, token_range(tokens, &tokens->rows[i]), "%s",
				complaint);
	}
	return tokens->run->mistake_count == before;
}

static bool parse_source(
	struct hcl2_run *run, struct feed *feed, const char *name, struct text text)
{
	struct hcl2_source *source = hcl2_take(run, sizeof *source);
	source->name = hcl2_print(run, "%s", name);
	source->text = hcl2_copy(run, text);
	feed->run = feed->tokens.run = run;
	feed->tokens.source = source;
	if (text.size > HCL2_TEXT_BYTES_MAX)
		return hcl2_mistake(run, (struct hcl2_range){source, 0, 0},
			"The text has more than %u bytes.", HCL2_TEXT_BYTES_MAX);
	if (!tokens_scan(&feed->tokens) || !tokens_are_valid(&feed->tokens))
		return false;
	feed->contexts = hcl2_take(run, 16 * sizeof *feed->contexts);
	feed->room = 16;
	feed->contexts[0].at_item = feed->start == T_START_FILE;
	if (feed->start == T_START_EXPRESSION)
		feed->contexts[0].kind = FEED_GROUP;
	bool fine = tokens_unescape(&feed->tokens);
	return yyparse(feed) == 0 && !feed->failed && fine;
}

struct hcl2_body *hcl2_parse(struct hcl2_run *run, const char *name, struct text text)
{
	struct feed feed = {.start = T_START_FILE};
	return parse_source(run, &feed, name, text) ? feed.file : NULL;
}

const struct hcl2_node *hcl2_parse_expression(
	struct hcl2_run *run, const char *name, struct text text)
{
	struct feed feed = {.start = T_START_EXPRESSION};
	return parse_source(run, &feed, name, text) ? feed.expression : NULL;
}

struct hcl2_range hcl2_range(const struct hcl2_node *node)
{
	return (struct hcl2_range){node->source, node->from, node->to};
}

struct hcl2_range hcl2_start_range(const struct hcl2_node *node)
{
	return (struct hcl2_range){node->source, node->start_from, node->start_to};
}

bool hcl2_is_object_literal(const struct hcl2_node *node)
{
	return node->kind == NODE_OBJECT;
}

const struct hcl2_node *const *hcl2_list_literal(const struct hcl2_node *node, uint32_t *count)
{
	*count = node->count;
	if (node->kind != NODE_TUPLE)
		return NULL;
	return node->count ? node->inside : (const struct hcl2_node *const *)&node->inside;
}

bool hcl2_is_name(struct text text)
{
	struct hcl2_run run;
	struct hcl2_source source = {.name = "", .text = text};
	struct tokens tokens = {.run = &run, .source = &source};
	hcl2_run_begin(&run);
	bool is_name = text.size < HCL2_TEXT_BYTES_MAX && tokens_scan(&tokens) &&
		       tokens.count == 2 && tokens.rows[0].kind == T_NAME &&
		       tokens.rows[0].to == text.size;
	hcl2_run_end(&run);
	return is_name;
}
