// What the grammar does not see: newlines within parentheses, words that are keywords in some places only, which braces
// are those of a block.
#include "tools/hcl2/feed.h"
#include "tools/hcl2/grammar.h"

struct hcl2_range feed_range(const struct feed *feed, struct place place)
{
	return (struct hcl2_range){feed->tokens.source, place.from, place.to};
}

static void feed_fail(struct feed *feed, struct place place, const char *sentence)
{
	if (!feed->failed)
		hcl2_mistake(feed->run, feed_range(feed, place), "%s", sentence);
	feed->failed = true;
}

void feed_too_deep(struct feed *feed, struct place place)
{
	feed_fail(feed, place, "This is nested too deep.");
}

void feed_unexpected(struct feed *feed, struct place place, const char *const *expected, int count)
{
	const char *names = "an expression";
	if (feed->contexts[feed->depth].kind == FEED_TEMPLATE)
		names = "the end of the text and of what was opened within it";
	else if (count > 0 && count < 5)
		for (int i = 0; i < count; i++)
			names = i ? hcl2_print(feed->run, "%s%s%s", names,
					    i + 1 < count ? ", " : " or ", expected[i])
				  : hcl2_print(feed->run, "%s", expected[i]);
	feed_fail(
		feed, place, hcl2_print(feed->run, "Invalid syntax: %s is expected here.", names));
}

static struct feed_context *top(struct feed *feed)
{
	return &feed->contexts[feed->depth];
}

static void push(struct feed *feed, enum feed_context_kind kind)
{
	if (feed->depth + 1 >= feed->room) {
		uint32_t room = 2 * feed->room + 16;
		struct feed_context *wider = hcl2_take(feed->run, room * sizeof *wider);
		if (feed->room)
			memcpy(wider, feed->contexts, feed->room * sizeof *wider);
		feed->contexts = wider;
		feed->room = room;
	}
	feed->depth++;
	feed->contexts[feed->depth] = (struct feed_context){
		.kind = kind, .at_item = kind == FEED_BODY || kind == FEED_ONE_LINE};
}

static const struct token *ahead(const struct feed *feed, bool over_newlines)
{
	const struct token *token = &feed->tokens.rows[feed->at];
	while (over_newlines && token->kind == T_NEWLINE)
		token++;
	return token;
}

static bool is_word(const struct token *token, const char *word)
{
	return token->kind == T_NAME && text_equal(token->text, text_of(word));
}

static bool ends_expression(const struct feed *feed)
{
	switch (feed->previous[0]) {
	case T_NAME:
	case T_NUMBER:
	case T_CLOSE_BRACE:
	case T_CLOSE_QUOTE:
	case T_CLOSE_LINES:
	case T_ELLIPSIS:
	case ')':
	case ']': return true;
	case '*': return feed->previous[1] == '.';
	default: return false;
	}
}

static bool is_body(const struct feed_context *context)
{
	return context->kind == FEED_BODY || context->kind == FEED_ONE_LINE;
}

static int open_brace(struct feed *feed)
{
	if (is_body(top(feed)) && !top(feed)->in_value) {
		int next = ahead(feed, false)->kind;
		bool lines = next == T_NEWLINE || next == 0 || next == T_CLOSE_BRACE;
		push(feed, lines ? FEED_BODY : FEED_ONE_LINE);
		return T_BLOCK_BRACE;
	}
	push(feed, is_word(ahead(feed, true), "for") ? FEED_FOR : FEED_OBJECT);
	return T_OBJECT_BRACE;
}

// A for's own words, of which "for" is at its beginning.
static int for_word(struct feed_context *context, const struct token *token)
{
	switch (context->for_part) {
	case 0: context->for_part = 1; return T_FOR;
	case 1: context->for_part = 2; return T_NAME;
	case 3: context->for_part = 4; return T_NAME;
	case 2:
	case 4:
		if (!is_word(token, "in"))
			return T_NAME;
		context->for_part = 5;
		return T_IN;
	default: return T_NAME;
	}
}

// The first word of an argument or a block, which is known by what follows.
static int item_word(struct feed *feed, const struct token *token)
{
	int next = ahead(feed, false)->kind;
	bool one_line = top(feed)->kind == FEED_ONE_LINE;
	top(feed)->at_item = false;
	if (next == '=')
		return T_NAME;
	if (next != T_OPEN_QUOTE && next != SCANNED_BRACE && next != T_NAME) {
		feed_fail(feed, (struct place){token->from, token->to},
			"An argument or block definition is required here: an argument has an "
			"equals "
			"sign, a block has braces.");
		return T_MISTAKE;
	}
	if (!one_line)
		return T_NAME;
	feed_fail(feed, (struct place){token->from, token->to},
		"A block on a single line may have one argument only, and no block inside.");
	return T_MISTAKE;
}

static int name(struct feed *feed, const struct token *token)
{
	struct feed_context *context = top(feed);
	if (is_body(context) && context->at_item)
		return item_word(feed, token);
	if (context->kind == FEED_FOR && context->for_part == 5 && ends_expression(feed) &&
		is_word(token, "if"))
		return T_IF;
	if (context->kind == FEED_FOR || context->for_part)
		return for_word(context, token);
	return T_NAME;
}

// "%{" and its word are one.
static int control(struct feed *feed, struct place *place)
{
	static const struct {
		const char *word;
		int kind;
	} words[] = {{"if", T_CONTROL_IF}, {"else", T_CONTROL_ELSE}, {"endif", T_CONTROL_ENDIF},
		{"for", T_CONTROL_FOR}, {"endfor", T_CONTROL_ENDFOR}};
	const struct token *token = ahead(feed, true);
	push(feed, FEED_GROUP);
	for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (is_word(token, words[i].word)) {
			feed->at = (uint32_t)(token - feed->tokens.rows) + 1;
			place->to = token->to;
			top(feed)->for_part = words[i].kind == T_CONTROL_FOR;
			return words[i].kind;
		}
	feed_fail(feed, (struct place){token->from, token->to},
		"A template's directive is if, else, endif, for or endfor.");
	return T_MISTAKE;
}

static int other(struct feed *feed, const struct token *token, struct place *place)
{
	switch (token->kind) {
	case SCANNED_BRACE: return open_brace(feed);
	case T_NAME: return name(feed, token);
	case T_CONTROL: return control(feed, place);
	case '[':
		push(feed, !ends_expression(feed) && is_word(ahead(feed, true), "for")
				   ? FEED_FOR
				   : FEED_GROUP);
		break;
	case '(':
	case T_INTERPOLATION: push(feed, FEED_GROUP); break;
	case T_OPEN_QUOTE:
	case T_OPEN_LINES: push(feed, FEED_TEMPLATE); break;
	case ')':
	case ']':
	case T_CLOSE_BRACE:
	case T_SEQUENCE_END:
	case T_CLOSE_QUOTE:
	case T_CLOSE_LINES: feed->depth -= feed->depth > 0; break;
	case ',':
		if (top(feed)->for_part == 2)
			top(feed)->for_part = 3;
		break;
	default: break;
	}
	return token->kind;
}

static int body_token(struct feed *feed, const struct token *token)
{
	struct feed_context *context = top(feed);
	struct place place = {token->from, token->to};
	if (token->kind == T_NEWLINE) {
		context->in_value = false;
		context->at_item = context->kind == FEED_BODY;
	} else if (context->at_item && token->kind == T_OPEN_QUOTE) {
		feed_fail(feed, place, "Argument names must not be quoted.");
	} else if (context->at_item && token->kind != T_NAME && token->kind != T_CLOSE_BRACE) {
		feed_fail(feed, place, "An argument or block definition is required here.");
	} else if (token->kind == '=') {
		context->in_value = true;
	}
	return feed->failed ? T_MISTAKE : token->kind;
}

// Before the end of a text is the end of a line.
static bool adds_newline(struct feed *feed, const struct token *token)
{
	if (token->kind != 0 || feed->newline_added || !is_body(top(feed)) ||
		(top(feed)->at_item && feed->depth > 0))
		return false;
	feed->newline_added = true;
	top(feed)->at_item = false;
	return true;
}

int feed_next(struct feed *feed, union meaning *meaning, struct place *place)
{
	const struct token *token = ahead(feed, false);
	int kind = feed->start;
	feed->start = 0;
	if (kind) {
		*place = (struct place){token->from, token->from};
		return kind;
	}
	while (token->kind == T_NEWLINE &&
		(top(feed)->kind == FEED_GROUP || top(feed)->kind == FEED_FOR))
		token++;
	*place = (struct place){token->from, token->to};
	*(struct text *)meaning = token->text;
	if (feed->failed)
		return T_MISTAKE;
	if (adds_newline(feed, token))
		return T_NEWLINE;
	if (token->kind == 0)
		return !is_body(top(feed)) || feed->depth == 0 ? 0 : body_token(feed, token);
	feed->at = (uint32_t)(token - feed->tokens.rows) + 1;
	if (is_body(top(feed)) && body_token(feed, token) == T_MISTAKE)
		return T_MISTAKE;
	kind = other(feed, token, place);
	feed->previous[1] = feed->previous[0];
	feed->previous[0] = kind;
	return kind;
}
