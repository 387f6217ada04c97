// The whole agent over a real socket, against a controller in miniature.
#include "state/base/log.h"
#include "tests/tools/client/responder.h"
#include "tools/agent/agent.h"
#include "tools/agent/base/folders.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/berth-agent-XXXXXX";
static struct responder *server;
static struct agent agent;
static struct agent_options options;
static char meta[FLAG_LIST_MAX][400];
static int signals[2];
static pthread_t thread;
static enum agent_exit exit_code;

static void nap_ms(uint32_t ms)
{
	struct timespec t = {.tv_nsec = ms * 1000000l};
	nanosleep(&t, NULL);
}

// Of tests that count what an agent says only when it was not answered for a while: long enough for any machine.
#define LONG_TTL_MS 750u

// Waits up to twenty seconds.
#define WAIT_FOR(condition)                                \
	do {                                               \
		uint32_t tries_ = 0;                       \
		while (!(condition) && tries_++ < 10000)   \
			nap_ms(2);                         \
		if (!(condition))                          \
			fail_msg("never: %s", #condition); \
	} while (0)

static void provision_key(void)
{
	struct prng prng;
	struct identity id;
	char message[300], path[64], text[WIRE_KEY_TEXT_BYTES];
	prng_seed_from_system(&prng);
	assert_int_equal(identity_open(folder, &prng, &id, message, sizeof message), 0);
	struct wire_key key;
	assert_true(node_key_derive(&server->masters, 1, &id.node, &key));
	identity_close(&id);
	snprintf(path, sizeof path, "%s/node.key", folder);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	wire_key_format(1, &key, text);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void *run(void *unused)
{
	exit_code = agent_run(&agent, signals[0]);
	return NULL;
}

static void start(void)
{
	char message[300];
	if (agent_create(&agent, &options, message, sizeof message) < 0)
		fail_msg("%s", message);
	assert_int_equal(pipe2(signals, O_CLOEXEC), 0);
	assert_int_equal(pthread_create(&thread, NULL, run, NULL), 0);
}

static void send_signal(uint32_t number)
{
	struct signalfd_siginfo info = {.ssi_signo = number};
	assert_int_equal(write(signals[1], &info, sizeof info), sizeof info);
}

static enum agent_exit stop(void)
{
	send_signal(SIGTERM);
	pthread_join(thread, NULL);
	close(signals[0]);
	close(signals[1]);
	agent_destroy(&agent);
	return exit_code;
}

static int set_up(void **unused)
{
	server = responder_start();
	atomic_store(&server->rules.ttl_ms, 150);
	options = (struct agent_options){.server = server->address,
		.state_dir = folder,
		.datacenter = "dc1",
		.class_name = "",
		.pool = "default",
		.cpu_mhz = 4000};
	return 0;
}

static int tear_down(void **unused)
{
	responder_stop(server);
	folder_remove(AT_FDCWD, folder);
	assert_int_equal(mkdir(folder, 0700), 0);
	return 0;
}

static void registers_beats_and_leaves(void **unused)
{
	provision_key();
	atomic_store(&server->rules.ttl_ms, LONG_TTL_MS);
	start();
	WAIT_FOR(server->counters.heartbeats >= 3);
	assert_int_equal(server->counters.registrations, 1);
	assert_int_equal(stop(), AGENT_LEFT);
	assert_true(server->counters.goodbyes >= 1); // one that is not answered soon is said again
	assert_int_equal(server->counters.bad_tag, 0);
	assert_int_equal(server->counters.replay, 0);
	assert_true(server->nodes[0].pairs > 10);
}

static void long_description_goes_in_parts(void **unused)
{
	provision_key();
	for (uint32_t i = 0; i < 20; i++) {
		int at = snprintf(meta[i], sizeof meta[i], "key%u=", i);
		memset(meta[i] + at, 'x', 300);
		options.meta.items[options.meta.count++] = meta[i];
	}
	start();
	WAIT_FOR(server->counters.heartbeats >= 1);
	assert_true(server->nodes[0].parts_seen > 1);
	assert_true(server->nodes[0].pairs > 30);
	assert_int_equal(stop(), AGENT_LEFT);
}

static void survives_a_controller_that_lost_its_state(void **unused)
{
	provision_key();
	start();
	WAIT_FOR(server->counters.heartbeats >= 1);
	responder_forget(server);
	// It cannot answer, because it does not know whose key to take: only another registration helps.
	WAIT_FOR(server->counters.registrations >= 2);
	WAIT_FOR(server->counters.heartbeats >= 3);
	assert_int_equal(stop(), AGENT_LEFT);
}

static void follows_a_restarted_controller(void **unused)
{
	provision_key();
	atomic_store(&server->rules.ttl_ms, LONG_TTL_MS);
	start();
	WAIT_FOR(server->counters.heartbeats >= 1);
	atomic_store(&server->rules.term, 6);
	WAIT_FOR(server->counters.resyncs >= 1);
	uint64_t before = server->counters.heartbeats;
	WAIT_FOR(server->counters.heartbeats >= before + 2);
	assert_int_equal(server->counters.registrations, 1);
	send_signal(SIGHUP);
	WAIT_FOR(server->counters.registrations >= 2);
	assert_int_equal(stop(), AGENT_LEFT);
	assert_int_equal(agent.identity.term, 6);
	// The highest term outlives the process: an older controller is not obeyed.
	atomic_store(&server->rules.term, 4);
	before = server->counters.heartbeats;
	uint64_t registrations = server->counters.registrations;
	start();
	WAIT_FOR(server->counters.registrations >= registrations + 2);
	assert_int_equal(stop(), AGENT_LEFT);
	assert_true(agent.counters.old_terms >= 1);
	assert_int_equal(server->counters.heartbeats, before);
}

static void registers_above_what_the_controller_knows(void **unused)
{
	provision_key();
	start();
	WAIT_FOR(server->counters.heartbeats >= 1);
	assert_int_equal(stop(), AGENT_LEFT);
	// As if the clock had been far ahead the last time.
	server->nodes[0].registration += 1000000000;
	uint64_t ahead = server->nodes[0].registration;
	atomic_store(&server->rules.ttl_ms, LONG_TTL_MS);
	start();
	WAIT_FOR(server->counters.registrations >= 2);
	assert_true(server->nodes[0].registration == ahead + 1);
	assert_int_equal(stop(), AGENT_LEFT);
}

static void registers_again_when_told(void **unused)
{
	provision_key();
	start();
	WAIT_FOR(server->counters.heartbeats >= 1);
	atomic_store(&server->rules.directives, WIRE_DIRECTIVE_REGISTER);
	WAIT_FOR(server->counters.registrations >= 2);
	atomic_store(&server->rules.directives, 0);
	atomic_store(&server->rules.reason, WIRE_REFUSED_STALE_GENERATION);
	atomic_store(&server->rules.refuse, 1);
	WAIT_FOR(server->counters.registrations >= 3);
	assert_int_equal(stop(), AGENT_LEFT);
}

static void lost_frames_do_no_harm(void **unused)
{
	provision_key();
	atomic_store(&server->rules.ttl_ms, LONG_TTL_MS);
	atomic_store(&server->rules.drop, 1);
	start();
	WAIT_FOR(server->counters.heartbeats >= 2);
	atomic_store(&server->rules.drop, 3);
	WAIT_FOR(server->rules.drop == 0);
	uint64_t before = server->counters.heartbeats;
	WAIT_FOR(server->counters.heartbeats > before);
	assert_int_equal(server->counters.registrations, 1);
	assert_int_equal(stop(), AGENT_LEFT);
	assert_true(agent.counters.reconnects > 1);
}

static const struct {
	enum wire_refusal reason;
	const char *event;
} hints[] = {{WIRE_REFUSED_CONFLICT, "conflict"}, {WIRE_REFUSED_NOT_ADMITTED, "not-admitted"},
	{WIRE_REFUSED_QUARANTINED, "quarantined"},
	{WIRE_REFUSED_BAD_DESCRIPTION, "bad-description"}};
#define HINTS (sizeof hints / sizeof hints[0])
static _Atomic bool is_hinted[HINTS];

static void note_hint(const struct log_note *note)
{
	for (uint32_t i = 0; i < HINTS; i++)
		if (strcmp(note->event, hints[i].event) == 0)
			atomic_store(&is_hinted[i], true);
}

// Whatever the node asks is refused meanwhile: it goes on to ask.
static void a_refusal_that_needs_an_operator_has_a_hint(void **unused)
{
	provision_key();
	log_follow(LOG_ERROR, note_hint);
	start();
	WAIT_FOR(server->counters.heartbeats >= 1);
	for (uint32_t i = 0; i < HINTS; i++) {
		atomic_store(&server->rules.reason, hints[i].reason);
		atomic_store(&server->rules.refuse, UINT32_MAX);
		WAIT_FOR(atomic_load(&is_hinted[i]));
	}
	atomic_store(&server->rules.refuse, 0);
	uint64_t before = server->counters.heartbeats;
	WAIT_FOR(server->counters.heartbeats >= before + 2);
	assert_int_equal(stop(), AGENT_LEFT);
	log_follow(LOG_ERROR + 1, NULL);
}

static void unheard_goodbye_is_said_so(void **unused)
{
	provision_key();
	start();
	WAIT_FOR(server->counters.heartbeats >= 1);
	atomic_store(&server->rules.drop, UINT32_MAX);
	assert_int_equal(stop(), AGENT_UNCONFIRMED);
}

static void wrong_key_is_never_registered(void **unused)
{
	provision_key();
	server->masters.keys[0].bytes[0] ^= 1;
	start();
	WAIT_FOR(server->counters.bad_tag >= 1);
	assert_int_equal(stop(), AGENT_LEFT);
	assert_int_equal(server->node_count, 0);
}

static void missing_key_is_explained(void **unused)
{
	char message[300];
	assert_true(agent_create(&agent, &options, message, sizeof message) < 0);
	assert_non_null(strstr(message, "node.key"));
	agent_destroy(&agent);
}

static void a_missing_data_folder_is_made(void **unused)
{
	char message[300], path[64];

	provision_key();
	snprintf(path, sizeof path, "%s/none/below", folder);
	options.data_dir = path;
	assert_true(agent_create(&agent, &options, message, sizeof message) < 0);
	assert_non_null(strstr(message, "cannot make --data-dir"));
	agent_destroy(&agent);
	snprintf(path, sizeof path, "%s/data", folder);
	start();
	WAIT_FOR(server->counters.registrations >= 1);
	assert_int_equal(stop(), AGENT_LEFT);
	start(); // it may be there
	assert_int_equal(stop(), AGENT_LEFT);
	folder_remove(AT_FDCWD, path);
}

static void expect_refusal(const char *part)
{
	char message[300];

	assert_true(agent_create(&agent, &options, message, sizeof message) < 0);
	assert_non_null(strstr(message, part));
	agent_destroy(&agent);
}

static void options_that_nobody_checked_are_refused(void **unused)
{
	char images[400];

	provision_key();
	options.allow_caps = "fly";
	expect_refusal("there is no capability \"fly\"");
	options.allow_caps = NULL;
	memset(images, 'x', sizeof images - 1);
	images[sizeof images - 1] = '\0';
	options.vm_images = images;
	expect_refusal("--vm-images is longer than");
	options.vm_images = NULL;
	options.server = "localhost,";
	expect_refusal("\"localhost,\" is no list of controllers");
}

static _Atomic uint32_t terms_lost, not_understood, requests_refused, not_watched;

static void note_error(const struct log_note *note)
{
	terms_lost += strcmp(note->event, "term-not-stored") == 0;
	not_understood += strcmp(note->event, "allocation-not-understood") == 0;
	requests_refused += strcmp(note->event, "allocation-request-refused") == 0;
	not_watched += strcmp(note->event, "signals-not-watched") == 0 &&
		       strstr(note->fields, "Too many open files");
}

static void an_agent_that_nobody_could_end_does_not_run(void **unused)
{
	char message[300];

	provision_key();
	assert_int_equal(agent_create(&agent, &options, message, sizeof message), 0);
	log_follow(LOG_ERROR, note_error);
	errno = EMFILE;
	assert_int_equal(agent_run(&agent, -1), AGENT_FAILED);
	log_follow(LOG_ERROR + 1, NULL);
	assert_int_equal(not_watched, 1);
	assert_int_equal(agent.counters.sent, 0);
	agent_destroy(&agent);
}

static void a_term_that_cannot_be_stored_is_said(void **unused)
{
	char path[64];

	provision_key();
	snprintf(path, sizeof path, "%s/term.new", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	atomic_store(&server->rules.term, 9);
	log_follow(LOG_ERROR, note_error);
	start();
	WAIT_FOR(terms_lost > 0);
	assert_int_equal(stop(), AGENT_LEFT);
	log_follow(LOG_ERROR + 1, NULL);
}

// Nobody runs what it does not understand; the controller is told that it failed.
static void what_is_not_understood_fails(void **unused)
{
	provision_key();
	log_follow(LOG_ERROR, note_error);
	responder_add_alloc(server, 1, "batch", "\"Driver\":\"mock\",\"KillTimeout\":-1");
	start();
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_FAILED);
	assert_int_equal(not_understood, 1);
	assert_int_equal(stop(), AGENT_LEFT);
	log_follow(LOG_ERROR + 1, NULL);
}

// One that nothing is known to help against.
static void a_refusal_that_nobody_expects_is_said(void **unused)
{
	provision_key();
	atomic_store(&server->rules.ttl_ms, 240000); // so that a heartbeat is not what is refused
	log_follow(LOG_ERROR, note_error);
	start();
	WAIT_FOR(server->counters.heartbeats == 1 && server->counters.allocs > 0);
	atomic_store(&server->rules.reason, WIRE_REFUSED_BAD_DESCRIPTION);
	atomic_store(&server->rules.refuse, 1);
	responder_add_alloc(server, 1, "batch", "\"Driver\":\"mock\"");
	responder_notify(server);
	WAIT_FOR(requests_refused > 0);
	assert_int_equal(stop(), AGENT_LEFT);
	log_follow(LOG_ERROR + 1, NULL);
}

// Two controllers, of which the other follows.
static struct responder *start_with_two(bool other_is_first)
{
	static char list[80];
	struct responder *other = responder_start();
	atomic_store(&server->rules.ttl_ms, LONG_TTL_MS);
	atomic_store(&other->rules.ttl_ms, LONG_TTL_MS);
	atomic_store(&other->rules.leader_port, server->port);
	atomic_store(&other->rules.follows, true);
	snprintf(list, sizeof list, "%s,%s", other_is_first ? other->address : server->address,
		other_is_first ? server->address : other->address);
	options.server = list;
	provision_key();
	start();
	return other;
}

static void a_follower_sends_it_to_the_leader(void **unused)
{
	struct responder *other = start_with_two(true);
	WAIT_FOR(server->counters.heartbeats >= 2);
	assert_true(other->counters.not_leader >= 1);
	assert_int_equal(other->counters.registrations, 0);
	assert_int_equal(server->counters.registrations, 1);
	assert_int_equal(stop(), AGENT_LEFT);
	assert_true(agent.counters.redirects >= 1);
	responder_stop(other);
}

// The next leader knows the node under the same slot and generation, so that it need not register.
static void it_finds_the_leader_after_a_takeover(void **unused)
{
	struct responder *other = start_with_two(false);
	WAIT_FOR(server->counters.heartbeats >= 1);
	responder_die(server);
	responder_take_over(other, server);
	atomic_store(&other->rules.follows, false);
	WAIT_FOR(other->counters.heartbeats >= 2);
	assert_int_equal(other->counters.registrations, 0);
	assert_true(other->counters.resyncs >= 1);
	assert_int_equal(stop(), AGENT_LEFT);
	assert_true(other->counters.goodbyes >= 1);
	responder_stop(other);
}

// The former leader is reached, and says who leads now; it is not obeyed in a term that has passed.
static void a_leader_that_was_replaced_is_left(void **unused)
{
	struct responder *other = start_with_two(false);
	WAIT_FOR(server->counters.heartbeats >= 1);
	responder_take_over(other, server);
	atomic_store(&other->rules.follows, false);
	atomic_store(&server->rules.leader_port, other->port);
	atomic_store(&server->rules.follows, true);
	WAIT_FOR(other->counters.heartbeats >= 2);
	assert_int_equal(other->counters.registrations, 0);
	uint64_t resyncs = server->counters.resyncs;
	// It believes that it leads, and the other names it.
	atomic_store(&server->rules.follows, false);
	atomic_store(&other->rules.leader_port, server->port);
	atomic_store(&other->rules.follows, true);
	WAIT_FOR(server->counters.resyncs > resyncs);
	atomic_store(&other->rules.follows, false);
	uint64_t beats = other->counters.heartbeats;
	WAIT_FOR(other->counters.heartbeats >= beats + 2);
	assert_int_equal(stop(), AGENT_LEFT);
	assert_true(agent.counters.old_terms > 0);
	assert_int_equal(agent.beat.session.term, other->rules.term);
	responder_stop(other);
}

static void without_a_leader_it_tries_them_in_turn(void **unused)
{
	struct responder *other = start_with_two(false);
	WAIT_FOR(server->counters.heartbeats >= 1);
	responder_take_over(other, server);
	atomic_store(&other->rules.leader_port, 0);
	atomic_store(&server->rules.follows, true);
	WAIT_FOR(server->counters.not_leader >= 3 && other->counters.not_leader >= 3);
	uint64_t beats = server->counters.heartbeats;
	atomic_store(&server->rules.follows, false);
	WAIT_FOR(server->counters.heartbeats > beats);
	assert_int_equal(server->counters.registrations, 1);
	assert_int_equal(stop(), AGENT_LEFT);
	responder_stop(other);
}

#define WITH_SERVER(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(registers_beats_and_leaves),
		WITH_SERVER(long_description_goes_in_parts),
		WITH_SERVER(survives_a_controller_that_lost_its_state),
		WITH_SERVER(follows_a_restarted_controller),
		WITH_SERVER(registers_above_what_the_controller_knows),
		WITH_SERVER(registers_again_when_told),
		WITH_SERVER(lost_frames_do_no_harm),
		WITH_SERVER(a_refusal_that_needs_an_operator_has_a_hint),
		WITH_SERVER(unheard_goodbye_is_said_so),
		WITH_SERVER(wrong_key_is_never_registered),
		WITH_SERVER(missing_key_is_explained),
		WITH_SERVER(a_missing_data_folder_is_made),
		WITH_SERVER(options_that_nobody_checked_are_refused),
		WITH_SERVER(an_agent_that_nobody_could_end_does_not_run),
		WITH_SERVER(a_term_that_cannot_be_stored_is_said),
		WITH_SERVER(what_is_not_understood_fails),
		WITH_SERVER(a_refusal_that_nobody_expects_is_said),
		WITH_SERVER(a_follower_sends_it_to_the_leader),
		WITH_SERVER(it_finds_the_leader_after_a_takeover),
		WITH_SERVER(a_leader_that_was_replaced_is_left),
		WITH_SERVER(without_a_leader_it_tries_them_in_turn),
	};
	if (!mkdtemp(folder))
		return 1;
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	folder_remove(AT_FDCWD, folder);
	return rc;
}
