// berth: the command line client of a Berth controller.
#include "tools/berth/cli/help.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/command_table.h"
#include <stdio.h>
#include <string.h>

// True when the arguments begin with the command's path; *words is then the number of its words.
static bool path_fits(const struct command *command, const char **arguments, int *words)
{
	const char *path = command->path;
	for (*words = 0; *path; ++*words) {
		size_t size = strcspn(path, " ");
		const char *word = arguments[*words];
		if (!word || strlen(word) != size || strncmp(word, path, size) != 0)
			return false;
		path += size;
		path += strspn(path, " ");
	}
	return true;
}

static const struct command *find_command(const char **arguments, int *words)
{
	for (unsigned i = 0; i < command_table.count; i++)
		if (path_fits(&command_table.rows[i], arguments, words))
			return &command_table.rows[i];
	return NULL;
}

static enum exit_status run_command(const struct command *command, const char **arguments)
{
	struct session session = {0};
	char message[512];
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
	session.http = http_open(&session.flags);
	enum exit_status status = command->run(&session, arguments, count);
	http_close(session.http);
	if (fflush(stdout) != 0 || ferror(stdout))
		return complain(STATUS_FAILURE, "cannot write to standard output");
	return status;
}

int main(int argc, char **argv)
{
	if (argc < 2 || strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
		strcmp(argv[1], "-h") == 0) {
		help_all(argc < 2 ? stderr : stdout, command_table);
		return argc < 2 ? STATUS_USAGE : STATUS_OK;
	}
	if (strcmp(argv[1], "version") == 0 || strcmp(argv[1], "--version") == 0) {
		puts("berth " BERTH_VERSION);
		return STATUS_OK;
	}
	const char **arguments = (const char **)argv + 1;
	int words;
	const struct command *command = find_command(arguments, &words);
	if (command)
		return run_command(command, arguments + words);
	if (help_topic(stderr, command_table, argv[1]))
		return argv[2] && argv[2][0] != '-'
			       ? complain(STATUS_USAGE, "%s has no subcommand %s", argv[1], argv[2])
			       : STATUS_USAGE;
	return complain(STATUS_USAGE, "no command %s; berth help lists them", argv[1]);
}
