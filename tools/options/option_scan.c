#include "tools/options/option_scan.h"
#include <string.h>

static enum option_event take_option(struct option_scan *s, const struct option_syntax *syntax)
{
	const char *equals = strchr(s->name, '=');
	size_t size = equals ? (size_t)(equals - s->name) : strlen(s->name);
	struct option_match match = {0};
	enum option_event found = syntax->find(syntax->context, s->name, size, &match);
	s->number = match.number;
	s->value = equals ? equals + 1 : NULL;
	if (found != OPTION_GIVEN)
		return found;
	if (!match.takes_value)
		return equals ? OPTION_TAKES_NONE : OPTION_GIVEN;
	if (!equals)
		s->value = *s->next;
	if (!s->value)
		return OPTION_NEEDS_VALUE;
	s->next += !equals;
	return OPTION_GIVEN;
}

enum option_event option_next(struct option_scan *s, const struct option_syntax *syntax)
{
	if (!*s->next)
		return OPTION_END;
	s->word = s->name = *s->next++;
	s->value = NULL;
	bool is_option = s->word[0] == '-' && s->word[1] && !s->has_ended;
	if (!is_option) {
		s->has_ended |= syntax->ends_at_argument;
		return OPTION_ARGUMENT;
	}
	if (syntax->ends_with_dashes && strcmp(s->word, "--") == 0) {
		s->has_ended = true;
		return option_next(s, syntax);
	}
	if (syntax->has_one_dash) {
		s->name += strspn(s->word, "-");
		return take_option(s, syntax);
	}
	s->name += s->word[1] == '-' ? 2 : 1;
	return s->word[1] == '-' ? take_option(s, syntax) : OPTION_OF_ONE_DASH;
}
