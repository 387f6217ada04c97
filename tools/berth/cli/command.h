// A subcommand: its usage, its flags and the function that runs it. Readers get the whole table of them.
#pragma once
#include "tools/berth/cli/lookup.h"
#include "tools/berth/cli/session.h"

struct command {
	const char *path;      // "node list"
	const char *arguments; // "ID", "FILE", …; for the usage line
	const char *summary;   // one line
	const char *details;   // for --help; may be NULL
	const char *flags;     // names of flags beside the common ones, separated by blanks
	int least, most;       // positional arguments; most < 0: any number
	enum exit_status (*run)(struct session *, const char **arguments, int count);
	const struct id_kind
		*kind; // of the first argument, or of all of "ID..."; NULL: no id, or a new one
	bool is_live;  // on a terminal it is run again and again, without --watch
	bool takes_command; // what follows its first argument is another command line, without flags of its own
};

struct command_table {
	const struct command *rows;
	unsigned count;
};
