#include "tools/berth/cli/help.h"
#include "tools/berth/cli/suggest.h"
#include <string.h>

static void put_summary(FILE *out, const struct command *command)
{
	char usage[64];
	snprintf(usage, sizeof usage, "%s %s", command->path, command->arguments);
	fprintf(out, "  %-31s %s\n", usage, command->summary);
}

void help_all(FILE *out, struct command_table table)
{
	fprintf(out, "Usage: berth COMMAND [ARGUMENT...] [--FLAG[=VALUE]...]\n\nCommands:\n");
	for (unsigned i = 0; i < table.count; i++)
		put_summary(out, &table.rows[i]);
	fprintf(out,
		"\nberth COMMAND --help explains one. Exit status: 0 done, 1 failure, 2 usage, "
		"3 not found,\n4 refused by the controller, 5 controller not reachable.\n");
}

static void put_flag(FILE *out, const struct flag_description *d)
{
	char usage[48];
	snprintf(usage, sizeof usage, "--%s%s%s", d->name, d->value ? " " : "",
		d->value ? d->value : "");
	fprintf(out, "  %-24s %s", usage, d->help);
	if (d->environment && d->standard)
		fprintf(out, " (%.*s, else %s)", (int)strcspn(d->environment, " "), d->environment,
			d->standard);
	else if (d->environment)
		fprintf(out, " (%.*s)", (int)strcspn(d->environment, " "), d->environment);
	else if (d->standard)
		fprintf(out, " (%s)", d->standard);
	fputc('\n', out);
}

void help_command(FILE *out, const struct command *command)
{
	fprintf(out, "Usage: berth %s %s\n\n%s\n", command->path, command->arguments,
		command->summary);
	if (command->details)
		fprintf(out, "%s\n", command->details);
	fprintf(out, "\nFlags:\n");
	for (enum flag flag = FLAGS; flag-- > 0;)
		if (flag_is_allowed(flag, command->flags))
			put_flag(out, &flag_descriptions[flag]);
}

bool help_topic(FILE *out, struct command_table table, const char *word)
{
	size_t size = strlen(word);
	bool any = false;
	for (unsigned i = 0; i < table.count; i++) {
		const char *path = table.rows[i].path;
		if (strncmp(path, word, size) != 0 || path[size] != ' ')
			continue;
		put_summary(out, &table.rows[i]);
		any = true;
	}
	return any;
}

#define WORD_BYTES 64u

// The word number `place` of a path that has the words before it in common with the given ones; false: it has not.
static bool next_word(
	const char *path, const char *const *words, uint32_t place, char word[static WORD_BYTES])
{
	for (uint32_t i = 0; i <= place; i++) {
		size_t size = strcspn(path, " ");
		snprintf(word, WORD_BYTES, "%.*s", (int)size, path);
		if (i < place && (!words[i] || strcmp(word, words[i]) != 0))
			return false;
		path += size + (path[size] == ' ');
	}
	return *word;
}

static bool is_known(struct command_table table, const char *const *words, uint32_t place)
{
	char word[WORD_BYTES];
	for (unsigned i = 0; i < table.count && words[place]; i++)
		if (next_word(table.rows[i].path, words, place, word) &&
			strcmp(word, words[place]) == 0)
			return true;
	return false;
}

enum exit_status help_unknown(struct command_table table, const char *const *words)
{
	uint32_t place = 0;
	char hint[SUGGESTION_BYTES], before[3 * WORD_BYTES] = "", word[WORD_BYTES],
						best[WORD_BYTES] = "";
	for (; is_known(table, words, place); place++)
		snprintf(before + strlen(before), sizeof before - strlen(before), "%s%.40s",
			place ? " " : "", words[place]);
	struct suggestion near = {.typed = words[place] ? words[place] : ""};
	for (unsigned i = 0; i < table.count; i++) {
		const char *old = near.best;
		if (!next_word(table.rows[i].path, words, place, word))
			continue;
		suggestion_consider(&near, word);
		if (near.best != old)
			snprintf(best, sizeof best, "%s", word);
		near.best = *best ? best : NULL;
	}
	suggestion_text(&near, hint);
	if (!place)
		return complain(
			STATUS_USAGE, "no command %s%s; berth help lists them", words[0], hint);
	if (!words[place])
		return complain(STATUS_USAGE, "%s needs a subcommand", before);
	return complain(STATUS_USAGE, "%s has no subcommand %s%s", before, words[place], hint);
}
