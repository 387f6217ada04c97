#include "tools/berth/cli/flags.h"
#include "tools/berth/cli/suggest.h"
#include "tools/http_client/http_environment.h"
#include "tools/options/option_scan.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct flag_description flag_descriptions[FLAGS] = {
	[FLAG_ADDRESS] = {"address", "URL", "the controller's HTTP API", "BERTH_ADDR NOMAD_ADDR",
		"http://127.0.0.1:4646"},
	[FLAG_NAMESPACE] = {"namespace", "NAME", "namespace of jobs; * is all, in lists",
		"BERTH_NAMESPACE NOMAD_NAMESPACE", "default"},
	[FLAG_TOKEN] = {"token", "SECRET",
		"who asks; better in the variable, which others cannot see",
		"BERTH_TOKEN NOMAD_TOKEN", NULL},
	[FLAG_CA_CERT] = {"ca-cert", "FILE",
		"the authority that signed the controller's certificate; else the system's",
		"BERTH_CACERT NOMAD_CACERT", NULL},
	[FLAG_CLIENT_CERT] = {"client-cert", "FILE", "a certificate that shows who asks",
		"BERTH_CLIENT_CERT NOMAD_CLIENT_CERT", NULL},
	[FLAG_CLIENT_KEY] = {"client-key", "FILE", "its key", "BERTH_CLIENT_KEY NOMAD_CLIENT_KEY",
		NULL},
	[FLAG_TLS_SERVER_NAME] = {"tls-server-name", "NAME",
		"what the controller's certificate names, when that is not its address",
		"BERTH_TLS_SERVER_NAME NOMAD_TLS_SERVER_NAME", NULL},
	[FLAG_TLS_SKIP_VERIFY] = {"tls-skip-verify", NULL,
		"believe whoever answers; anybody on the way can then read and change all",
		"BERTH_SKIP_VERIFY NOMAD_SKIP_VERIFY", NULL},
	[FLAG_TIMEOUT] = {"timeout", "SECONDS", "how long to wait for an answer", NULL, "60"},
	[FLAG_JSON] = {"json", NULL, "print JSON, for programs", NULL, NULL},
	[FLAG_HELP] = {"help", NULL, "explain the command", NULL, NULL, "h"},
	[FLAG_WIRE] = {"wire", "HOST:PORT", "the controller's wire address", "BERTH_WIRE", NULL},
	[FLAG_NAME] = {"name", "NAME", "this client's name", "BERTH_CLIENT", NULL},
	[FLAG_KEY_FILE] = {"key-file", "FILE",
		"this client's key, as `berth client key` printed it", "BERTH_KEY_FILE", NULL},
	[FLAG_MASTER_KEY] = {"master-key", "FILE",
		"the cluster's master keys, to derive a key from", "BERTH_MASTER_KEY", NULL},
	[FLAG_JOB] = {"job", "ID", "the job", NULL, NULL},
	[FLAG_GROUP] = {"group", "NAME",
		"its task group; needed when it has several; of a promotion, may come again", NULL,
		NULL},
	[FLAG_COUNT] = {"count", "N", "how many, 1 to 32", NULL, "1"},
	[FLAG_REQUEST] = {"request", "MS:NUMBER",
		"repeat an earlier request: the same allocations are answered again", NULL, NULL},
	[FLAG_SINCE] = {"since", "INDEX", "only what changed after this index", NULL, "0"},
	[FLAG_NODE] = {"node", "ID", "only those of one node", NULL, NULL},
	[FLAG_STATUS] = {"status", "NAME", "only those of one status", NULL, NULL},
	[FLAG_PURGE] = {"purge", NULL, "forget the job altogether", NULL, NULL},
	[FLAG_GLOBAL] = {"global", NULL, "in all regions", NULL, NULL},
	[FLAG_CHECK_INDEX] = {"check-index", "N",
		"only when it is still at this modify index; 0: when it does not exist", NULL,
		NULL},
	[FLAG_PRETTY] = {"pretty", NULL, "indent the JSON, for people", NULL, NULL},
	[FLAG_DETACH] = {"detach", NULL, "do not wait for what follows", NULL, NULL},
	[FLAG_VERBOSE] = {"verbose", NULL, "show everything, with whole ids", NULL, NULL},
	[FLAG_EVAL_PRIORITY] = {"eval-priority", "N",
		"priority of the evaluation, 1 to 100; the job's unless given", NULL, NULL},
	[FLAG_PRESERVE_COUNTS] = {"preserve-counts", NULL,
		"keep the counts of groups that are registered already", NULL, NULL},
	[FLAG_FORCE_RESCHEDULE] = {"force-reschedule", NULL,
		"replace failed allocations even when they may not be rescheduled", NULL, NULL},
	[FLAG_DIFFS] = {"p", NULL, "show what each version changed", NULL, NULL},
	[FLAG_MONITOR] = {"monitor", NULL, "wait until it is over, and tell what happens", NULL,
		NULL},
	[FLAG_ENABLE] = {"enable", NULL,
		"of a drain: begin it, so that the node takes no new work; of eligibility: let the "
		"node take new work",
		NULL, NULL},
	[FLAG_DISABLE] = {"disable", NULL,
		"of a drain: end it, so that the node takes new work; of eligibility: let the node "
		"take "
		"no new work",
		NULL, NULL},
	[FLAG_DETAILED] = {"detailed", NULL, "show the tags of each server", NULL, NULL},
	[FLAG_YES] = {"yes", NULL, "ask no question; none is asked anyway", NULL, NULL},
	[FLAG_NO_SHUTDOWN_DELAY] = {"no-shutdown-delay", NULL,
		"do not wait the shutdown delays of group and tasks", NULL, NULL},
	[FLAG_ALGORITHM] = {"scheduler-algorithm", "NAME", "binpack or spread", NULL, NULL},
	[FLAG_PREEMPT_SYSTEM] = {"preempt-system-scheduler", "BOOL",
		"may system jobs take the place of others", NULL, NULL},
	[FLAG_PREEMPT_SYSBATCH] = {"preempt-sysbatch-scheduler", "BOOL",
		"may sysbatch jobs take the place of others", NULL, NULL},
	[FLAG_PREEMPT_BATCH] = {"preempt-batch-scheduler", "BOOL",
		"may batch jobs take the place of others", NULL, NULL},
	[FLAG_PREEMPT_SERVICE] = {"preempt-service-scheduler", "BOOL",
		"may service jobs take the place of others", NULL, NULL},
	[FLAG_MEMORY_OVERSUBSCRIPTION] = {"memory-oversubscription", "BOOL",
		"may tasks use more memory than they ask for", NULL, NULL},
	[FLAG_REJECT_REGISTRATION] = {"reject-job-registration", "BOOL",
		"refuse new jobs and versions", NULL, NULL},
	[FLAG_PAUSE_BROKER] = {"pause-eval-broker", "BOOL", "work off no evaluations", NULL, NULL},
	[FLAG_DEADLINE] = {"deadline", "TIME",
		"how long the drain may take before all is moved at once, like 30m; 1h unless "
		"given",
		NULL, NULL},
	[FLAG_FORCE] = {"force", NULL, "move everything at once; of variables: whatever is there",
		NULL, NULL},
	[FLAG_NO_DEADLINE] = {"no-deadline", NULL, "let the drain take as long as it needs", NULL,
		NULL},
	[FLAG_IGNORE_SYSTEM] = {"ignore-system", NULL, "leave system jobs where they are", NULL,
		NULL},
	[FLAG_KEEP_INELIGIBLE] = {"keep-ineligible", NULL,
		"let the node take no new work when its drain is ended", NULL, NULL},
	[FLAG_MESSAGE] = {"m", "TEXT", "why; kept with the drain", NULL, NULL},
	[FLAG_META] = {"meta", "NAME=VALUE", "metadata; may come again", NULL, NULL},
	[FLAG_UNSET] = {"unset", "NAME", "take this name away; may come again", NULL, NULL},
	[FLAG_DRY_RUN] = {"dry-run", NULL,
		"say where each allocation would go and what would not fit; change nothing", NULL,
		NULL},
	[FLAG_IDEMPOTENCY_TOKEN] = {"idempotency-token", "TEXT",
		"asking again with the same text gives the same child", NULL, NULL},
	[FLAG_LATEST] = {"latest", NULL, "the newest alone", NULL, NULL},
	[FLAG_ALL] = {"all", NULL, "also those of an earlier job of this name", NULL, NULL},
	[FLAG_IMAGE] = {"image", "TEXT", "what the machine boots", NULL, NULL},
	[FLAG_CPU] = {"cpu", "N", "processors; 0: its worker's default", NULL, NULL},
	[FLAG_MEMORY] = {"memory", "MIB", "memory; 0: its worker's default", NULL, NULL},
	[FLAG_LABEL] = {"label", "NAME=VALUE", "a label its worker must have; may come again", NULL,
		NULL},
	[FLAG_RESOURCE] = {"resource", "NAME=N", "what it takes of its worker; may come again",
		NULL, NULL},
	[FLAG_OS] = {"os", "NAME", "darwin or linux", NULL, NULL},
	[FLAG_ARCH] = {"arch", "NAME", "the architecture its worker must have", NULL, NULL},
	[FLAG_RUNTIME] = {"runtime", "NAME", "the runtime its worker must have", NULL, NULL},
	[FLAG_RESTART_POLICY] = {"restart-policy", "NAME", "Never or OnFailure", NULL, NULL},
	[FLAG_SUSPENDABLE] = {"suspendable", NULL, "it may be suspended", NULL, NULL},
	[FLAG_WORKER] = {"worker", "NAME", "only those of one worker", NULL, NULL},
	[FLAG_PROFILE] = {"profile", "NAME", "optimize-utilization or distribute-load", NULL, NULL},
	[FLAG_COUNT_ASSIGNED] = {"count-assigned", "true|false",
		"what machines are assigned takes room of their workers", NULL, NULL},
	[FLAG_TYPE] = {"type", "NAME", "client, or management, which may do everything", NULL,
		NULL},
	[FLAG_POLICY] = {"policy", "NAME", "a policy that it has; may come again", NULL, NULL},
	[FLAG_ROLE] = {"role", "NAME", "a role that it has; may come again", NULL, NULL},
	[FLAG_TTL] = {"ttl", "TIME", "how long it holds, like 8h; for ever unless given", NULL,
		NULL},
	[FLAG_DESCRIPTION] = {"description", "TEXT", "what it is for", NULL, NULL},
	[FLAG_TASK] = {"task", "NAME", "the group's task", NULL, NULL},
	[FLAG_DIRECTORY] = {"directory", "DIR", "where the files go", NULL, "."},
	[FLAG_HOST] = {"host", "NAME",
		"a name or an address of the server, as its clients use it; may come again", NULL,
		NULL},
	[FLAG_DAYS] = {"days", "N", "how many days it holds; 365, an authority 1825, unless given",
		NULL, NULL},
	[FLAG_KEY_TYPE] = {"key-type", "NAME", "p256 or ed25519", NULL, "p256"},
	[FLAG_CA] = {"ca", "FILE",
		"the authority's certificate; else berth-ca.pem of the directory", NULL, NULL},
	[FLAG_CA_KEY] = {"ca-key", "FILE", "its key; else berth-ca-key.pem of the directory", NULL,
		NULL},
	[FLAG_OUT] = {"out", "FORM",
		"how it is shown: table, json, hcl or none, of lists also terse; else for people "
		"on a terminal, and json elsewhere",
		NULL, NULL},
	[FLAG_IN] = {"in", "FORM", "what a file is whose name does not say it: hcl or json", NULL,
		NULL},
	[FLAG_ITEM] = {"item", "NAME", "print the value of this item alone", NULL, NULL},
	[FLAG_FULL] = {"full", NULL, "encrypt anew what older keys encrypt", NULL, NULL},
	[FLAG_VAR] = {"var", "NAME=VALUE", "a value for a variable of the job file; may come again",
		NULL, NULL},
	[FLAG_VAR_FILE] = {"var-file", "FILE",
		"a file of values for variables of the job file; may come again", NULL, NULL},
	[FLAG_HCL2_STRICT] = {"hcl2-strict", "BOOL",
		"refuse values for variables that the job file does not declare; true unless given",
		NULL, NULL},
	[FLAG_HCL1] = {"hcl1", NULL, "refused: job files of HCL 1 are not read", NULL, NULL},
	[FLAG_CANONICAL] = {"canonical", NULL, "with all that holds where nothing is written", NULL,
		NULL},
	[FLAG_OPERATOR] = {"operator", NULL, "release over HTTP, whichever client placed it", NULL,
		NULL},
	[FLAG_OUTPUT] = {"output", "FORM",
		"of lists: table, wide (all columns), json, csv, name (ids alone), or a template "
		"of columns and members: '{id} {status}'; else table and json",
		NULL, NULL, "o"},
	[FLAG_FILTER] = {"filter", "EXPRESSION",
		"only those that fit: 'Status == \"down\" and Name matches \"^gpu-\"'; names are "
		"those of --json",
		NULL, NULL},
	[FLAG_SORT] = {"sort", "COLUMN", "the order; -COLUMN is the other way around", NULL, NULL},
	[FLAG_COLUMNS] = {"columns", "NAME,...", "these columns, in this order", NULL, NULL},
	[FLAG_LIMIT] = {"limit", "N", "no more than so many", NULL, NULL},
	[FLAG_TOTALS] = {"totals", NULL,
		"say how many there are of each status, as a terminal is told always", NULL, NULL},
	[FLAG_WATCH] = {"watch", NULL, "show it again and again, until Ctrl-C", NULL, NULL, "w"},
	[FLAG_INTERVAL] = {"interval", "SECONDS", "the time between two of --watch", NULL, "2"},
	[FLAG_TOPIC] = {"topic", "NAME[:KEY]",
		"only events of this topic (Node, Job, Allocation, …), and of this key; may come "
		"again",
		NULL, NULL},
	[FLAG_INTERACTIVE] = {"interactive", NULL,
		"pass standard input on, as is done anyway; --interactive=false: do not", NULL,
		NULL, "i"},
	[FLAG_TTY] = {"tty", NULL,
		"give the command a terminal; as is done on a terminal, unless --tty=false", NULL,
		NULL, "t"},
	[FLAG_ESCAPE] = {"escape", "CHARACTER",
		"what ends the talk at the beginning of a line when a dot follows it, or none",
		NULL, "~", "e"},
	[FLAG_FOLLOW] = {"follow", NULL, "go on with what is written, until Ctrl-C", NULL, NULL,
		"f"},
	[FLAG_STDERR] = {"stderr", NULL, "the standard error", NULL, NULL},
	[FLAG_TAIL] = {"tail", NULL, "only the last lines", NULL, NULL},
	[FLAG_LINES] = {"lines", "N", "how many last lines; 10 unless given", NULL, NULL, "n"},
	[FLAG_BYTES] = {"bytes", "N", "how many last bytes, in place of lines", NULL, NULL, "c"},
	[FLAG_STAT] = {"stat", NULL, "tell of the file or folder, do not show what it holds", NULL,
		NULL},
	[FLAG_ALL_TASKS] = {"all-tasks", NULL, "all tasks, those too that have ended", NULL, NULL},
	[FLAG_SIGNAL] = {"signal", "NAME", "which signal: SIGHUP, SIGUSR1, …", NULL, "SIGKILL",
		"s"},
	[FLAG_BATCH_SIZE] = {"batch-size", "N|N%", "how many at once", NULL, "1"},
	[FLAG_BATCH_WAIT] = {"batch-wait", "TIME|ask",
		"how long to wait after each batch, like 30s; ask: until Enter", NULL, NULL},
	[FLAG_ON_ERROR] = {"on-error", "ask|fail",
		"what a failure does: asks whether to go on, "
		"as on a terminal, or ends it",
		NULL, NULL},
	[FLAG_RESCHEDULE] = {"reschedule", NULL,
		"stop them, so that they are placed anew, in place of restarts where they are",
		NULL, NULL},
	[FLAG_WAIT] = {"wait", "SECONDS", "how long to wait for the machine to run", NULL, "60"},
	[FLAG_STDIO] = {"stdio", NULL,
		"pass one connection over standard input and output, as for ssh's ProxyCommand",
		NULL, NULL},
	[FLAG_USER] = {"user", "NAME",
		"who logs in; else the machine's username, or admin where it has none", NULL, NULL},
	[FLAG_SHORT] = {"short", NULL, "without comments and what may be left out", NULL, NULL},
	[FLAG_LOG_LEVEL] = {"log-level", "NAME",
		"from this level on: debug, info, warn or error; info unless given", NULL, NULL},
	[FLAG_SERVER_ID] = {"server-id", "ID",
		"a server's name or id, or leader; else the one that is asked", NULL, NULL},
	[FLAG_NODE_ID] = {"node-id", "ID", "a node; its log is read there", NULL, NULL},
	[FLAG_QUOTA] = {"quota", "NAME", "the quota that limits it", NULL, NULL},
};

bool flag_is_allowed(enum flag flag, const char *allowed)
{
	if (flag < FLAGS_COMMON)
		return true;
	size_t size = strlen(flag_descriptions[flag].name);
	for (const char *at = allowed; at && *at; at += strcspn(at, " "), at += strspn(at, " "))
		if (strcspn(at, " ") == size &&
			strncmp(at, flag_descriptions[flag].name, size) == 0)
			return true;
	return false;
}

bool flag_given(const struct flags *flags, enum flag flag)
{
	return flags->values[flag] != NULL;
}

bool flag_is_typed(const struct flags *flags, enum flag flag)
{
	uint32_t at = 0;
	return flag_next(flags, flag, &at) != NULL;
}

const char *flag_next(const struct flags *flags, enum flag flag, uint32_t *at)
{
	while (*at < flags->given_count) {
		uint32_t i = (*at)++;
		if (flags->given[i].flag == flag)
			return flags->given[i].value;
	}
	return NULL;
}

bool flag_is_refused(const struct flags *flags, enum flag flag)
{
	uint32_t at = 0;
	const char *value, *last = NULL;
	while ((value = flag_next(flags, flag, &at)) != NULL)
		last = value;
	return last && strcmp(last, "false") == 0;
}

static const char *from_environment(const char *names)
{
	char name[64];
	for (; names && *names; names += strcspn(names, " "), names += strspn(names, " ")) {
		snprintf(name, sizeof name, "%.*s", (int)strcspn(names, " "), names);
		const char *value = getenv(name);
		if (value && *value)
			return value;
	}
	return NULL;
}

static void set_defaults(struct flags *flags, const char *allowed)
{
	for (enum flag flag = 0; flag < FLAGS; flag++) {
		const struct flag_description *d = &flag_descriptions[flag];
		if (flags->values[flag] || !flag_is_allowed(flag, allowed))
			continue;
		const char *value = from_environment(d->environment);
		if (d->value)
			flags->values[flag] = value ? value : d->standard;
		else if (http_word_is_yes(value))
			flags->values[flag] = "";
	}
}

static enum option_event find_flag(
	const void *allowed, const char *name, size_t size, struct option_match *match)
{
	for (enum flag flag = 0; flag < FLAGS; flag++) {
		const struct flag_description *d = &flag_descriptions[flag];
		bool is_named = strlen(d->name) == size && strncmp(d->name, name, size) == 0;
		bool is_alias =
			d->alias && strlen(d->alias) == size && strncmp(d->alias, name, size) == 0;
		if (!(is_named || is_alias) || (allowed && !flag_is_allowed(flag, allowed)))
			continue;
		*match = (struct option_match){(int)flag, d->value != NULL};
		return OPTION_GIVEN;
	}
	return OPTION_UNKNOWN;
}

uint32_t flags_find_words(const char *const *arguments, uint32_t *places, uint32_t most)
{
	const struct option_syntax syntax = {
		.find = find_flag, .has_one_dash = true, .ends_with_dashes = true};
	struct option_scan scan = {.next = arguments};
	enum option_event event;
	uint32_t found = 0;
	while (found < most && (event = option_next(&scan, &syntax)) != OPTION_END)
		if (event == OPTION_ARGUMENT)
			places[found++] = (uint32_t)(scan.next - arguments) - 1;
	return found;
}

static void say_unknown(const char *word, const char *allowed, char *message, uint32_t size)
{
	char typed[64], hint[SUGGESTION_BYTES];
	const char *name = word + strspn(word, "-");
	snprintf(typed, sizeof typed, "%.*s", (int)strcspn(name, "="), name);
	struct suggestion near = {.typed = typed};
	for (enum flag flag = 0; flag < FLAGS; flag++)
		if (flag_is_allowed(flag, allowed))
			suggestion_consider(&near, flag_descriptions[flag].name);
	snprintf(message, size, "unknown flag %s%s", word, suggestion_text(&near, hint));
}

// What --NAME=WORD means for a flag without a value; NULL: nothing.
static const char *judge_word(const char *word)
{
	if (strcmp(word, "true") == 0)
		return "";
	return strcmp(word, "false") == 0 ? "false" : NULL;
}

// Keeps one flag. False, and a sentence.
static bool keep_flag(struct flags *flags, const struct option_scan *s, enum option_event event,
	const char *allowed, char *message, uint32_t size)
{
	const struct flag_description *d = &flag_descriptions[s->number];
	const char *value = s->value ? s->value : "";
	if (event == OPTION_TAKES_NONE && judge_word(value)) {
		value = judge_word(value);
		event = OPTION_GIVEN;
	}
	if (event == OPTION_UNKNOWN)
		say_unknown(s->word, allowed, message, size);
	else if (event == OPTION_TAKES_NONE)
		snprintf(message, size, "--%s takes no value", d->name);
	else if (event == OPTION_NEEDS_VALUE)
		snprintf(message, size, "--%s needs a value: %s", d->name, d->value);
	else if (flags->given_count == FLAG_WORDS_MAX)
		snprintf(message, size, "more than %u flags", FLAG_WORDS_MAX);
	else {
		flags->given[flags->given_count].flag = (enum flag)s->number;
		flags->given[flags->given_count++].value = value;
		flags->values[s->number] = !d->value && *value ? NULL : value;
		return true;
	}
	return false;
}

int flags_read(struct flags *flags, const char **arguments, const char *allowed, char *message,
	uint32_t message_size)
{
	const struct option_syntax syntax = {.find = find_flag,
		.context = allowed ? allowed : "",
		.has_one_dash = true,
		.ends_with_dashes = true,
		.ends_at_argument = flags->end_at_argument};
	struct option_scan scan = {.next = arguments};
	enum option_event event;
	int kept = 0;
	while ((event = option_next(&scan, &syntax)) != OPTION_END) {
		if (event == OPTION_ARGUMENT)
			arguments[kept++] = scan.word;
		else if (!keep_flag(flags, &scan, event, allowed, message, message_size))
			return -1;
	}
	arguments[kept] = NULL;
	set_defaults(flags, allowed);
	return kept;
}

bool flag_number(const struct flags *flags, enum flag flag, uint64_t least, uint64_t most,
	uint64_t *number, char *message, uint32_t message_size)
{
	const char *text = flags->values[flag];
	if (!text)
		return true;
	char *end = NULL;
	errno = 0;
	uint64_t value = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
	if (!end || *end || errno || value < least || value > most) {
		snprintf(message, message_size,
			"--%s must be a number from %llu to %llu, not \"%s\"",
			flag_descriptions[flag].name, (unsigned long long)least,
			(unsigned long long)most, text);
		return false;
	}
	*number = value;
	return true;
}
