#include "tools/options/flags.h"
#include "tools/options/option_scan.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_help(const struct flags *flags)
{
	printf("%s\n", flags->usage);
	for (uint32_t i = 0; i < flags->count; i++) {
		const struct flag *flag = &flags->table[i];
		char left[80];
		snprintf(left, sizeof left, "--%s%s%s", flag->name, flag->argument ? "=" : "",
			flag->argument ? flag->argument : "");
		printf("  %-34s %s\n", left, flag->help);
	}
	printf("  %-34s %s\n  %-34s %s\n%s", "--help", "print this and exit", "--version",
		"print the version and exit", flags->notes);
}

static bool refuse_value(
	const struct flags *flags, const struct flag *flag, const char *wants, const char *value)
{
	fprintf(stderr, "%s: --%s wants %s, not \"%s\"\n", flags->program, flag->name, wants,
		value);
	return false;
}

static bool set_whole(const struct flags *flags, const struct flag *flag, const char *value,
	uint64_t most, uint64_t *number)
{
	char *end, wants[64];
	errno = 0;
	*number = strtoull(value, &end, 10);
	if (isdigit((unsigned char)*value) && *end == '\0' && !errno && *number <= most)
		return true;
	snprintf(wants, sizeof wants, "a number from 0 to %lu", (unsigned long)most);
	return refuse_value(flags, flag, wants, value);
}

static bool set_real(
	const struct flags *flags, const struct flag *flag, const char *value, double *number)
{
	char *end;
	*number = strtod(value, &end);
	if (end != value && *end == '\0' && isfinite(*number) && *number >= 0)
		return true;
	return refuse_value(flags, flag, "a number that is not negative", value);
}

static bool add_item(const struct flags *flags, const struct flag *flag, const char *value,
	struct flag_list *list)
{
	if (list->count == FLAG_LIST_MAX)
		return refuse_value(flags, flag, "to be given at most 64 times", value);
	list->items[list->count++] = value;
	return true;
}

static bool set_flag(
	const struct flags *flags, const struct flag *flag, const char *value, void *options)
{
	void *target = (char *)options + flag->offset;
	uint64_t number;
	switch (flag->kind) {
	case FLAG_TEXT: *(const char **)target = value; return true;
	case FLAG_SWITCH: *(bool *)target = true; return true;
	case FLAG_REAL: return set_real(flags, flag, value, target);
	case FLAG_LIST: return add_item(flags, flag, value, target);
	case FLAG_U64: return set_whole(flags, flag, value, UINT64_MAX, target);
	case FLAG_U32:
		if (!set_whole(flags, flag, value, UINT32_MAX, &number))
			return false;
		*(uint32_t *)target = (uint32_t)number;
		return true;
	}
	return false;
}

static bool read_environment(const struct flags *flags, void *options)
{
	for (uint32_t i = 0; flags->environment && i < flags->count; i++) {
		const struct flag *flag = &flags->table[i];
		char name[80];
		int at = snprintf(name, sizeof name, "%s%s", flags->environment, flag->name);
		for (char *c = name; c < name + at; c++)
			*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
		const char *value = getenv(name);
		if (!value || (flag->kind == FLAG_SWITCH && strcmp(value, "1") != 0))
			continue;
		if (!set_flag(flags, flag, value, options))
			return false;
	}
	return true;
}

// --help and --version follow the options of the table.
static const char *name_at(const struct flags *flags, uint32_t i)
{
	return i < flags->count ? flags->table[i].name : i == flags->count ? "help" : "version";
}

// A name may be shortened as long as only one option begins with it.
static enum option_event find_flag(
	const void *context, const char *name, size_t size, struct option_match *match)
{
	const struct flags *flags = context;
	uint32_t beginning = 0;
	for (uint32_t i = 0; i < flags->count + 2; i++) {
		const char *known = name_at(flags, i);
		if (strncmp(known, name, size) != 0)
			continue;
		*match =
			(struct option_match){(int)i, i < flags->count && flags->table[i].argument};
		if (strlen(known) == size)
			return OPTION_GIVEN;
		beginning++;
	}
	return beginning == 0 ? OPTION_UNKNOWN : beginning > 1 ? OPTION_AMBIGUOUS : OPTION_GIVEN;
}

static void print_possible(const struct flags *flags, const char *name)
{
	fprintf(stderr, "%s: option '--%s' is ambiguous; possibilities:", flags->program, name);
	for (uint32_t i = 0; i < flags->count + 2; i++)
		if (strncmp(name_at(flags, i), name, strcspn(name, "=")) == 0)
			fprintf(stderr, " '--%s'", name_at(flags, i));
	fputc('\n', stderr);
}

static enum flags_result refuse_option(
	const struct flags *flags, const struct option_scan *s, enum option_event event)
{
	const char *program = flags->program;
	if (event == OPTION_UNKNOWN)
		fprintf(stderr, "%s: unrecognized option '%s'\n", program, s->word);
	else if (event == OPTION_AMBIGUOUS)
		print_possible(flags, s->name);
	else if (event == OPTION_OF_ONE_DASH)
		fprintf(stderr, "%s: invalid option -- '%c'\n", program, *s->name);
	else
		fprintf(stderr, "%s: option '--%s' %s\n", program,
			name_at(flags, (uint32_t)s->number),
			event == OPTION_NEEDS_VALUE ? "requires an argument"
						    : "doesn't allow an argument");
	return FLAGS_WRONG;
}

static enum flags_result tell_help(const struct flags *flags, bool is_version)
{
	if (is_version)
		printf("%s %s\n", flags->program, BERTH_VERSION);
	else
		print_help(flags);
	return FLAGS_DONE;
}

static enum flags_result take_option(const struct flags *flags, const struct option_scan *s,
	enum option_event event, void *options)
{
	if (event == OPTION_OF_ONE_DASH && (*s->name == 'h' || *s->name == 'V'))
		return tell_help(flags, *s->name == 'V');
	if (event != OPTION_GIVEN)
		return refuse_option(flags, s, event);
	if (s->number >= (int)flags->count)
		return tell_help(flags, s->number > (int)flags->count);
	return set_flag(flags, &flags->table[s->number], s->value, options) ? FLAGS_READ
									    : FLAGS_WRONG;
}

enum flags_result flags_read(const struct flags *flags, int argc, char **argv, void *options)
{
	const struct option_syntax syntax = {
		.find = find_flag, .context = flags, .ends_with_dashes = true};
	struct option_scan scan = {.next = (const char *const *)argv + (argc > 0)};
	const char *stray = NULL;
	enum option_event event;
	if (!read_environment(flags, options))
		return FLAGS_WRONG;
	while ((event = option_next(&scan, &syntax)) != OPTION_END) {
		if (event == OPTION_ARGUMENT) {
			stray = stray ? stray : scan.word;
			continue;
		}
		enum flags_result result = take_option(flags, &scan, event, options);
		if (result != FLAGS_READ)
			return result;
	}
	if (!stray)
		return FLAGS_READ;
	fprintf(stderr, "%s: unexpected argument \"%s\"; see --help\n", flags->program, stray);
	return FLAGS_WRONG;
}
