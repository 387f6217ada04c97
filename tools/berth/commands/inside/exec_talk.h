// The talk with a command inside a task (docs/api.md, Commands inside tasks), from the side of whoever types.
#pragma once
#include "tools/berth/cli/session.h"

struct http_socket;

// Most bytes of a message from the command.
#define EXEC_TALK_MESSAGE_BYTES (1024u * 1024)

struct exec_talk {
	bool passes_input;
	bool has_terminal; // the command has one, and standard input is one
	char escape;       // 0: none
};

// Passes standard input, the terminal's size and the outputs on until the command ends. Returns its exit code, or a
// status after a complaint.
enum exit_status exec_talk(struct http_socket *, const struct exec_talk *);
