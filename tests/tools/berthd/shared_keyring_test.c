// The keyring of a cluster, whose etcd answers as it likes: what cannot be told, read or kept is said, and the own
// keyring stays as it was. And what else a member does that does not lead.
#include "state/base/base64.h"
#include "state/base/memory.h"
#include "state/cluster/cluster_private.h"
#include "tests/state/store/store_dir.h"
#include "tests/support/etcd/fake_server.h"
#include "tests/support/log_capture.h"
#include "tools/berthd/backup.h"
#include "tools/berthd/berthd.h"
#include "tools/berthd/membership/exchange.h"
#include "tools/berthd/membership/membership.h"
#include "tools/berthd/membership/shared_keyring.h"
#include "tools/keyring/keyring.h"
#include "tools/keyring/keyring_share.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct log_capture capture;

#define WITHIN_S 100u

struct stage {
	struct berthd daemon;
	struct fake_server etcd;
	char directory[64], path[CONFIG_PATH_BYTES + 16]; // path: of the keyring
	char answer[2048];
	char message[BERTHD_MESSAGE_BYTES];
};

static const char *answer_as_told(void *context, uint32_t request, size_t *size)
{
	const struct stage *s = context;

	*size = strlen(s->answer);
	return s->answer;
}

static void tell_etcd(struct stage *s, const char *status, const char *body)
{
	// Over a connection of its own each, because it answers one at a time.
	snprintf(s->answer, sizeof s->answer,
		"HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s", status,
		strlen(body), body);
}

static void tell_bytes(struct stage *s, const void *bytes, size_t size)
{
	char body[1500];
	char *value = base64_encode((struct text){bytes, (uint32_t)size});

	snprintf(body, sizeof body,
		"{\"header\":{\"revision\":\"5\"},\"kvs\":[{\"key\":\"YQ==\",\"create_revision\":"
		"\"3\","
		"\"mod_revision\":\"3\",\"version\":\"1\",\"value\":\"%s\"}],\"count\":\"1\"}",
		value);
	free(value);
	tell_etcd(s, "200 OK", body);
}

static void tell_keys_of(struct stage *s, uint8_t secret)
{
	struct keyring *other = keyring_create();
	struct keyring_keys keys;
	uint8_t sealed[KEYRING_SHARE_BYTES_MAX];
	const struct master_keys *masters = &s->daemon.keys;

	keyring_copy(other, &keys);
	uint8_t bytes[MASTER_KEY_BYTES];
	memcpy(bytes, masters->keys[0].bytes, sizeof bytes);
	bytes[0] = secret;
	tell_bytes(s, sealed, keyring_share_seal(&keys, masters->keys[0].id, bytes, sealed));
	keyring_destroy(other);
}

static int begin(void **state)
{
	struct stage *s = memory_take(sizeof *s);
	struct berthd *b = &s->daemon;

	snprintf(s->directory, sizeof s->directory, "%s", dir_create());
	config_defaults(&b->config);
	assert_true(config_set(&b->config, "data_dir", s->directory, s->message));
	assert_true(config_set(&b->config, "limits.nodes", "100", s->message));
	assert_true(config_set(&b->config, "limits.allocations", "100", s->message));
	config_keyring_path(&b->config, s->path);
	b->keys = (struct master_keys){.count = 1, .keys = {{.id = 1, .bytes = {7}}}};
	if (!berthd_open(b, false, s->message))
		fail_msg("%s", s->message);
	s->etcd.answer = answer_as_told;
	s->etcd.context = s;
	fake_server_start(&s->etcd);
	const struct member_settings settings = {.name = "c",
		.etcd = {.endpoints = s->etcd.url, .timeout_ms = 60000},
		.ttl_ms = 1000,
		.identity = {.member = "11111111-2222-3333-4444-555555555555"},
		.directory = s->directory,
		.member_name = "m",
		.http = "http://127.0.0.1:1",
		.wire = "",
		.store = b->store,
		.state = b->state,
		.time = &time_source_real};
	if (cluster_open(&settings, &b->cluster, s->message, sizeof s->message) != 0)
		fail_msg("%s", s->message);
	b->keyring = keyring_open(s->path, true, s->message, sizeof s->message);
	assert_non_null(b->keyring);
	*state = s;
	return 0;
}

static int end(void **state)
{
	struct stage *s = *state;

	cluster_close(s->daemon.cluster);
	s->daemon.cluster = NULL;
	fake_server_stop(&s->etcd);
	berthd_close(&s->daemon);
	dir_remove(s->directory);
	free(s);
	return 0;
}

static void expect_refusal(struct stage *s, bool leads, const char *words)
{
	struct keyring_keys before, after;

	keyring_copy(s->daemon.keyring, &before);
	assert_false(shared_keyring_take(&s->daemon, leads, s->message, sizeof s->message));
	if (!strstr(s->message, words))
		fail_msg("%s", s->message);
	keyring_copy(s->daemon.keyring, &after);
	assert_memory_equal(&before, &after, sizeof before);
}

static void what_cannot_be_read_is_not_taken(void **state)
{
	struct stage *s = *state;

	tell_etcd(s, "404 Not Found", "no");
	expect_refusal(s, false, "the keyring of the cluster cannot be read");
	tell_bytes(s, "nothing of this kind", 20);
	expect_refusal(s, false, "sealed under a master key");
	tell_keys_of(s, 8);
	expect_refusal(s, false, "sealed under a master key");
}

// Who has the right master key takes it, unless it cannot be kept.
static void what_cannot_be_kept_is_not_taken(void **state)
{
	struct stage *s = *state;
	struct keyring_keys before, after;
	char temporary[CONFIG_PATH_BYTES + 32];

	snprintf(temporary, sizeof temporary, "%s.new", s->path);
	assert_int_equal(mkdir(temporary, 0700), 0);
	tell_keys_of(s, 7);
	expect_refusal(s, false, s->path);
	assert_int_equal(rmdir(temporary), 0);
	keyring_copy(s->daemon.keyring, &before);
	assert_true(shared_keyring_take(&s->daemon, false, s->message, sizeof s->message));
	keyring_copy(s->daemon.keyring, &after);
	assert_memory_not_equal(&before, &after, sizeof before);
}

static void only_who_leads_tells_its_own(void **state)
{
	struct stage *s = *state;

	tell_etcd(s, "200 OK", "{\"header\":{\"revision\":\"5\"}}"); // there is none yet
	assert_true(shared_keyring_take(&s->daemon, false, s->message, sizeof s->message));
	expect_refusal(s, true, "this member does not lead");
}

// A rotation that the others do not hear of is none.
static void what_is_not_told_is_not_rotated(void **state)
{
	struct stage *s = *state;
	struct keyring_keys before, after;
	struct keyring_entry made;

	shared_keyring_open(&s->daemon);
	keyring_copy(s->daemon.keyring, &before);
	assert_false(
		keyring_rotate(s->daemon.keyring, 1, false, &made, s->message, sizeof s->message));
	assert_non_null(strstr(s->message, "to the cluster: this member does not lead; nothing"));
	atomic_store(&s->daemon.cluster->leadership, 3); // for all it knows
	tell_etcd(s, "404 Not Found", "no");
	assert_false(
		keyring_rotate(s->daemon.keyring, 1, false, &made, s->message, sizeof s->message));
	assert_non_null(strstr(s->message, "could not be told to the cluster: "));
	assert_null(strstr(s->message, "does not lead"));
	keyring_copy(s->daemon.keyring, &after);
	assert_memory_equal(&before, &after, sizeof before);
}

// Before a start: a keyring that cannot be had, or written, is the own one's matter.
static void a_start_goes_on_without_it(void **state)
{
	struct stage *s = *state;
	char temporary[CONFIG_PATH_BYTES + 32];
	size_t size, again;
	uint8_t *before = file_read(s->path, &size);

	tell_etcd(s, "404 Not Found", "no");
	shared_keyring_fetch(&s->daemon);
	snprintf(temporary, sizeof temporary, "%s.new", s->path);
	assert_int_equal(mkdir(temporary, 0700), 0);
	tell_keys_of(s, 7);
	shared_keyring_fetch(&s->daemon);
	assert_int_equal(rmdir(temporary), 0);
	uint8_t *after = file_read(s->path, &again);
	assert_int_equal(size, again);
	assert_memory_equal(before, after, size);
	free(before);
	free(after);
}

// What is looked after again and again goes on without it, too.
static void a_follower_goes_on_without_it(void **state)
{
	struct stage *s = *state;

	tell_etcd(s, "404 Not Found", "no");
	log_capture_begin(&capture);
	membership_look_after(&s->daemon);
	log_capture_end(&capture);
	assert_int_equal(log_capture_count(&capture, "keyring-not-taken", "cannot be read"), 1);
}

// The state is read before it is asked who leads.
static void only_who_leads_restores(void **state)
{
	struct stage *s = *state;
	struct api_snapshot snapshot;

	assert_int_equal(applier_open(s->daemon.applier), 0); // so that there is something
	if (!berthd_snapshot(&s->daemon, &snapshot, s->message, sizeof s->message))
		fail_msg("%s", s->message);
	assert_int_equal(lseek(snapshot.file, 0, SEEK_SET), 0);
	assert_false(
		berthd_restore_online(&s->daemon, snapshot.file, s->message, sizeof s->message));
	assert_non_null(strstr(s->message, "this member does not lead"));
	close(snapshot.file);
}

static bool never_leads(struct berthd *b, char *message)
{
	return false;
}

// Its daemon ends, for the next one to begin anew.
static void a_cluster_that_cannot_be_followed_ends_the_daemon(void **state)
{
	struct stage *s = *state;
	struct berthd *b = &s->daemon;
	static const char identity[] = "{\"cluster\": \"00000000-0000-4000-8000-000000000000\", "
				       "\"member\": \"00000000-0000-4000-8000-000000000001\"}";
	char path[96];
	int status = -1;

	tell_bytes(s, "nothing of this kind", 20); // also where the cluster is told
	snprintf(path, sizeof path, "%s/cluster", s->directory);
	file_write(path, identity, strlen(identity));
	assert_true(config_set(&b->config, "cluster.name", "c", s->message));
	assert_true(config_set(&b->config, "cluster.endpoints", s->etcd.url, s->message));
	log_capture_begin(&capture);
	pid_t child = fork();
	if (child == 0) {
		b->cluster = NULL;
		if (!membership_open(b, s->message, sizeof s->message) ||
			!membership_start(b, never_leads, s->message, sizeof s->message))
			_exit(EXIT_FAILURE);
		for (alarm(WITHIN_S);;)
			pause();
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	log_capture_end(&capture);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == BERTHD_EXIT_ANEW);
	assert_int_equal(log_capture_count(&capture, "cluster-failed", "of another version"), 1);
	assert_int_equal(unlink(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_cannot_be_read_is_not_taken, begin, end),
		cmocka_unit_test_setup_teardown(what_cannot_be_kept_is_not_taken, begin, end),
		cmocka_unit_test_setup_teardown(only_who_leads_tells_its_own, begin, end),
		cmocka_unit_test_setup_teardown(what_is_not_told_is_not_rotated, begin, end),
		cmocka_unit_test_setup_teardown(a_start_goes_on_without_it, begin, end),
		cmocka_unit_test_setup_teardown(a_follower_goes_on_without_it, begin, end),
		cmocka_unit_test_setup_teardown(only_who_leads_restores, begin, end),
		cmocka_unit_test_setup_teardown(
			a_cluster_that_cannot_be_followed_ends_the_daemon, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
