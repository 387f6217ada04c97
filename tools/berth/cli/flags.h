// Flags of the command line: -name VALUE, --name VALUE or --name=VALUE, before, between or after
// arguments.
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum flag {
	FLAG_ADDRESS,
	FLAG_NAMESPACE,
	FLAG_TOKEN,
	FLAG_CA_CERT,
	FLAG_CLIENT_CERT,
	FLAG_CLIENT_KEY,
	FLAG_TLS_SERVER_NAME,
	FLAG_TLS_SKIP_VERIFY,
	FLAG_TIMEOUT,
	FLAG_JSON,
	FLAG_HELP,
	// the flags below belong to some commands only
	FLAG_WIRE,
	FLAG_NAME,
	FLAG_KEY_FILE,
	FLAG_MASTER_KEY,
	FLAG_JOB,
	FLAG_GROUP,
	FLAG_COUNT,
	FLAG_REQUEST,
	FLAG_SINCE,
	FLAG_NODE,
	FLAG_STATUS,
	FLAG_PURGE,
	FLAG_GLOBAL,
	FLAG_CHECK_INDEX,
	FLAG_PRETTY,
	FLAG_OPERATOR,
	FLAG_DETACH,
	FLAG_VERBOSE,
	FLAG_EVAL_PRIORITY,
	FLAG_PRESERVE_COUNTS,
	FLAG_FORCE_RESCHEDULE,
	FLAG_DIFFS,
	FLAG_MONITOR,
	FLAG_ENABLE,
	FLAG_DISABLE,
	FLAG_DETAILED,
	FLAG_YES,
	FLAG_NO_SHUTDOWN_DELAY,
	FLAG_ALGORITHM,
	FLAG_PREEMPT_SYSTEM,
	FLAG_PREEMPT_SYSBATCH,
	FLAG_PREEMPT_BATCH,
	FLAG_PREEMPT_SERVICE,
	FLAG_MEMORY_OVERSUBSCRIPTION,
	FLAG_REJECT_REGISTRATION,
	FLAG_PAUSE_BROKER,
	FLAG_DEADLINE,
	FLAG_FORCE,
	FLAG_NO_DEADLINE,
	FLAG_IGNORE_SYSTEM,
	FLAG_KEEP_INELIGIBLE,
	FLAG_MESSAGE,
	FLAG_META,
	FLAG_UNSET,
	FLAG_DRY_RUN,
	FLAG_IDEMPOTENCY_TOKEN,
	FLAG_LATEST,
	FLAG_ALL,
	FLAG_IMAGE,
	FLAG_CPU,
	FLAG_MEMORY,
	FLAG_LABEL,
	FLAG_RESOURCE,
	FLAG_OS,
	FLAG_ARCH,
	FLAG_RUNTIME,
	FLAG_RESTART_POLICY,
	FLAG_SUSPENDABLE,
	FLAG_WORKER,
	FLAG_PROFILE,
	FLAG_COUNT_ASSIGNED,
	FLAG_TYPE,
	FLAG_POLICY,
	FLAG_ROLE,
	FLAG_TTL,
	FLAG_DESCRIPTION,
	FLAG_TASK,
	FLAG_DIRECTORY,
	FLAG_HOST,
	FLAG_DAYS,
	FLAG_KEY_TYPE,
	FLAG_CA,
	FLAG_CA_KEY,
	FLAG_QUOTA,
	FLAG_OUT,
	FLAG_IN,
	FLAG_ITEM,
	FLAG_FULL,
	FLAG_VAR,
	FLAG_VAR_FILE,
	FLAG_HCL2_STRICT,
	FLAG_HCL1,
	FLAG_CANONICAL,
	FLAG_OUTPUT,
	FLAG_FILTER,
	FLAG_SORT,
	FLAG_COLUMNS,
	FLAG_LIMIT,
	FLAG_TOTALS,
	FLAG_WATCH,
	FLAG_INTERVAL,
	FLAG_TOPIC,
	FLAG_INTERACTIVE,
	FLAG_TTY,
	FLAG_ESCAPE,
	FLAG_FOLLOW,
	FLAG_STDERR,
	FLAG_TAIL,
	FLAG_LINES,
	FLAG_BYTES,
	FLAG_STAT,
	FLAG_ALL_TASKS,
	FLAG_SIGNAL,
	FLAG_BATCH_SIZE,
	FLAG_BATCH_WAIT,
	FLAG_ON_ERROR,
	FLAG_RESCHEDULE,
	FLAG_WAIT,
	FLAG_STDIO,
	FLAG_USER,
	FLAG_SHORT,
	FLAG_LOG_LEVEL,
	FLAG_SERVER_ID,
	FLAG_NODE_ID,
	FLAGS,
};
#define FLAGS_COMMON FLAG_WIRE // every command knows the flags before it

struct flag_description {
	const char *name;
	const char *value; // name of its value; NULL when it has none
	const char *help;
	const char *environment; // variables with its default, separated by blanks
	const char *standard;    // its default without them
	const char *alias;       // a short name; NULL: none
};
extern const struct flag_description flag_descriptions[FLAGS];

// What every list can do beside its own flags.
// TABLE_FLAGS: every list that comes as a part of an answer.
#define TABLE_FLAGS "output sort columns limit totals watch interval verbose"
#define LIST_FLAGS TABLE_FLAGS " filter"
#define FLAG_WORDS_MAX 128u

struct flags {
	bool end_at_argument; // set before they are read: what follows the first argument is no flag
	const char *
		values[FLAGS]; // NULL: not given; "" for those without a value; the last of several
	// All given flags, in order; some may come more than once.
	uint32_t given_count;
	struct {
		enum flag flag;
		const char *value;
	} given[FLAG_WORDS_MAX];
};

// Takes the flags out of arguments (NULL-ended, without program and command names) and sets defaults. allowed: names
// beside the common ones. Returns how many arguments are left, or -1 and a sentence.
int flags_read(struct flags *, const char **arguments, const char *allowed, char *message,
	uint32_t message_size);
// Finds the words that are neither flags nor their values, whatever command they are for. Returns how many there are of
// at most `most`; places: their indexes.
uint32_t flags_find_words(const char *const *arguments, uint32_t *places, uint32_t most);
bool flag_is_allowed(enum flag, const char *allowed);
bool flag_given(const struct flags *, enum flag);
bool flag_is_typed(const struct flags *, enum flag); // it is no default
// Of a flag without a value: typed as --NAME=false, which is else as if it was not given.
bool flag_is_refused(const struct flags *, enum flag);
// Iterates over a flag's values: *at is 0 before the first. NULL at the end.
const char *flag_next(const struct flags *, enum flag, uint32_t *at);
// Reads a whole number between bounds; *number keeps its value when the flag is not given. False, and a sentence.
bool flag_number(const struct flags *, enum flag, uint64_t least, uint64_t most, uint64_t *number,
	char *message, uint32_t message_size);
