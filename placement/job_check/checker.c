#include "placement/job_check/checker.h"
#include "state/base/log.h"
#include <stdarg.h>
#include <stdio.h>

#define SENTENCE_BYTES 1024u
#define QUOTED_BYTES 96u

static int sentence_place(const struct checker *c, char *sentence)
{
	char group[QUOTED_BYTES], task[QUOTED_BYTES];
	if (!c->group)
		return 0;
	log_quote(c->group->name ? c->group->name : "", group, sizeof group);
	if (!c->task)
		return snprintf(sentence, SENTENCE_BYTES, "group %s: ", group);
	log_quote(c->task->name ? c->task->name : "", task, sizeof task);
	return snprintf(sentence, SENTENCE_BYTES, "group %s task %s: ", group, task);
}

void checker_mistake(struct checker *c, const char *format, ...)
{
	char sentence[SENTENCE_BYTES];
	int at = sentence_place(c, sentence);
	va_list values;
	va_start(values, format);
	vsnprintf(sentence + at, sizeof sentence - (size_t)at, format, values);
	va_end(values);
	c->mistakes++;
	c->tell(sentence, c->context);
}

bool checker_allow_part(struct checker *c, enum job_part part, const char *what)
{
	if (c->allowed & part)
		return true;
	checker_mistake(
		c, "%s not allowed for jobs of type \"%s\"", what, job_type_names[c->job->type]);
	return false;
}

bool checker_at_least(struct checker *c, const char *field, int64_t value, int64_t least)
{
	if (value >= least)
		return true;
	checker_mistake(c, "%s is %ld but must be at least %ld", field, (long)value, (long)least);
	return false;
}

uint32_t checker_at_most(struct checker *c, const char *what, uint32_t count, uint32_t most)
{
	if (count <= most)
		return count;
	checker_mistake(c, "there are %u %s, more than the %u that are allowed", count, what, most);
	return most;
}

bool checker_one_of(
	struct checker *c, const char *field, const char *value, const char *const *names)
{
	char known[256] = "", quoted[QUOTED_BYTES];
	size_t at = 0;
	for (; *names; names++) {
		if (strcmp(value ? value : "", *names) == 0)
			return true;
		at += (size_t)snprintf(
			known + at, sizeof known - at, "%s\"%s\"", at > 0 ? ", " : "", *names);
	}
	checker_mistake(c, "%s %s is not known; it must be one of %s", field,
		log_quote(value ? value : "", quoted, sizeof quoted), known);
	return false;
}

bool checker_name(struct checker *c, const char *what, const char *name, uint32_t bytes_most)
{
	char quoted[QUOTED_BYTES];
	struct text text = text_of(name);
	if (text.size == 0)
		checker_mistake(c, "%s is missing", what);
	else if (text.size > bytes_most)
		checker_mistake(c, "%s has %u bytes, more than the %u that are allowed", what,
			text.size, bytes_most);
	else if (!text_is_printable(text))
		checker_mistake(c, "%s %s is not printable UTF-8", what,
			log_quote(name, quoted, sizeof quoted));
	else
		return true;
	return false;
}
