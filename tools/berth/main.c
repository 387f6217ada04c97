// berth: the command line client of a Berth controller.
#include "tools/berth/cli/help.h"
#include "tools/berth/cli/run.h"
#include "tools/berth/command_table.h"
#include <stdio.h>
#include <string.h>

#define PATH_WORDS_MAX 5u // of a command, and one more

// The words of the command line that may be a command: they may stand anywhere between flags.
struct typed {
	const char *words[PATH_WORDS_MAX + 1]; // NULL-ended
	uint32_t places[PATH_WORDS_MAX], count;
};

// True when the words begin with the command's path; *used is then their number.
static bool path_fits(const struct command *command, const char *const *words, uint32_t *used)
{
	const char *path = command->path;
	for (*used = 0; *path; ++*used) {
		size_t size = strcspn(path, " ");
		const char *word = words[*used];
		if (!word || strlen(word) != size || strncmp(word, path, size) != 0)
			return false;
		path += size;
		path += strspn(path, " ");
	}
	return true;
}

static const struct command *find_command(const char *const *words, uint32_t *used)
{
	for (unsigned i = 0; i < command_table.count; i++)
		if (path_fits(&command_table.rows[i], words, used))
			return &command_table.rows[i];
	return NULL;
}

static void find_typed(const char **arguments, struct typed *typed)
{
	*typed = (struct typed){0};
	typed->count = flags_find_words(arguments, typed->places, PATH_WORDS_MAX);
	for (uint32_t i = 0; i < typed->count; i++)
		typed->words[i] = arguments[typed->places[i]];
}

// Takes the command's own words out.
static void remove_words(const char **arguments, const uint32_t *places, uint32_t count)
{
	uint32_t kept = 0, next = 0;
	for (uint32_t i = 0; arguments[i]; i++)
		if (next < count && places[next] == i)
			next++;
		else
			arguments[kept++] = arguments[i];
	arguments[kept] = NULL;
}

static enum exit_status run_command(const struct command *command, const char **arguments)
{
	struct session session = {0};
	char message[512];
	session.flags.end_at_argument = command->takes_command;
	int count = flags_read(&session.flags, arguments, command->flags, message, sizeof message);
	if (count >= 0 && flag_given(&session.flags, FLAG_HELP)) {
		help_command(stdout, command);
		return STATUS_OK;
	}
	if (count < 0)
		return complain(STATUS_USAGE, "%s; see berth %s --help", message, command->path);
	if (count < command->least || (command->most >= 0 && count > command->most))
		return complain(STATUS_USAGE, "%s; usage: berth %s %s",
			count < command->least ? "an argument is missing" : "too many arguments",
			command->path, command->arguments);
	return run_with(&session, command, arguments, count);
}

static bool asks_for(const char *const *arguments, const char *flag, const char *alias)
{
	for (; *arguments; arguments++)
		if (strcmp(*arguments, flag) == 0 || strcmp(*arguments, alias) == 0)
			return true;
	return false;
}

// The words are a part of a command's name, or none.
static enum exit_status explain_words(const struct typed *typed, bool is_help)
{
	if (!typed->count) {
		help_all(is_help ? stdout : stderr, command_table);
		return is_help ? STATUS_OK : STATUS_USAGE;
	}
	if (typed->count == 1 &&
		help_topic(is_help ? stdout : stderr, command_table, typed->words[0]))
		return is_help ? STATUS_OK : STATUS_USAGE;
	return help_unknown(command_table, typed->words);
}

static enum exit_status help(struct typed *typed)
{
	uint32_t used;
	memmove(typed->words, typed->words + 1, sizeof typed->words - sizeof typed->words[0]);
	typed->count--;
	const struct command *command = find_command(typed->words, &used);
	if (!command)
		return explain_words(typed, true);
	help_command(stdout, command);
	return STATUS_OK;
}

static enum exit_status run_line(const char **arguments)
{
	struct typed typed;
	uint32_t used;
	find_typed(arguments, &typed);
	bool is_version = typed.count ? strcmp(typed.words[0], "version") == 0
				      : asks_for(arguments, "--version", "-version");
	if (is_version) {
		puts("berth " BERTH_VERSION);
		return STATUS_OK;
	}
	if (typed.count && strcmp(typed.words[0], "help") == 0)
		return help(&typed);
	const struct command *command = find_command(typed.words, &used);
	if (!command)
		return explain_words(&typed, asks_for(arguments, "--help", "-h"));
	remove_words(arguments, typed.places, used);
	return run_command(command, arguments);
}

int main(int argc, char **argv)
{
	enum exit_status status = run_line((const char **)argv + (argc > 0));
	if (fflush(stdout) != 0 || ferror(stdout))
		return complain(
			STATUS_FAILURE, "cannot write to standard output: is its disk full?");
	return status;
}
