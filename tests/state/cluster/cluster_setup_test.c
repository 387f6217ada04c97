// Beginning, joining and leaving a cluster: which keys and files come and go, and what is refused.
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/cluster/cluster_setup.h"
#include "tests/state/cluster/etcd_keys.h"
#include "tests/state/cluster/member.h"
#include "tests/state/store/store_dir.h"
#include "tests/support/etcd/fake_server.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct member one, two;
static char message[COMPLAINT_BYTES];
static const struct complaint complaint = {message, sizeof message};

static int begin(void **unused)
{
	member_create(&one, "one");
	member_create(&two, "two");
	return 0;
}

static int end(void **unused)
{
	member_remove(&one);
	member_remove(&two);
	etcd_keys_remove_all();
	return 0;
}

static int init(const struct member *m)
{
	struct cluster_setup setup = member_setup(m);
	return cluster_init(&setup, 7, &complaint);
}

static int join(const struct member *m)
{
	struct cluster_setup setup = member_setup(m);
	return cluster_join(&setup, &complaint);
}

static int leave(const struct member *m)
{
	struct cluster_setup setup = member_setup(m);
	return cluster_leave(&setup, 7, &complaint);
}

static int read_identity(const struct member *m, struct cluster_identity *identity)
{
	return cluster_identity_read(m->directory, identity, &complaint);
}

static bool says(const char *folder, const char *member, const char *expected)
{
	char what[64];
	uint32_t size;
	snprintf(what, sizeof what, "%s%s", folder, member);
	uint8_t *value = etcd_keys_get(what, &size);
	bool is_so = value && strstr((const char *)value, expected);
	free(value);
	return is_so;
}

static void members_come_and_go(void **unused)
{
	struct cluster_identity first, second;

	assert_int_equal(read_identity(&one, &first), -ENOENT);
	assert_int_equal(init(&one), 0);
	assert_int_equal(read_identity(&one, &first), 0);
	assert_int_equal(etcd_keys_count(""), 4); // meta, cut, the member and what it has
	assert_true(says("meta", "", first.cluster));
	assert_true(says("cut", "", "7"));
	assert_true(says("members/", first.member, "\"name\":\"one\""));
	assert_true(says("stored/", first.member, "7"));
	assert_int_equal(join(&two), 0);
	assert_int_equal(read_identity(&two, &second), 0);
	assert_string_equal(first.cluster, second.cluster);
	assert_string_not_equal(first.member, second.member);
	assert_true(says("members/", second.member, "\"name\":\"two\""));
	assert_true(says("stored/", second.member, "0")); // holds the log from now on
	assert_int_equal(etcd_keys_count(""), 6);
	assert_int_equal(leave(&one), 0);
	assert_int_equal(read_identity(&one, &first), -ENOENT);
	assert_int_equal(etcd_keys_count(""), 4);
	assert_int_equal(leave(&two), 0);
	assert_int_equal(etcd_keys_count(""), 0);
	assert_int_equal(init(&one), 0); // the name is free again
}

// What only etcd has would go with the last member; the others may be behind.
static void the_last_member_takes_nothing_along_that_it_lacks(void **unused)
{
	static const uint8_t batch[] = "some batch";
	struct cluster_identity identity;

	assert_int_equal(init(&one), 0);
	assert_int_equal(join(&two), 0);
	etcd_keys_put_piece(8, 0, batch, sizeof batch);
	assert_int_equal(leave(&two), 0);
	assert_int_equal(leave(&one), -ESTALE);
	assert_non_null(strstr(message, "index 7"));
	assert_int_equal(read_identity(&one, &identity), 0);
	etcd_keys_delete("log/0000000000000008.0000");
	etcd_keys_put_piece(7, 0, batch, sizeof batch); // its last, which the clerk has not cut yet
	etcd_keys_put("cut", "8", 1);
	assert_int_equal(leave(&one), -ESTALE);
	etcd_keys_put("cut", "x", 1); // which does not say how much there was
	assert_int_equal(leave(&one), -ERROR_CORRUPT);
	assert_non_null(strstr(message, "etcd: "));
	assert_int_equal(read_identity(&one, &identity), 0);
	etcd_keys_put("cut", "7", 1);
	etcd_keys_put("lineage", "9", 1); // of a state that was put back
	assert_int_equal(leave(&one), -ESTALE);
	etcd_keys_delete("lineage");
	assert_int_equal(leave(&one), 0);
	assert_int_equal(etcd_keys_count(""), 0);
}

// Somebody lost etcd and began a cluster of the same name anew: that is not the directory's to take away.
static void leaving_takes_no_other_cluster_along(void **unused)
{
	static const char other[] = "{\"id\": \"00000000-0000-4000-8000-000000000000\", "
				    "\"format\": 1, \"base\": 0}";
	struct cluster_identity identity;

	assert_int_equal(init(&one), 0);
	assert_int_equal(read_identity(&one, &identity), 0);
	etcd_keys_put("meta", other, sizeof other - 1);
	assert_int_equal(leave(&one), 0);
	assert_int_equal(read_identity(&one, &identity), -ENOENT);
	assert_int_equal(etcd_keys_count(""), 4);
	assert_int_equal(join(&one), 0);
	etcd_keys_remove_all();
	assert_int_equal(leave(&one), 0); // of what is gone altogether, too
	assert_int_equal(read_identity(&one, &identity), -ENOENT);
}

// The others could not read what it says of itself, and would not know who leads.
static void who_has_too_long_a_name_is_no_member(void **unused)
{
	struct cluster_setup setup = member_setup(&one);
	struct cluster_identity identity;
	char name[65];

	memset(name, 'n', 64);
	name[64] = '\0';
	setup.member_name = name;
	assert_int_equal(cluster_init(&setup, 0, &complaint), -EINVAL);
	assert_non_null(strstr(message, "too long"));
	assert_int_equal(read_identity(&one, &identity), -ENOENT);
	name[63] = '\0';
	assert_int_equal(cluster_init(&setup, 0, &complaint), 0);
	assert_int_equal(etcd_keys_count("members/"), 1);
}

static void a_cluster_begins_once(void **unused)
{
	struct cluster_identity identity;

	assert_int_equal(init(&one), 0);
	assert_int_equal(init(&one), -EEXIST);
	assert_non_null(strstr(message, "belongs to the member"));
	assert_int_equal(join(&one), -EEXIST);
	assert_int_equal(init(&two), -EEXIST);
	assert_non_null(strstr(message, "has a cluster \"t\" already"));
	assert_int_equal(read_identity(&two, &identity), -ENOENT);
	assert_int_equal(etcd_keys_count(""), 4);
}

static void nobody_joins_what_is_not_there(void **unused)
{
	static const char newer[] = "{\"id\": \"00000000-0000-4000-8000-000000000000\", "
				    "\"format\": 99, \"base\": 0}";
	struct cluster_identity identity;

	assert_int_equal(join(&one), -ENOENT);
	assert_non_null(strstr(message, "berthd cluster init"));
	assert_int_equal(leave(&one), -ENOENT);
	assert_int_equal(read_identity(&one, &identity), -ENOENT);
	etcd_keys_put("meta", "{}", 2);
	assert_int_equal(join(&one), -ERROR_CORRUPT);
	etcd_keys_put("meta", newer, sizeof newer - 1);
	assert_int_equal(join(&one), -ERROR_VERSION);
	assert_int_equal(etcd_keys_count(""), 1);
}

static void a_damaged_identity_is_told(void **unused)
{
	static const char *const texts[] = {"", "{", "{}", "[]", "\"x\"", "{\"cluster\": 7}",
		"{\"cluster\": \"00000000-0000-4000-8000-000000000000\"}",
		"{\"cluster\": \"00000000-0000-4000-8000-000000000000\", \"member\": \"me\"}"};
	struct cluster_identity identity;
	char path[96];

	snprintf(path, sizeof path, "%s/cluster", one.directory);
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		file_write(path, texts[i], strlen(texts[i]));
		assert_int_equal(read_identity(&one, &identity), -ERROR_CORRUPT);
		assert_non_null(strstr(message, path));
		assert_int_equal(init(&one), -ERROR_CORRUPT);
		assert_int_equal(join(&one), -ERROR_CORRUPT);
		assert_int_equal(leave(&one), -ERROR_CORRUPT);
	}
	assert_int_equal(etcd_keys_count(""), 0);
}

static void names_are_checked(void **unused)
{
	struct cluster_setup setup = member_setup(&one);

	setup.name = "a/b";
	assert_int_equal(cluster_init(&setup, 0, &complaint), -EINVAL);
	assert_int_equal(cluster_join(&setup, &complaint), -EINVAL);
	assert_non_null(strstr(message, "cluster.name"));
}

// Where the directory cannot say whose it is, nothing begins.
static void a_directory_that_takes_nothing_begins_no_cluster(void **unused)
{
	char path[96];

	snprintf(path, sizeof path, "%s/cluster.new", one.directory);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(init(&one), -EISDIR);
	assert_int_equal(etcd_keys_count(""), 0);
	assert_int_equal(init(&two), 0);
	assert_int_equal(join(&one), -EISDIR);
	assert_int_equal(etcd_keys_count(""), 4);
}

// It is waited for first.
static void without_etcd_nobody_begins(void **unused)
{
	struct cluster_identity identity;
	struct cluster_setup setup = member_setup(&one);
	char url[64];

	snprintf(url, sizeof url, "http://127.0.0.1:%u", free_port());
	setup.etcd.endpoints = url;
	setup.etcd.timeout_ms = 400;
	assert_int_equal(cluster_init(&setup, 0, &complaint), -ETIMEDOUT);
	assert_non_null(strstr(message, "etcd: "));
	assert_int_equal(read_identity(&one, &identity), -ENOENT);
}

// What an etcd says in its turn: answers of HTTP, the last one again and again, or NULL, and it is gone.
struct said_by_etcd {
	const char *answers[4];
	uint32_t count;
};

static const char *answer_in_turn(void *context, uint32_t request, size_t *size)
{
	const struct said_by_etcd *said = context;
	const char *answer = said->answers[request < said->count ? request : said->count - 1];

	*size = answer ? strlen(answer) : 0;
	return answer;
}

#define NOT_ETCD "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nno\n"
#define NOTHING "HTTP/1.1 200 OK\r\nContent-Length: 27\r\n\r\n{\"header\":{\"revision\":\"5\"}}"

static struct cluster_setup setup_at(const struct member *m, struct fake_server *etcd)
{
	struct cluster_setup setup = member_setup(m);

	fake_server_start(etcd);
	setup.etcd.endpoints = etcd->url;
	setup.etcd.timeout_ms = 1500; // what is gone is waited for as long
	return setup;
}

// What is known not to be done leaves nothing; what may be done can be taken back.
static void an_etcd_that_breaks_off_leaves_what_can_be_ended(void **unused)
{
	struct said_by_etcd said = {{NOT_ETCD}, 1};
	struct fake_server etcd = {.answer = answer_in_turn, .context = &said};
	struct cluster_identity identity;
	struct cluster_setup setup = setup_at(&one, &etcd);

	assert_int_equal(cluster_init(&setup, 0, &complaint), -EPROTO);
	assert_non_null(strstr(message, "etcd: "));
	assert_int_equal(read_identity(&one, &identity), -ENOENT);
	fake_server_stop(&etcd);
	said = (struct said_by_etcd){{NOTHING, NULL}, 2};
	setup = setup_at(&one, &etcd);
	assert_int_equal(cluster_init(&setup, 0, &complaint), -ETIMEDOUT);
	assert_non_null(strstr(message, "end that with berthd cluster leave"));
	assert_int_equal(read_identity(&one, &identity), 0);
	fake_server_stop(&etcd);
	said = (struct said_by_etcd){{NOT_ETCD}, 1};
	setup = setup_at(&one, &etcd);
	assert_int_equal(cluster_leave(&setup, 0, &complaint), -EPROTO);
	assert_int_equal(read_identity(&one, &identity), 0);
	fake_server_stop(&etcd);
	assert_int_equal(leave(&one), 0);
	assert_int_equal(read_identity(&one, &identity), -ENOENT);
}

// A cluster to join; the value is {"id": "00000000-0000-4000-8000-00000000000f", "format": 1}.
#define SOME_CLUSTER                                                                             \
	"HTTP/1.1 200 OK\r\nContent-Length: 208\r\n\r\n{\"header\":{\"revision\":\"5\"},"        \
	"\"kvs\":[{\"key\":\"YQ==\",\"create_revision\":\"3\",\"mod_revision\":\"3\","           \
	"\"version\":\"1\",\"value\":\"eyJpZCI6ICIwMDAwMDAwMC0wMDAwLTQwMDAtODAwMC0wMDAwMDAwMDAw" \
	"MGYiLCAiZm9ybWF0IjogMX0=\"}],\"count\":\"1\"}"

static void who_is_not_put_in_has_joined_nothing(void **unused)
{
	struct said_by_etcd said = {{SOME_CLUSTER, NOT_ETCD}, 2};
	struct fake_server etcd = {.answer = answer_in_turn, .context = &said};
	struct cluster_identity identity;
	struct cluster_setup setup = setup_at(&one, &etcd);

	assert_int_equal(cluster_join(&setup, &complaint), -EPROTO);
	assert_non_null(strstr(message, "etcd: "));
	assert_int_equal(read_identity(&one, &identity), -ENOENT);
	fake_server_stop(&etcd);
	said = (struct said_by_etcd){{SOME_CLUSTER, NULL}, 2};
	setup = setup_at(&one, &etcd);
	assert_int_equal(cluster_join(&setup, &complaint), -ETIMEDOUT);
	assert_non_null(strstr(message, "end that with berthd cluster leave"));
	assert_int_equal(read_identity(&one, &identity), 0);
	fake_server_stop(&etcd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(members_come_and_go, begin, end),
		cmocka_unit_test_setup_teardown(
			the_last_member_takes_nothing_along_that_it_lacks, begin, end),
		cmocka_unit_test_setup_teardown(leaving_takes_no_other_cluster_along, begin, end),
		cmocka_unit_test_setup_teardown(who_has_too_long_a_name_is_no_member, begin, end),
		cmocka_unit_test_setup_teardown(a_cluster_begins_once, begin, end),
		cmocka_unit_test_setup_teardown(nobody_joins_what_is_not_there, begin, end),
		cmocka_unit_test_setup_teardown(a_damaged_identity_is_told, begin, end),
		cmocka_unit_test_setup_teardown(names_are_checked, begin, end),
		cmocka_unit_test_setup_teardown(
			an_etcd_that_breaks_off_leaves_what_can_be_ended, begin, end),
		cmocka_unit_test_setup_teardown(
			a_directory_that_takes_nothing_begins_no_cluster, begin, end),
		cmocka_unit_test_setup_teardown(without_etcd_nobody_begins, begin, end),
		cmocka_unit_test_setup_teardown(who_is_not_put_in_has_joined_nothing, begin, end),
	};
	log_configure(LOG_ERROR, false);
	return cmocka_run_group_tests(tests, etcd_keys_begin, etcd_keys_end);
}
