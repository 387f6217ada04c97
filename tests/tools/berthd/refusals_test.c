// What a start lacks, or is warned of, is told; and so is what a running daemon finds.
#include "state/base/failpoint/failpoint.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/records/variable.h"
#include "tests/state/store/store_dir.h"
#include "tests/support/log_capture.h"
#include "tests/tools/berthd/silent_daemon.h"
#include "tools/api/server/server.h"
#include "tools/berthd/agents.h"
#include "tools/berthd/enrol.h"
#include "tools/berthd/health.h"
#include "tools/berthd/membership/exchange.h"
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

// The kernel takes no word of a command line that is as long.
#define WORD_BYTES (256u * 1024)
#define WITHIN_S 100u

static struct log_capture capture;
static char message[BERTHD_MESSAGE_BYTES];

static struct berthd *configure(void)
{
	struct berthd *b = memory_take(sizeof *b);

	silent_daemon_configure(b);
	return b;
}

static void set(struct berthd *b, const char *name, const char *value)
{
	if (!config_set(&b->config, name, value, message))
		fail_msg("%s", message);
}

static bool arm(const char *failing)
{
#ifdef BERTH_WITH_FAILPOINTS
	return failpoints_arm(failing, message, sizeof message) == 0;
#else
	return !*failing;
#endif
}

static void close_daemon(struct berthd *b)
{
	void *daemon = b;

	silent_daemon_end(&daemon);
}

#ifdef BERTH_WITH_FAILPOINTS
static void more_than_memory_has_is_refused(void **unused)
{
	struct berthd *b = configure();

	assert_true(arm("memory.map=enomem@1"));
	assert_false(berthd_open(b, false, message));
	assert_non_null(strstr(message, "memory for the tables (limits.*)"));
	assert_true(arm(""));
	close_daemon(b);
}
#endif

static void more_queues_than_workers_are_refused(void **unused)
{
	struct berthd *b = configure();
	struct topology_plan *plan = memory_take(sizeof *plan);

	b->config.dataplane.ports[0].queues = UINT16_MAX;
	assert_false(berthd_plan(&b->config, plan, message));
	assert_non_null(strstr(message, "planning threads to cores"));
	free(plan);
	close_daemon(b);
}

struct waiting {
	_Atomic bool is_done;
};

static void finish(struct command *c)
{
	struct waiting *w = c->context;
	atomic_store(&w->is_done, true);
}

// A daemon that takes a variable. Returns whether that was kept, if it comes back.
static bool keep_variable(struct berthd *b, const char *failing)
{
	struct variable *variable = record_create(&variable_description);
	struct command_variable ask = {.variable = variable};
	struct waiting waiting = {false};
	struct command c = {
		.type = COMMAND_VARIABLE, .variable = &ask, .done = finish, .context = &waiting};

	variable->name = text_copy(TEXT("default.v"));
	variable->sealed = text_copy(TEXT("sealed"));
	variable->key.bytes[0] = 7;
	if (!berthd_open(b, false, message) || !berthd_start(b, message) || !arm(failing) ||
		!command_queue_push(b->queue, COMMAND_PRODUCER_SHARED, &c))
		return false;
	while (!atomic_load(&waiting.is_done))
		usleep(1000);
	berthd_close(b);
	return c.outcome == OUTCOME_DONE;
}

// In a process of its own, because DPDK begins once in each. Returns the status of its exit.
static int keep_aside(struct berthd *b, const char *failing)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		alarm(WITHIN_S);
		_exit(keep_variable(b, failing) ? EXIT_SUCCESS : EXIT_FAILURE);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#ifdef BERTH_WITH_FAILPOINTS
// What is not in the log is acknowledged to nobody, and nothing is decided behind it.
static void a_log_that_fails_ends_the_daemon(void **unused)
{
	struct berthd *b = configure();

	log_capture_begin(&capture);
	int status = keep_aside(b, "log.write=eio;log.direct_write=eio");
	log_capture_end(&capture);
	assert_int_equal(status, 75); // sysexits: temporary failure
	assert_int_equal(log_capture_count(&capture, "log-failed", "unwritten"), 1);
	close_daemon(b);
}
#endif

static int take_port(char port[static 8])
{
	struct sockaddr_in6 at = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
	socklen_t size = sizeof at;
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0) { // a machine without IPv6
		struct sockaddr_in four = {.sin_family = AF_INET};
		size = sizeof four;
		memcpy(&at, &four, sizeof four);
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	}
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, size), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
	snprintf(port, 8, "%u", ntohs(at.sin6_port));
	return fd;
}

// A start that is not refused, with all that it warns of; and what its directory says afterwards.
static void a_start_warns_of_what_is_risky(void **unused)
{
	struct berthd *b = configure();
	char port[8], path[CONFIG_PATH_BYTES + 32];
	int taken = take_port(port);

	assert_int_equal(keep_aside(b, ""), EXIT_SUCCESS);
	config_keyring_path(&b->config, path);
	assert_int_equal(unlink(path), 0);

	set(b, "store.sync", "false");
	set(b, "http.address", "0.0.0.0");
	set(b, "http.insecure", "true");
	set(b, "agents.port", port);
	log_capture_begin(&capture);
	if (!berthd_open(b, false, message) || !berthd_start(b, message))
		fail_msg("%s", message);
	snprintf(path, sizeof path, "%s/acl-bootstrap-reset", b->config.data_dir);
	const struct api_settings *api = &b->api->settings;
	assert_int_equal(api->acl_reset_index(b), 0);
	file_write(path, "7\n", 2);
	assert_int_equal(api->acl_reset_index(b), 7);
	file_write(path, "seven\n", 6);
	assert_int_equal(api->acl_reset_index(b), 0);
	berthd_look_at_clock(b, 4 * (int64_t)NS_PER_S);
	berthd_look_at_clock(b, 6 * (int64_t)NS_PER_S);
	berthd_look_at_clock(b, 2 * (int64_t)NS_PER_S); // not yet again
	berthd_look_at_clock(b, 0);
	log_capture_end(&capture);
	static const char *const told[] = {"store-not-synced", "http-insecure", "agents-not-heard",
		"keyring-lost", "acl-reset-bad", "clock-was-set", "clock-is-right"};
	for (size_t i = 0; i < sizeof told / sizeof told[0]; i++)
		assert_int_equal(log_capture_count(&capture, told[i], ""), 1);
	close(taken);
	berthd_close(b);
	struct berthd *joining = memory_take(sizeof *joining);
	joining->config = b->config;
	set(joining, "cluster.name", "c");
	log_capture_begin(&capture);
	assert_int_equal(berthd_enrol(joining, "join"), EXIT_FAILURE);
	log_capture_end(&capture);
	assert_int_equal(
		log_capture_count(&capture, "has a state of its own", b->config.data_dir), 1);
	dir_remove(b->config.data_dir);
	free(joining);
	free(b);
}

// Who could be replaced would not come back here.
static void a_process_that_cannot_begin_anew_says_so(void **unused)
{
	char *word = memory_take(WORD_BYTES + 1);
	char *arguments[] = {word, NULL};
	const struct berthd b = {.arguments = arguments};

	memset(word, 'w', WORD_BYTES);
	log_capture_begin(&capture);
	berthd_begin_anew(&b, "a test");
	log_capture_end(&capture);
	assert_int_equal(log_capture_count(&capture, "beginning-anew", "a test"), 1);
	assert_int_equal(
		log_capture_count(&capture, "not-begun-anew", "Argument list too long"), 1);
	free(word);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef BERTH_WITH_FAILPOINTS
		cmocka_unit_test(a_log_that_fails_ends_the_daemon),
#endif
		cmocka_unit_test(a_start_warns_of_what_is_risky),
#ifdef BERTH_WITH_FAILPOINTS
		cmocka_unit_test(more_than_memory_has_is_refused),
#endif
		cmocka_unit_test(more_queues_than_workers_are_refused),
		cmocka_unit_test(a_process_that_cannot_begin_anew_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
