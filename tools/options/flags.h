// Command lines of the agent and the fleet simulator: each program's table of long options gives parsing, --help, and
// the same names in the environment.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum flag_kind {
	FLAG_TEXT,   // const char *
	FLAG_U32,    // uint32_t
	FLAG_U64,    // uint64_t
	FLAG_REAL,   // double, not negative
	FLAG_SWITCH, // bool; in the environment "1"
	FLAG_LIST,   // struct flag_list; may be repeated
};

#define FLAG_LIST_MAX 64u
struct flag_list {
	uint32_t count;
	const char *items[FLAG_LIST_MAX];
};

struct flag {
	const char *name, *argument; // "server", "HOST[:PORT]"
	enum flag_kind kind;
	size_t offset; // of the target in the program's options
	const char *help;
};

struct flags {
	const char *program;     // "berth-agent"
	const char *environment; // prefix, "BERTH_AGENT_"; NULL: none
	const char *usage;       // what --help prints before the table
	const char *notes;       // printed after the table
	const struct flag *table;
	uint32_t count;
};

enum flags_result {
	FLAGS_READ,
	FLAGS_DONE,  // --help, --version: printed
	FLAGS_WRONG, // standard error says what is wrong
};

// Fills options, which hold the defaults at first. Texts are views into argv and the environment.
enum flags_result flags_read(const struct flags *, int argc, char **argv, void *options);
