// The checks of an allocation's services, as its description has them, with the texts of its tasks' environments in the
// place of ${…}.
#pragma once
#include "state/base/arena/arena.h"
#include "state/base/time_units.h"
#include "tools/agent/task/alloc_run.h"

#define CHECK_ID_BYTES 33u
#define CHECK_INTERVAL_NS_MIN (1 * NS_PER_S)
#define CHECKS_PER_ALLOC_MAX 256u

enum check_type { CHECK_HTTP, CHECK_TCP, CHECK_SCRIPT };

enum check_status { CHECK_PENDING, CHECK_PASSING, CHECK_WARNING, CHECK_CRITICAL };

// What the check has to say in the health of its allocation.
enum check_effect { CHECK_HAS_TO_PASS, CHECK_MAY_WARN, CHECK_IS_IGNORED };

#define CHECK_OF_GROUP UINT32_MAX

struct check_rule {
	char id[CHECK_ID_BYTES]; // the same for the same check of the same allocation
	const char *name, *service;
	enum check_type type;
	enum check_effect effect;
	enum check_status initial_status;
	uint32_t task; // index of the task that it is about; CHECK_OF_GROUP: all of them
	int64_t interval_ns, timeout_ns;
	uint32_t successes_to_pass, failures_to_fail; // in a row; at least 1
	uint32_t restart_limit;                       // failures in a row that restart; 0: none do
	int64_t restart_grace_ns;
	bool restart_ignores_warnings;
	// Of http and tcp.
	const char *address; // for people
	const char *url;
	const char *method, *body;
	const char *server_name; // of TLS; "": the address
	bool skips_verification;
	const char *const *headers; // "NAME: VALUE", NULL-ended
	// Of a script.
	uint32_t script_task;   // index; it runs as this task does
	char *const *arguments; // NULL-ended
	const char *wrong;      // why it cannot be run at all; NULL: it can
};

struct check_rules {
	struct arena texts;
	struct check_rule *items;
	uint32_t count;
};

// Free the rules in any case.
void check_rules_read(struct check_rules *, const struct alloc_run *, const struct alloc_place *);
void check_rules_free(struct check_rules *);
