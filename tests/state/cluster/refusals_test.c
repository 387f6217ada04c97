// What a member of a cluster finds in etcd that it cannot follow, and what etcd refuses to it: it is said, nothing is
// applied, and who led appends no more.
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/cluster/epoch.h"
#include "tests/state/cluster/etcd_keys.h"
#include "tests/state/cluster/member.h"
#include "tests/state/store/store_dir.h"
#include "tests/support/log_capture.h"
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define OTHER "00000000-0000-4000-8000-00000000000f"
#define ANOTHER "00000000-0000-4000-8000-00000000000e"
// Of all threads of a member: the follower has come back more than once by then.
#define REQUESTS_OF_TURNS 24u

static struct member one;
static struct log_capture capture;

static int begin(void **unused)
{
	member_create(&one, "one");
	one.ttl_ms = 60000; // who leads goes on with it, on whatever machine
	member_init(&one);
	return 0;
}

// That etcd is gone is to be known soon.
static int begin_with_little_patience(void **unused)
{
	begin(unused);
	one.etcd_timeout_ms = 1500;
	return 0;
}

static int end_without_etcd(void **unused)
{
	member_remove(&one);
	return 0;
}

static int end(void **unused)
{
	etcd_keys_remove_all();
	return end_without_etcd(unused);
}

static void stop_and_close(struct member *m)
{
	member_stop(m);
	member_close(m);
}

static void put_text(const char *what, const char *text)
{
	etcd_keys_put(what, text, (uint32_t)strlen(text));
}

static struct cluster_status status_now(void)
{
	struct cluster_status status;

	cluster_status(one.cluster, &status);
	return status;
}

static void it_fails_with(const char *sentence)
{
	member_start(&one);
	AWAIT(one.failed > 0);
	stop_and_close(&one);
	if (!strstr(one.sentence, sentence))
		fail_msg("%s", one.sentence);
	assert_false(one.leads);
	assert_int_equal(one.lost, 0);
}

static void a_cluster_of_another_version_is_not_followed(void **unused)
{
	put_text("meta", "{}");
	it_fails_with("is of another version");
	put_text("meta", "{\"id\": \"" OTHER "\", \"format\": 99}");
	it_fails_with("is of another version");
	put_text("meta", "{\"id\": \"" OTHER "\", \"format\": 1}");
	it_fails_with("is another one");
}

static void put_piece_of(uint64_t epoch, const char *batch)
{
	struct log_piece piece = {.pieces = 1,
		.first_index = 1,
		.indexes = 1,
		.batch_bytes = (uint32_t)strlen(batch),
		.kept_bytes = (uint32_t)strlen(batch),
		.epoch = epoch,
		.leadership = 1};
	uint8_t *value = memory_take(LOG_PIECE_HEADER_BYTES + LOG_PIECE_BYTES);

	etcd_keys_put("log/0000000000000001.0000", value, log_piece_write(&piece, 0, batch, value));
	free(value);
}

static void a_damaged_log_is_not_applied(void **unused)
{
	put_text("log/0000000000000001.0000", "no piece");
	it_fails_with("log/0000000000000001.0000 of etcd is damaged");
	put_piece_of(0, "no batch");
	it_fails_with("cannot be applied");
}

// Asks for what is not there again and again, and applies nothing meanwhile.
static void it_tries_again(bool is_away)
{
	member_start(&one);
	const struct etcd_counters *etcd = cluster_etcd(one.cluster);
	AWAIT(is_away ? status_now().etcd_is_away
		      : atomic_load(&etcd->requests) > REQUESTS_OF_TURNS);
	assert_int_equal(state_index(one.core.state), 0);
	assert_int_equal(one.failed + one.lost, 0);
	stop_and_close(&one);
}

static void what_does_not_fit_together_is_read_again(void **unused)
{
	put_piece_of(7, "of a newer epoch");
	it_tries_again(false);
	etcd_keys_delete("log/0000000000000001.0000");
	put_text("lineage", "no number");
	it_tries_again(true);
	etcd_keys_delete("lineage");
	etcd_keys_delete("cut");
	it_tries_again(true);
}

// A key that is longer than any of ours: an answer with it cannot be read.
static void put_long_key(const char *folder)
{
	struct cluster_key from = cluster_key(MEMBER_CLUSTER, folder);
	char key[400] = "";
	const char *const put[] = {"put", key, "x", NULL};

	memset(key, 'z', sizeof key - 1);
	memcpy(key, from.text, strlen(from.text));
	assert_int_equal(etcd_server_control(etcd_keys_server(), put), 0);
}

static void a_log_that_cannot_be_read_is_tried_again(void **unused)
{
	put_long_key("log/");
	it_tries_again(true);
}

// Only the clerk reads what others have stored; who does not know them does not lead them.
static void what_others_have_cannot_be_read(void **unused)
{
	put_long_key("stored/");
	log_capture_begin(&capture);
	member_start(&one);
	AWAIT(atomic_load(&cluster_etcd(one.cluster)->failures) > 0);
	stop_and_close(&one);
	log_capture_end(&capture);
	assert_false(one.leads);
	assert_int_equal(one.failed + one.lost, 0);
	assert_true(log_capture_count(&capture, "cluster-etcd-away", "") > 0);
}

// As after its own restore, when it led.
static void the_state_of_a_newer_epoch_takes_its_place(void **unused)
{
	char incoming[96], arrived[96];

	snprintf(incoming, sizeof incoming, "%s/incoming", one.directory);
	snprintf(arrived, sizeof arrived, "%s/arrived", one.directory);
	assert_int_equal(mkdir(incoming, 0700), 0);
	assert_int_equal(epoch_note(incoming, 9), 0);
	put_text("lineage", "9");
	member_start(&one);
	AWAIT(one.lost > 0);
	stop_and_close(&one);
	assert_non_null(strstr(one.sentence, "takes its place"));
	assert_int_equal(one.failed, 0);
	assert_int_equal(access(arrived, F_OK), 0);
	assert_int_not_equal(access(incoming, F_OK), 0);
}

static void put_member(const char *id, int64_t ahead_ms)
{
	char key[64], text[256];
	int64_t now_ms = (int64_t)(time_wall_ns(&time_source_real) / 1000000);

	snprintf(key, sizeof key, "members/%s", id);
	snprintf(text, sizeof text,
		"{\"id\":\"%s\",\"name\":\"o\",\"http\":\"http://o\",\"wire\":\"\"}", id);
	put_text(key, text);
	snprintf(key, sizeof key, "alive/%s", id);
	snprintf(text, sizeof text, "%" PRId64, now_ms + ahead_ms);
	put_text(key, text);
}

static void who_is_too_far_behind_asks_those_who_are_there(void **unused)
{
	put_text("cut", "1000");
	log_capture_begin(&capture);
	it_tries_again(false); // nobody is
	log_capture_end(&capture);
	assert_int_equal(log_capture_count(&capture, "cluster-too-far-behind", "cut"), 1);
	assert_int_equal(log_capture_count(&capture, "cluster-no-snapshot", "no other member"), 1);
	assert_int_equal(one.fetched, 0);
	put_member(OTHER, 0);
	member_start(&one);
	AWAIT(one.fetched > 0);
	assert_string_equal(one.fetched_from, "http://o");
	stop_and_close(&one);
}

static bool has_logged(const char *event, const char *words)
{
	log_capture_read(&capture);
	return log_capture_count(&capture, event, words) > 0;
}

static void what_is_odd_about_others_is_told(void **unused)
{
	put_member(OTHER, 3600000);
	put_member(ANOTHER, 3600000);
	put_text("members/x", "no member");
	one.ttl_ms = 1000; // etcd gives no lease as short
	log_capture_begin(&capture);
	member_start(&one);
	AWAIT(status_now().clock_is_odd);
	AWAIT(has_logged("cluster-ttl-raised", "asked_s=1 ")); // once etcd has answered in time
	assert_int_equal(status_now().member_count, 3);
	assert_int_equal(cluster_restore_offer(one.cluster), -ESTALE);
	stop_and_close(&one);
	log_capture_end(&capture);
	assert_true(log_capture_count(&capture, "cluster-member-bad", "members/x") > 0);
	assert_true(log_capture_count(&capture, "cluster-clock", "set the clock") > 0);
}

static int append_one(void)
{
	struct command_log log = cluster_log(one.cluster);

	return log.append(log.context, state_index(one.core.state) + 1, 1, "x", 1);
}

static void who_restored_appends_no_more(void **unused)
{
	uint32_t size;

	member_start(&one);
	member_await_leadership(&one);
	uint64_t term = status_now().term;
	cluster_restore_decide(one.cluster, 5);
	char *lineage = (char *)etcd_keys_get("lineage", &size);
	assert_non_null(lineage);
	assert_int_equal(strtoull(lineage, NULL, 10), term);
	free(lineage);
	assert_int_equal(append_one(), -ESTALE);
	assert_int_equal(one.lost, 1);
	assert_non_null(strstr(one.sentence, "another member leads"));
	stop_and_close(&one);
}

static void settings_that_no_member_can_have_are_refused(void **unused)
{
	char path[96], message[256], name[65];
	struct member_settings settings = {.name = "t",
		.directory = one.directory,
		.member_name = name,
		.http = "",
		.wire = "",
		.etcd = {.endpoints = "nonsense"}};
	struct cluster *cluster;

	memset(name, 'n', 64);
	name[64] = '\0';
	assert_int_equal(cluster_open(&settings, &cluster, message, sizeof message), -EINVAL);
	assert_non_null(strstr(message, "too long"));
	name[63] = '\0';
	assert_int_equal(cluster_open(&settings, &cluster, message, sizeof message), -EINVAL);
	assert_non_null(strstr(message, "etcd endpoint"));
	snprintf(path, sizeof path, "%s/epoch", one.directory);
	file_write(path, "none", 4);
	assert_int_equal(
		cluster_open(&settings, &cluster, message, sizeof message), -ERROR_CORRUPT);
	assert_non_null(strstr(message, "cannot read the epoch of "));
	assert_null(cluster);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0); // nothing that was noted
	assert_int_equal(epoch_forget(one.directory), -EISDIR);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(epoch_forget(one.directory), 0);
}

// Nothing was acknowledged meanwhile, and the end does not wait for what cannot be done.
static void an_etcd_that_lets_nobody_in_is_told(void **unused)
{
	const char *const user[] = {"user", "add", "root:p", NULL};
	const char *const role[] = {"role", "add", "root", NULL};
	const char *const grant[] = {"user", "grant-role", "root", "root", NULL};
	const char *const enable[] = {"auth", "enable", NULL};
	const char *const disable[] = {"--user", "root:p", "auth", "disable", NULL};

	member_start(&one);
	member_await_leadership(&one);
	assert_int_equal(etcd_server_control(etcd_keys_server(), user), 0);
	(void)etcd_server_control(etcd_keys_server(), role);
	assert_int_equal(etcd_server_control(etcd_keys_server(), grant), 0);
	log_capture_begin(&capture);
	assert_int_equal(etcd_server_control(etcd_keys_server(), enable), 0);
	AWAIT(status_now().etcd_is_away);
	cluster_end(one.cluster, 0);
	assert_int_equal(append_one(), -ECANCELED);
	assert_int_equal(one.lost, 0);
	cluster_stop(one.cluster);
	member_close(&one);
	log_capture_end(&capture);
	assert_true(log_capture_count(&capture, "cluster-etcd-away", "leads=") > 0);
	assert_int_equal(etcd_server_control(etcd_keys_server(), disable), 0);
}

// The last: nothing has room behind it, and etcd is not there any more.
static void an_etcd_without_room_is_told(void **unused)
{
	static uint8_t much[256 * 1024];
	char stored[64];

	member_start(&one);
	member_await_leadership(&one);
	snprintf(stored, sizeof stored, "stored/%s", one.identity.member);
	AWAIT(etcd_keys_number(stored) == state_index(one.core.state)); // and told no more
	log_capture_begin(&capture);
	while (etcd_keys_try_put("much", much, sizeof much) != -ENOSPC)
		;
	assert_int_equal(append_one(), -ENOSPC);
	assert_true(status_now().etcd_is_away);
	log_capture_end(&capture);
	assert_true(log_capture_count(&capture, "cluster-etcd-full", "NOSPACE") > 0);
	assert_int_equal(one.lost, 0);
	// Nobody else asks etcd for anything now than who looks whether it has room again.
	const struct etcd_counters *etcd = cluster_etcd(one.cluster);
	etcd_server_kill(etcd_keys_server());
	AWAIT(atomic_load(&etcd->failures) > 1);
	stop_and_close(&one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_cluster_of_another_version_is_not_followed, begin, end),
		cmocka_unit_test_setup_teardown(a_damaged_log_is_not_applied, begin, end),
		cmocka_unit_test_setup_teardown(
			what_does_not_fit_together_is_read_again, begin, end),
		cmocka_unit_test_setup_teardown(
			a_log_that_cannot_be_read_is_tried_again, begin, end),
		cmocka_unit_test_setup_teardown(what_others_have_cannot_be_read, begin, end),
		cmocka_unit_test_setup_teardown(
			the_state_of_a_newer_epoch_takes_its_place, begin, end),
		cmocka_unit_test_setup_teardown(
			who_is_too_far_behind_asks_those_who_are_there, begin, end),
		cmocka_unit_test_setup_teardown(what_is_odd_about_others_is_told, begin, end),
		cmocka_unit_test_setup_teardown(who_restored_appends_no_more, begin, end),
		cmocka_unit_test_setup_teardown(
			settings_that_no_member_can_have_are_refused, begin, end),
		cmocka_unit_test_setup_teardown(an_etcd_that_lets_nobody_in_is_told, begin, end),
		cmocka_unit_test_setup_teardown(
			an_etcd_without_room_is_told, begin_with_little_patience, end_without_etcd),
	};
	log_configure(LOG_ERROR, false);
	return cmocka_run_group_tests(tests, etcd_keys_begin_small, etcd_keys_end);
}
