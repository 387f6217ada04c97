#include "tools/agent/options.h"
#include "state/base/log.h"
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum option_kind { OPTION_TEXT, OPTION_NUMBER, OPTION_FLAG, OPTION_META };

// One row per option: name, kind, where it goes, what --help says.
static const struct agent_option {
	const char *name, *argument;
	enum option_kind kind;
	size_t offset;
	const char *help;
} table[] = {
#define AT(field) offsetof(struct agent_options, field)
	{"server", "HOST[:PORT]", OPTION_TEXT, AT(server), "the controller (required; port 4647)"},
	{"source", "ADDRESS", OPTION_TEXT, AT(source), "local address to send from"},
	{"state-dir", "DIR", OPTION_TEXT, AT(state_dir),
		"identity and term (default /var/lib/berth-agent)"},
	{"key-file", "FILE", OPTION_TEXT, AT(key_file),
		"the node's key, from `berth node key UUID` (default DIR/node.key)"},
	{"data-dir", "DIR", OPTION_TEXT, AT(data_dir),
		"its file system's free room is offered as disk (default the state directory)"},
	{"name", "NAME", OPTION_TEXT, AT(name), "name shown to people (default the host name)"},
	{"datacenter", "NAME", OPTION_TEXT, AT(datacenter), "datacenter (default dc1)"},
	{"class", "NAME", OPTION_TEXT, AT(class_name), "node class (default none)"},
	{"pool", "NAME", OPTION_TEXT, AT(pool), "node pool (default \"default\")"},
	{"meta", "NAME=VALUE", OPTION_META, 0, "metadata; may be repeated"},
	{"cpu-mhz", "MHZ", OPTION_NUMBER, AT(cpu_mhz),
		"total compute (default cores times clock rate)"},
	{"reserved-cpu", "MHZ", OPTION_NUMBER, AT(reserved_cpu_mhz), "not for allocations"},
	{"reserved-memory", "MB", OPTION_NUMBER, AT(reserved_memory_mb), "not for allocations"},
	{"reserved-disk", "MB", OPTION_NUMBER, AT(reserved_disk_mb), "not for allocations"},
	{"log-level", "LEVEL", OPTION_TEXT, AT(log_level),
		"debug, info, warn or error (default info)"},
	{"log-json", NULL, OPTION_FLAG, AT(log_json), "log JSON instead of logfmt"},
	{"print-id", NULL, OPTION_FLAG, AT(print_id),
		"print the node's UUID, making it if need be, and exit"},
	{"print-fingerprint", NULL, OPTION_FLAG, AT(print_fingerprint),
		"print what would be registered and exit"},
#undef AT
};
#define OPTIONS (sizeof table / sizeof table[0])

static void print_help(FILE *out)
{
	fprintf(out, "usage: berth-agent --server HOST[:PORT] [OPTION]...\n"
		     "Registers this machine with a Berth controller and keeps reporting.\n\n");
	for (uint32_t i = 0; i < OPTIONS; i++) {
		char left[40];
		snprintf(left, sizeof left, "--%s%s%s", table[i].name, table[i].argument ? "=" : "",
			table[i].argument ? table[i].argument : "");
		fprintf(out, "  %-26s %s\n", left, table[i].help);
	}
	fprintf(out, "  %-26s %s\n  %-26s %s\n", "--help", "print this and exit", "--version",
		"print the version and exit");
	fprintf(out, "\nEach option is also read from the environment: BERTH_AGENT_STATE_DIR=...\n"
		     "Exit status: 0 left cleanly, 1 failure, 2 usage, 3 goodbye not confirmed.\n"
		     "SIGTERM and SIGINT leave; SIGHUP describes the machine again.\n");
}

static bool set_number(uint32_t *target, const char *name, const char *value)
{
	char *end;
	errno = 0;
	unsigned long long number = strtoull(value, &end, 10);
	if (!isdigit((unsigned char)*value) || *end != '\0' || errno || number > UINT32_MAX) {
		fprintf(stderr,
			"berth-agent: --%s wants a number from 0 to 4294967295, not \"%s\"\n", name,
			value);
		return false;
	}
	*target = (uint32_t)number;
	return true;
}

static bool add_meta(struct agent_options *o, const char *value)
{
	const char *equals = strchr(value, '=');
	if (!equals || equals == value || equals - value > (int)ATTRIBUTE_NAME_BYTES_MAX ||
		strlen(equals + 1) > ATTRIBUTE_VALUE_BYTES_MAX) {
		fprintf(stderr,
			"berth-agent: --meta wants NAME=VALUE with a name of 1 to %u bytes and a "
			"value of up to %u, not \"%s\"\n",
			ATTRIBUTE_NAME_BYTES_MAX, ATTRIBUTE_VALUE_BYTES_MAX, value);
		return false;
	}
	if (o->meta_count == AGENT_META_MAX) {
		fprintf(stderr, "berth-agent: more than %u --meta\n", AGENT_META_MAX);
		return false;
	}
	o->meta[o->meta_count++] = value;
	return true;
}

static bool set_option(
	struct agent_options *o, const struct agent_option *option, const char *value)
{
	void *target = (char *)o + option->offset;
	switch (option->kind) {
	case OPTION_TEXT: *(const char **)target = value; return true;
	case OPTION_NUMBER: return set_number(target, option->name, value);
	case OPTION_FLAG: *(bool *)target = true; return true;
	case OPTION_META: return add_meta(o, value);
	}
	return false;
}

static bool read_environment(struct agent_options *o)
{
	for (uint32_t i = 0; i < OPTIONS; i++) {
		char name[64] = "BERTH_AGENT_";
		size_t at = strlen(name);
		for (const char *c = table[i].name; *c; c++)
			name[at++] = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
		const char *value = getenv(name);
		if (!value || (table[i].kind == OPTION_FLAG && strcmp(value, "1") != 0))
			continue;
		if (!set_option(o, &table[i], value))
			return false;
	}
	return true;
}

static bool read_arguments(int argc, char **argv, struct agent_options *o, int *exit_code)
{
	struct option long_options[OPTIONS + 3] = {0};
	for (uint32_t i = 0; i < OPTIONS; i++)
		long_options[i] = (struct option){table[i].name,
			table[i].argument ? required_argument : no_argument, NULL, (int)(1000 + i)};
	long_options[OPTIONS] = (struct option){"help", no_argument, NULL, 'h'};
	long_options[OPTIONS + 1] = (struct option){"version", no_argument, NULL, 'V'};
	optind = 1;
	for (int c; (c = getopt_long(argc, argv, "hV", long_options, NULL)) != -1;) {
		*exit_code = c == 'h' || c == 'V' ? AGENT_LEFT : AGENT_USAGE;
		if (c == 'h')
			print_help(stdout);
		if (c == 'V')
			printf("berth-agent %s\n", BERTH_VERSION);
		if (c < 1000 || !set_option(o, &table[c - 1000], optarg))
			return false;
	}
	*exit_code = AGENT_USAGE;
	if (optind < argc) {
		fprintf(stderr, "berth-agent: unexpected argument \"%s\"; see --help\n",
			argv[optind]);
		return false;
	}
	return true;
}

static bool configure_log(const struct agent_options *o)
{
	static const char *const names[] = {"debug", "info", "warn", "error"};
	for (uint32_t i = 0; i < 4; i++) {
		if (strcmp(o->log_level, names[i]) != 0)
			continue;
		log_configure((enum log_level)i, o->log_json);
		return true;
	}
	fprintf(stderr, "berth-agent: --log-level is debug, info, warn or error, not \"%s\"\n",
		o->log_level);
	return false;
}

bool agent_options_read(int argc, char **argv, struct agent_options *o, int *exit_code)
{
	*o = (struct agent_options){.state_dir = "/var/lib/berth-agent",
		.datacenter = "dc1",
		.class_name = "",
		.pool = "default",
		.log_level = "info"};
	*exit_code = AGENT_USAGE;
	if (!read_environment(o) || !read_arguments(argc, argv, o, exit_code) || !configure_log(o))
		return false;
	if (!o->server && !o->print_id && !o->print_fingerprint) {
		fprintf(stderr, "berth-agent: --server HOST[:PORT] is missing; see --help\n");
		return false;
	}
	const char *const names[] = {o->name, o->datacenter, o->class_name, o->pool};
	for (uint32_t i = 0; i < 4; i++) {
		if (names[i] && strlen(names[i]) > NAME_BYTES_MAX) {
			fprintf(stderr, "berth-agent: \"%.32s...\" is longer than %u bytes\n",
				names[i], NAME_BYTES_MAX);
			return false;
		}
	}
	return true;
}
