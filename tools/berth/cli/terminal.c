#include "tools/berth/cli/terminal.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GREEN "\033[32m"
#define YELLOW "\033[33m"

static const struct {
	const char *word, *colour;
} states[] = {
	{"ready", GREEN},
	{"running", GREEN},
	{"complete", GREEN},
	{"successful", GREEN},
	{"alive", GREEN},
	{"eligible", GREEN},
	{"ok", GREEN},
	{"initializing", YELLOW},
	{"pending", YELLOW},
	{"blocked", YELLOW},
	{"paused", YELLOW},
	{"draining", YELLOW},
	{"ineligible", YELLOW},
	{"disconnected", YELLOW},
	{"unknown", YELLOW},
	{"suspended", YELLOW},
	{"warning", YELLOW},
	{"down", TERMINAL_RED},
	{"failed", TERMINAL_RED},
	{"lost", TERMINAL_RED},
	{"offline", TERMINAL_RED},
	{"cancelled", TERMINAL_RED},
	{"wrong", TERMINAL_RED},
};

const char *terminal_colour_of(const char *word)
{
	for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
		if (strcmp(states[i].word, word) == 0)
			return states[i].colour;
	return "";
}

bool terminal_is_output(void)
{
	return isatty(STDOUT_FILENO) == 1;
}

bool terminal_is_error(void)
{
	return isatty(STDERR_FILENO) == 1;
}

bool terminal_has_colours(void)
{
	const char *never = getenv("NO_COLOR"), *kind = getenv("TERM");
	return terminal_is_output() && !(never && *never) && kind && strcmp(kind, "dumb") != 0;
}
