// What --help prints, from the tables of commands and flags.
#pragma once
#include "tools/berth/cli/command.h"
#include <stdio.h>

void help_all(FILE *, struct command_table);
void help_command(FILE *, const struct command *);
// Prints the commands that begin with a word ("node"); false when there are none.
bool help_topic(FILE *, struct command_table, const char *word);
// Complains of words that are no command, and names the one that is most like them.
enum exit_status help_unknown(struct command_table, const char *const *words);
