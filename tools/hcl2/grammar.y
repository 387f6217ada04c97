// The grammar of the language. Names become keywords, braces those of blocks or of objects, and newlines are left out
// where they mean nothing, before the grammar sees them (feed.c).
%define api.pure full
%define api.token.prefix {T_}
%define api.location.type {struct place}
%define api.value.type {union meaning}
%define parse.error custom
%locations
%param {struct feed *feed}

%code requires {
#include "tools/hcl2/build.h"
#include "tools/hcl2/feed.h"
}

%code {
#define YYMAXDEPTH 20000
#define YYLLOC_DEFAULT(current, rhs, n)                                    \
	do {                                                               \
		(current).from = (n) ? YYRHSLOC(rhs, 1).from : YYRHSLOC(rhs, 0).to; \
		(current).to = (n) ? YYRHSLOC(rhs, n).to : YYRHSLOC(rhs, 0).to;     \
	} while (0)

static int yylex(union meaning *meaning, struct place *place, struct feed *feed)
{
	return feed_next(feed, meaning, place);
}

static void yyerror(const struct place *place, struct feed *feed, const char *message)
{
	feed_too_deep(feed, *place);
}
}

%token NEWLINE "a new line"
%token <text> NAME "a name"
%token NUMBER "a number"
%token <text> TEXT "text"
%token OPEN_QUOTE "a quoted string"
%token CLOSE_QUOTE "a closing quote"
%token OPEN_LINES "a text of several lines"
%token CLOSE_LINES "the mark that ends the text"
%token INTERPOLATION "${"
%token SEQUENCE_END "the template's }"
%token CONTROL "%{"
%token BLOCK_BRACE "{"
%token OBJECT_BRACE "an object"
%token CLOSE_BRACE "}"
%token EQUAL "==" NOT_EQUAL "!=" AT_LEAST ">=" AT_MOST "<=" AND "&&" OR "||"
%token ELLIPSIS "..." ARROW "=>"
%token FOR "for" IN "in" IF "if"
%token CONTROL_IF "%{ if" CONTROL_ELSE "%{ else" CONTROL_ENDIF "%{ endif"
%token CONTROL_FOR "%{ for" CONTROL_ENDFOR "%{ endfor"
%token MISTAKE "a mistake"
%token START_FILE "a file" START_EXPRESSION "an expression"

%left OR
%left AND
%left EQUAL NOT_EQUAL
%left '<' '>' AT_LEAST AT_MOST
%left '+' '-'
%left '*' '/' '%'

%type <body> body block_content
%type <attribute> attribute
%type <block> block
%type <labels> labels
%type <node> expression operation unary postfix term call arguments argument_list
%type <node> list elements object members member template parts part for_clause for_result
%type <text> label_text
%type <names> for_names

%%

document: START_FILE body { feed->file = build_finish_body(feed, $body); }
	| START_EXPRESSION newlines expression newlines { feed->expression = $expression; }
	;

newlines: %empty
	| newlines NEWLINE
	;

body: %empty { $$ = build_body(feed, @$); }
	| body NEWLINE { $$ = $1; }
	| body attribute NEWLINE {
		$$ = build_attribute(feed, $1, $attribute);
	}
	| body block NEWLINE { $$ = build_block(feed, $1, $block); }
	;

attribute: NAME '=' expression { $$ = build_argument(feed, $NAME, @NAME, @$, $expression); }
	;

block: NAME labels BLOCK_BRACE block_content CLOSE_BRACE {
		$$ = build_new_block(feed, $NAME, @NAME, $labels, $block_content);
		build_block_places($$, @labels, @BLOCK_BRACE);
	}
	;

labels: %empty { $$ = (struct labels){0}; }
	| labels NAME { $$ = build_label(feed, $1, $NAME, @NAME); }
	| labels OPEN_QUOTE label_text CLOSE_QUOTE {
		$$ = build_label(feed, $1, $label_text,
			(struct place){@OPEN_QUOTE.from, @CLOSE_QUOTE.to});
	}
	;

label_text: %empty { $$ = (struct text){"", 0}; }
	| label_text TEXT { $$ = build_joined(feed, $1, $TEXT); }
	;

// One argument may stand on the line of the braces; more, and blocks, have lines of their own.
block_content: %empty { $$ = build_body(feed, @$); }
	| NEWLINE body { $$ = build_finish_body(feed, $body); }
	| attribute {
		$$ = build_attribute(feed, build_body(feed, @$), $attribute);
	}
	;

expression: operation
	| operation '?' expression ':' expression {
		$$ = build_conditional(feed, $1, $3, $5);
	}
	;

operation: unary
	| operation OR operation { $$ = build_binary(feed, T_OR, $1, $3); }
	| operation AND operation { $$ = build_binary(feed, T_AND, $1, $3); }
	| operation EQUAL operation { $$ = build_binary(feed, T_EQUAL, $1, $3); }
	| operation NOT_EQUAL operation { $$ = build_binary(feed, T_NOT_EQUAL, $1, $3); }
	| operation '<' operation { $$ = build_binary(feed, '<', $1, $3); }
	| operation '>' operation { $$ = build_binary(feed, '>', $1, $3); }
	| operation AT_LEAST operation { $$ = build_binary(feed, T_AT_LEAST, $1, $3); }
	| operation AT_MOST operation { $$ = build_binary(feed, T_AT_MOST, $1, $3); }
	| operation '+' operation { $$ = build_binary(feed, '+', $1, $3); }
	| operation '-' operation { $$ = build_binary(feed, '-', $1, $3); }
	| operation '*' operation { $$ = build_binary(feed, '*', $1, $3); }
	| operation '/' operation { $$ = build_binary(feed, '/', $1, $3); }
	| operation '%' operation { $$ = build_binary(feed, '%', $1, $3); }
	;

unary: postfix
	| '-' unary { $$ = build_unary(feed, '-', @1, $2); }
	| '!' unary { $$ = build_unary(feed, '!', @1, $2); }
	;

postfix: term
	| postfix '.' NAME { $$ = build_name_step(feed, $1, $NAME, @2, @3); }
	| postfix '.' NUMBER { $$ = build_number_step(feed, $1, @2, @3); }
	| postfix '.' '*' { $$ = build_splat(feed, $1, true, @2, @3); }
	| postfix '[' '*' ']' { $$ = build_splat(feed, $1, false, @2, @4); }
	| postfix '[' expression ']' { $$ = build_index(feed, $1, $3, @2, @4); }
	;

term: NUMBER { $$ = build_number(feed, @1); }
	| NAME { $$ = build_name(feed, $NAME, @NAME); }
	| call
	| '(' expression ')' { $$ = build_parentheses(feed, $2, @$); }
	| list
	| object
	| OPEN_QUOTE template CLOSE_QUOTE { $$ = build_template(feed, $template, @$); }
	| OPEN_LINES template CLOSE_LINES { $$ = build_template(feed, $template, @$); }
	;

call: NAME '(' arguments ')' {
		$$ = build_call(feed, $NAME, @NAME, @2, $arguments, @4);
	}
	;

arguments: %empty { $$ = build_empty(feed, NODE_CALL); }
	| argument_list
	| argument_list ','
	| argument_list ELLIPSIS { $$ = build_spread(feed, $1); }
	;

argument_list: expression { $$ = build_add(feed, build_empty(feed, NODE_CALL), $1); }
	| argument_list ',' expression { $$ = build_add(feed, $1, $3); }
	;

list: '[' ']' { $$ = build_tuple(feed, build_empty(feed, NODE_TUPLE), @1, @2); }
	| '[' elements ']' { $$ = build_tuple(feed, $elements, @1, @3); }
	| '[' elements ',' ']' { $$ = build_tuple(feed, $elements, @1, @4); }
	| '[' for_clause ']' { $$ = build_for(feed, $for_clause, false, @1, @3); }
	;

elements: expression { $$ = build_add(feed, build_empty(feed, NODE_TUPLE), $1); }
	| elements ',' expression { $$ = build_add(feed, $1, $3); }
	;

object: OBJECT_BRACE newlines CLOSE_BRACE { $$ = build_object(feed, build_empty(feed, NODE_OBJECT), @$); }
	| OBJECT_BRACE newlines members CLOSE_BRACE { $$ = build_object(feed, $members, @$); }
	| OBJECT_BRACE newlines members separator CLOSE_BRACE { $$ = build_object(feed, $members, @$); }
	| OBJECT_BRACE for_clause CLOSE_BRACE { $$ = build_for(feed, $for_clause, true, @1, @3); }
	;

members: member
	| members separator member { $$ = build_add_all(feed, $1, $3); }
	;

member: expression sign expression { $$ = build_member(feed, $1, $3); }
	;

sign: '=' | ':'
	;

separator: ',' newlines
	| NEWLINE newlines
	;

for_clause: FOR for_names IN expression ':' for_result for_condition {
		$$ = build_for_clause(feed, $for_names, $4, $for_result, feed->condition);
	}
	;

for_condition: %empty { feed->condition = NULL; }
	| IF expression { feed->condition = $2; }
	;

for_names: NAME { $$ = (struct names){.value = $1}; }
	| NAME ',' NAME { $$ = (struct names){.key = $1, .value = $3}; }
	;

for_result: expression { $$ = build_for_result(feed, NULL, $1, NULL); }
	| expression ELLIPSIS { $$ = build_for_result(feed, NULL, $1, &@2); }
	| expression ARROW expression { $$ = build_for_result(feed, $1, $3, NULL); }
	| expression ARROW expression ELLIPSIS { $$ = build_for_result(feed, $1, $3, &@4); }
	;

template: parts
	;

parts: %empty { $$ = build_parts(feed, @$); }
	| parts part { $$ = build_add(feed, $1, $2); }
	;

part: TEXT { $$ = build_text(feed, $TEXT, @TEXT); }
	| INTERPOLATION expression SEQUENCE_END { $$ = build_interpolation(feed, $2, @1, @3); }
	| CONTROL_IF expression SEQUENCE_END parts CONTROL_ENDIF SEQUENCE_END {
		$$ = build_if(feed, @$, $2, $4, NULL);
	}
	| CONTROL_IF expression SEQUENCE_END parts CONTROL_ELSE SEQUENCE_END parts CONTROL_ENDIF SEQUENCE_END {
		$$ = build_if(feed, @$, $2, $4, $7);
	}
	| CONTROL_FOR for_names IN expression SEQUENCE_END parts CONTROL_ENDFOR SEQUENCE_END {
		$$ = build_template_for(feed, @$, $for_names, $4, $6);
	}
	;

%%

static int yyreport_syntax_error(const yypcontext_t *context, struct feed *feed)
{
	yysymbol_kind_t expected[5];
	int count = yypcontext_expected_tokens(context, expected, 5);
	const char *names[5];
	for (int i = 0; i < count; i++)
		names[i] = yysymbol_name(expected[i]);
	feed_unexpected(feed, *yypcontext_location(context), names, count > 0 ? count : 0);
	return 0;
}
