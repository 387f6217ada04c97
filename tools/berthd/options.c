#include "tools/berthd/options.h"
#include <string.h>

static void print_help(void)
{
	puts("usage: berthd [--config FILE] [--SETTING=VALUE ...]\n"
	     "       berthd --check | --print-config | --verify-state [...]\n"
	     "       berthd genkey [--rotate] FILE\n"
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

// "--name=value" or "--name value": gives both, and how many words they took; 0 when malformed.
static int split_flag(
	int left, const char *const *argv, char *name, size_t size, const char **value)
{
	const char *word = argv[0] + 2, *equals = strchr(word, '=');
	size_t length = equals ? (size_t)(equals - word) : strlen(word);
	if (strncmp(argv[0], "--", 2) != 0 || length == 0 || length >= size)
		return 0;
	memcpy(name, word, length);
	name[length] = 0;
	if (equals) {
		*value = equals + 1;
		return 1;
	}
	*value = left > 1 ? argv[1] : NULL;
	return *value ? 2 : 0;
}

static bool read_word_flag(const char *word, struct options *o, bool *known, char *message)
{
	*known = true;
	if (strcmp(word, "--check") == 0)
		return set_action(o, ACTION_CHECK, message);
	if (strcmp(word, "--print-config") == 0)
		return set_action(o, ACTION_PRINT_CONFIG, message);
	if (strcmp(word, "--verify-state") == 0)
		return set_action(o, ACTION_VERIFY_STATE, message);
	*known = false;
	return true;
}

// One pass over the words: the file is loaded in the first, the rest is set in the second, so that
// flags win wherever they stand.
static bool read_pass(int argc, const char *const *argv, bool files, struct config *config,
	struct options *o, char *message)
{
	for (int i = 1; i < argc;) {
		bool known;
		struct options ignored = {0};
		if (!read_word_flag(argv[i], files ? &ignored : o, &known, message))
			return false;
		if (known) {
			i++;
			continue;
		}
		char name[128];
		const char *value;
		int words = split_flag(argc - i, argv + i, name, sizeof name, &value);
		if (words == 0) {
			snprintf(message, CONFIG_MESSAGE_BYTES,
				"\"%.80s\" is not --SETTING=VALUE; --help lists the settings",
				argv[i]);
			return false;
		}
		bool is_file = strcmp(name, "config") == 0;
		if (is_file == files && !(files ? config_load(config, value, message)
						: config_set(config, name, value, message)))
			return false;
		i += words;
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
	return read_pass(argc, argv, true, config, o, message) &&
	       read_pass(argc, argv, false, config, o, message);
}
