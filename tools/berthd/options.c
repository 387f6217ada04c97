#include "tools/berthd/options.h"
#include "tools/options/option_scan.h"
#include <string.h>

#define OPTION_NAME_BYTES 128u
#define SETTING 3 // follows the actions

static void print_help(void)
{
	puts("usage: berthd [--config FILE] [--SETTING=VALUE ...]\n"
	     "       berthd --check | --print-config | --verify-state [...]\n"
	     "       berthd genkey [--rotate] FILE\n"
	     "       berthd restore FILE [--config FILE] [--SETTING=VALUE ...]\n"
	     "       berthd cluster init | join | leave [--config FILE] [--SETTING=VALUE ...]\n"
	     "\n"
	     "Berth's controller: takes node heartbeats through DPDK, places allocations, serves "
	     "the HTTP API.\n"
	     "\n"
	     "  --config FILE    YAML file with the settings below; flags go before it\n"
	     "  --check          say what is wrong with this host and print the thread-to-core "
	     "plan\n"
	     "  --print-config   print the effective configuration and exit\n"
	     "  --verify-state   read the store, check every invariant of the state and exit\n"
	     "  --version        print the version and exit\n"
	     "  genkey FILE      write a new master key file; --rotate adds a newer key to one\n"
	     "  restore FILE     make a data_dir of a snapshot that was saved; it has to be empty\n"
	     "  cluster init     begin the configured cluster with the state of data_dir\n"
	     "  cluster join     make this controller, whose data_dir is empty, a member of it\n"
	     "  cluster leave    end the membership; data_dir keeps its state and stands alone\n"
	     "\n"
	     "settings (also keys of the file, where dots are nesting and ports is a list):");
	config_help(stdout);
}

static bool set_action(struct options *o, enum action action, char *message)
{
	if (o->action != ACTION_RUN) {
		snprintf(message, CONFIG_MESSAGE_BYTES,
			"only one of --check, --print-config, --verify-state");
		return false;
	}
	o->action = action;
	return true;
}

static bool read_genkey(int argc, const char *const *argv, struct options *o, char *message)
{
	o->action = ACTION_GENKEY;
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "--rotate") == 0)
			o->rotate = true;
		else if (argv[i][0] != '-' && !o->key_file)
			o->key_file = argv[i];
		else {
			snprintf(message, CONFIG_MESSAGE_BYTES, "genkey: unexpected \"%.60s\"",
				argv[i]);
			return false;
		}
	}
	if (!o->key_file)
		snprintf(message, CONFIG_MESSAGE_BYTES, "genkey: name the file to write");
	return o->key_file != NULL;
}

static bool take_archive(int argc, const char *const *argv, struct options *o, char *message)
{
	o->action = ACTION_RESTORE;
	o->archive = argc > 2 && argv[2][0] != '-' ? argv[2] : NULL;
	if (!o->archive)
		snprintf(message, CONFIG_MESSAGE_BYTES, "restore: name the file to put back first");
	return o->archive != NULL;
}

static bool take_verb(int argc, const char *const *argv, struct options *o, char *message)
{
	static const char *const verbs[] = {"init", "join", "leave"};
	o->action = ACTION_CLUSTER;
	for (size_t i = 0; argc > 2 && i < sizeof verbs / sizeof verbs[0]; i++)
		if (strcmp(argv[2], verbs[i]) == 0)
			o->verb = verbs[i];
	if (!o->verb)
		snprintf(message, CONFIG_MESSAGE_BYTES, "cluster: say init, join or leave first");
	return o->verb != NULL;
}

// Every other flag is a setting, which config_set finds by its name.
static const struct {
	const char *name;
	enum action action;
} actions[] = {
	{"check", ACTION_CHECK},
	{"print-config", ACTION_PRINT_CONFIG},
	{"verify-state", ACTION_VERIFY_STATE},
};

static enum option_event find_option(
	const void *unused, const char *name, size_t size, struct option_match *match)
{
	*match = (struct option_match){SETTING, true};
	for (int i = 0; i < SETTING; i++)
		if (strcmp(name, actions[i].name) == 0)
			*match = (struct option_match){i, false};
	return size > 0 && size < OPTION_NAME_BYTES ? OPTION_GIVEN : OPTION_UNKNOWN;
}

// Reads all words once. The first pass loads the file, the second sets the rest, so that flags win wherever they stand.
static bool read_pass(const char *const *words, bool files, struct config *config,
	struct options *o, char *message)
{
	const struct option_syntax syntax = {.find = find_option};
	struct option_scan scan = {.next = words};
	enum option_event event;
	while ((event = option_next(&scan, &syntax)) != OPTION_END) {
		char name[OPTION_NAME_BYTES];
		struct options ignored = {0};
		if (event != OPTION_GIVEN) {
			snprintf(message, CONFIG_MESSAGE_BYTES,
				"\"%.80s\" is not --SETTING=VALUE; --help lists the settings",
				scan.word);
			return false;
		}
		if (scan.number < SETTING) {
			if (!set_action(files ? &ignored : o, actions[scan.number].action, message))
				return false;
			continue;
		}
		snprintf(name, sizeof name, "%.*s", (int)strcspn(scan.name, "="), scan.name);
		bool is_file = strcmp(name, "config") == 0;
		if (is_file == files && !(files ? config_load(config, scan.value, message)
						: config_set(config, name, scan.value, message)))
			return false;
	}
	return true;
}

bool options_read(
	int argc, const char *const *argv, struct config *config, struct options *o, char *message)
{
	memset(o, 0, sizeof *o);
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			print_help();
			o->action = ACTION_EXIT;
			return true;
		}
		if (strcmp(argv[i], "--version") == 0) {
			puts("berthd " BERTH_VERSION);
			o->action = ACTION_EXIT;
			return true;
		}
	}
	if (argc > 1 && strcmp(argv[1], "genkey") == 0)
		return read_genkey(argc, argv, o, message);
	bool restores = argc > 1 && strcmp(argv[1], "restore") == 0;
	bool clusters = argc > 1 && strcmp(argv[1], "cluster") == 0;
	if ((restores && !take_archive(argc, argv, o, message)) ||
		(clusters && !take_verb(argc, argv, o, message)))
		return false;
	const char *const *words = argv + (restores || clusters ? 3 : 1);
	return read_pass(words, true, config, o, message) &&
	       read_pass(words, false, config, o, message);
}
