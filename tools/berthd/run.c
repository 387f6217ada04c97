#include "state/base/clock/steady_time.h"
#include "state/base/clock/waited.h"
#include "state/base/error.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/log.h"
#include "state/base/time_units.h"
#include "tools/berthd/backup.h"
#include "tools/berthd/berthd.h"
#include "tools/berthd/enrol.h"
#include "tools/berthd/health.h"
#include "tools/berthd/membership/membership.h"
#include "tools/berthd/options.h"
#include "tools/berthd/preflight.h"
#include "tools/berthd/privileges.h"
#include "tools/berthd/reload.h"
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#define EXIT_USAGE 64
#define TURN_MS 500
#define COLLECT_EVERY_MS 30000
#define MEMBERSHIP_EVERY_MS 5000

static int exit_with(const char *message, int status)
{
	fprintf(stderr, "berthd: %s\n", message);
	return status;
}

static void print_line(const char *text, void *context)
{
	puts(text);
}

// True when a start refuses nothing before it begins; tells all that it would refuse. *status is then a start's.
static bool passes_preflight(const struct config *config, int *status)
{
	char message[BERTHD_MESSAGE_BYTES];
	*status = EXIT_SUCCESS;
	for (uint32_t i = 0; i < PREFLIGHT_CHECKS; i++) {
		if (preflight_checks[i](config, message, sizeof message))
			continue;
		int refused = exit_with(message, i == 0 ? EXIT_USAGE : EXIT_FAILURE);
		if (*status == EXIT_SUCCESS)
			*status = refused;
	}
	return *status == EXIT_SUCCESS;
}

static int run_check(const struct config *config)
{
	char message[BERTHD_MESSAGE_BYTES];
	struct topology_plan plan = {0};
	int status;
	passes_preflight(config, &status);
	long holder = store_holder(config->data_dir);
	if (holder != 0)
		printf("note: process %ld runs with %s: what it holds is not looked at\n", holder,
			config->data_dir);
	if (!berthd_plan(config, &plan, message))
		return exit_with(message, EXIT_FAILURE);
	topology_print(&plan, print_line, NULL);
	for (uint32_t i = 0; i < plan.problem_count; i++)
		if (plan.problems[i].severity == TOPOLOGY_ERROR && status == EXIT_SUCCESS)
			status = EXIT_FAILURE;
	return status;
}

static int run_verify(struct berthd *b)
{
	char message[BERTHD_MESSAGE_BYTES];
	uint32_t violations = 1;
	if (berthd_open(b, true, message)) {
		violations = state_verify(b->state, print_line, NULL);
		struct state_counts c;
		state_counts(b->state, &c);
		uint64_t nodes = 0;
		for (uint32_t s = 0; s < NODE_STATUSES; s++)
			nodes += c.nodes[s];
		printf("index %" PRIu64 ", %" PRIu64
		       " nodes, %u jobs, %u allocations: %u violations\n",
			state_index(b->state), nodes, c.jobs, c.allocations, violations);
	} else
		exit_with(message, EXIT_FAILURE);
	berthd_close(b);
	return violations ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void collected(struct command *command)
{
	atomic_flag *busy = command->context;
	atomic_flag_clear(busy);
}

// Asks the applier to collect records past their time; one request at a time.
static void collect_ended(struct berthd *b)
{
	static atomic_flag busy = ATOMIC_FLAG_INIT;
	static struct command command;
	if (atomic_flag_test_and_set(&busy))
		return;
	command = (struct command){.type = COMMAND_COLLECT, .done = collected, .context = &busy};
	if (!command_queue_push(b->queue, COMMAND_PRODUCER_SHARED, &command))
		atomic_flag_clear(&busy);
}

// The signal that is to be read; 0: none. SIGHUP is carried out here.
static uint32_t take_signal(struct berthd *b, int signals)
{
	struct signalfd_siginfo info = {0};
	if (read(signals, &info, sizeof info) != (ssize_t)sizeof info)
		return 0;
	if (info.ssi_signo != SIGHUP)
		return info.ssi_signo;
	berthd_reload(b);
	return 0;
}

// Sleeps in turns until a signal comes that ends it; feeds the watchdog only while the daemon is alive.
static void wait_for_signal(struct berthd *b, int signals)
{
	uint64_t watchdog_us = 0;
	bool watched = sd_watchdog_enabled(0, &watchdog_us) > 0;
	uint64_t last_collect_ns = 0, last_look_ns = 0;
	uint32_t signal_number = 0;
	while (!signal_number) {
		struct pollfd p = {.fd = signals, .events = POLLIN};
		if (WAITED(CAN_FAIL(MAIN_WAIT, poll(&p, 1, TURN_MS)), "main") > 0)
			signal_number = take_signal(b, signals);
		berthd_look_at_health(b);
		if (watched && berthd_alive(b))
			sd_notify(0, "WATCHDOG=1");
		berthd_look_at_clock(b, time_source_steady_lag_ns());
		uint64_t now_ns = time_monotonic_ns(&time_source_real);
		if (now_ns - last_look_ns >= MEMBERSHIP_EVERY_MS * NS_PER_MS) {
			membership_look_after(b);
			last_look_ns = now_ns;
		}
		if (now_ns - last_collect_ns >= COLLECT_EVERY_MS * NS_PER_MS) {
			collect_ended(b);
			last_collect_ns = now_ns;
		}
	}
	log_info("stopping", "signal=%u", signal_number);
}

// Blocks the signals in every thread, so that only the descriptor delivers them. SIGXFSZ is ignored: a file that may
// not grow is then a failed write, like a full disk.
static int open_signals(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0)
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static bool has_xdp_port(const struct berthd *b)
{
	struct dataplane_port_counters c;
	for (uint32_t i = 0; i < dataplane_ports(b->dataplane); i++) {
		dataplane_port_counters(b->dataplane, i, &c);
		if (strcmp(c.driver, "net_af_xdp") == 0)
			return true;
	}
	return false;
}

static int run_daemon(struct berthd *b)
{
	char message[BERTHD_MESSAGE_BYTES];
	int error = master_keys_load(b->config.master_key_file, &b->keys, message, sizeof message);
	if (error != 0)
		return exit_with(message, EXIT_FAILURE);
	int signals = open_signals();
	if (signals < 0)
		return exit_with("cannot set up signal handling", EXIT_FAILURE);
	log_detect_journal();
	log_configure((enum log_level)b->config.log_level, b->config.log_format == 1);
	bool started = berthd_open(b, false, message) && berthd_start(b, message) &&
		       privileges_drop(has_xdp_port(b), message, sizeof message);
	if (started) {
		char url[CONFIG_NAME_BYTES + 32];
		atomic_store(&b->is_ready, true);
		berthd_url(b, url, sizeof url);
		sd_notifyf(0, "READY=1\nSTATUS=serving %s", url);
		log_info("ready", "http=%s term=%lu", url, state_node_table(b->state)->term);
		wait_for_signal(b, signals);
		sd_notify(0, "STOPPING=1");
	} else
		exit_with(message, EXIT_FAILURE);
	berthd_close(b);
	close(signals);
	if (started)
		log_info("stopped", "clean=true");
	return started ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int run_genkey(const struct options *o)
{
	char message[BERTHD_MESSAGE_BYTES];
	if (master_keys_generate(o->key_file, o->rotate, message, sizeof message) != 0)
		return exit_with(message, EXIT_FAILURE);
	printf("wrote %s\n", o->key_file);
	return EXIT_SUCCESS;
}

static int run_restore(const struct options *o, const struct config *config)
{
	char message[BERTHD_MESSAGE_BYTES];
	// The archive is root's to read, and what came of it the user's.
	return berthd_restore(config, o->archive, message, sizeof message) &&
			       privileges_lower(
				       config->user, config->data_dir, message, sizeof message)
		       ? EXIT_SUCCESS
		       : exit_with(message, EXIT_FAILURE);
}

// What reads or writes data_dir does so as the user whose it is.
static bool is_of_the_user(enum action action)
{
	return action == ACTION_RUN || action == ACTION_CHECK || action == ACTION_CLUSTER ||
	       action == ACTION_VERIFY_STATE;
}

int berthd_run(int argc, char **argv)
{
	static struct berthd berthd;
	struct options options;
	char message[CONFIG_MESSAGE_BYTES];
	berthd.arguments = argv;
	config_defaults(&berthd.config);
	if (!options_read(argc, (const char *const *)argv, &berthd.config, &options, message))
		return exit_with(message, EXIT_USAGE);
	if (is_of_the_user(options.action) &&
		!privileges_lower(
			berthd.config.user, berthd.config.data_dir, message, sizeof message))
		return exit_with(message, EXIT_FAILURE);
	switch (options.action) {
	case ACTION_EXIT: return EXIT_SUCCESS;
	case ACTION_GENKEY: return run_genkey(&options);
	case ACTION_RESTORE: return run_restore(&options, &berthd.config);
	case ACTION_PRINT_CONFIG: config_print(&berthd.config, stdout); return EXIT_SUCCESS;
	case ACTION_VERIFY_STATE: return run_verify(&berthd);
	case ACTION_CLUSTER:
	case ACTION_CHECK:
	case ACTION_RUN: break;
	}
	if (!config_check(&berthd.config, message))
		return exit_with(message, EXIT_USAGE);
	if (options.action == ACTION_CLUSTER)
		return berthd_enrol(&berthd, options.verb);
	if (options.action == ACTION_CHECK)
		return run_check(&berthd.config);
	int status;
	return passes_preflight(&berthd.config, &status) ? run_daemon(&berthd) : status;
}
