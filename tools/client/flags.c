#include "tools/client/flags.h"
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLAGS_MAX 64u

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

static bool complain(
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
	return complain(flags, flag, wants, value);
}

static bool set_real(
	const struct flags *flags, const struct flag *flag, const char *value, double *number)
{
	char *end;
	*number = strtod(value, &end);
	if (end != value && *end == '\0' && isfinite(*number) && *number >= 0)
		return true;
	return complain(flags, flag, "a number that is not negative", value);
}

static bool add_item(const struct flags *flags, const struct flag *flag, const char *value,
	struct flag_list *list)
{
	if (list->count == FLAG_LIST_MAX)
		return complain(flags, flag, "to be given at most 64 times", value);
	list->items[list->count++] = value;
	return true;
}

static bool set(
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
		if (!set(flags, flag, value, options))
			return false;
	}
	return true;
}

enum flags_result flags_read(const struct flags *flags, int argc, char **argv, void *options)
{
	struct option long_options[FLAGS_MAX + 3] = {0};
	for (uint32_t i = 0; i < flags->count && i < FLAGS_MAX; i++)
		long_options[i] = (struct option){flags->table[i].name,
			flags->table[i].argument ? required_argument : no_argument, NULL,
			(int)(1000 + i)};
	long_options[flags->count] = (struct option){"help", no_argument, NULL, 'h'};
	long_options[flags->count + 1] = (struct option){"version", no_argument, NULL, 'V'};
	if (!read_environment(flags, options))
		return FLAGS_WRONG;
	optind = 0; // from the start, also when called again
	for (int c; (c = getopt_long(argc, argv, "hV", long_options, NULL)) != -1;) {
		if (c == 'h')
			print_help(flags);
		if (c == 'V')
			printf("%s %s\n", flags->program, BERTH_VERSION);
		if (c == 'h' || c == 'V')
			return FLAGS_DONE;
		if (c < 1000 || !set(flags, &flags->table[c - 1000], optarg, options))
			return FLAGS_WRONG;
	}
	if (optind == argc)
		return FLAGS_READ;
	fprintf(stderr, "%s: unexpected argument \"%s\"; see --help\n", flags->program,
		argv[optind]);
	return FLAGS_WRONG;
}
