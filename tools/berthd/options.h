// The command line: an action, and settings that override the file's.
#pragma once
#include "tools/berthd/config.h"

enum action {
	ACTION_RUN,
	ACTION_CHECK,        // --check
	ACTION_PRINT_CONFIG, // --print-config
	ACTION_VERIFY_STATE, // --verify-state
	ACTION_GENKEY,       // genkey [--rotate] FILE
	ACTION_RESTORE,      // restore FILE
	ACTION_CLUSTER,      // cluster init, join or leave
	ACTION_EXIT,         // --help or --version was answered
};

struct options {
	enum action action;
	const char *key_file; // GENKEY
	bool rotate;
	const char *archive; // RESTORE
	const char *verb;    // CLUSTER: "init", "join" or "leave"
};

// Reads --config first, then the other flags over it. Returns false and a sentence in message.
bool options_read(
	int argc, const char *const *argv, struct config *, struct options *, char *message);
