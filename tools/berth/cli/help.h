// What --help prints, from the tables of commands and flags.
#pragma once
#include "tools/berth/cli/session.h"
#include <stdio.h>

void help_all(FILE *);
void help_command(FILE *, const struct command *);
// The commands that begin with a word ("node"); false when there are none.
bool help_topic(FILE *, const char *word);
