#include "state/base/base64.h"
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "state/etcd/etcd_answer.h"
#include "state/etcd/etcd_json.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define ROUNDS 200000u
#define TEXT_BYTES_MAX 512u

static void what_is_written_is_read(void **unused)
{
	struct bytes_writer w = bytes_writer_growing(0);
	uint8_t all[256];
	for (uint32_t i = 0; i < sizeof all; i++)
		all[i] = (uint8_t)i;
	ETCD_JSON_PUT(&w, "{\"all\": ");
	etcd_json_put_bytes(&w, all, sizeof all);
	ETCD_JSON_PUT(&w, ",\"key\":");
	etcd_json_put_key(&w, "a/b");
	ETCD_JSON_PUT(&w, " , \"number\":");
	etcd_json_put_u64(&w, UINT64_MAX);
	ETCD_JSON_PUT(&w,
		",\"other\":[1,{\"a\":[null,\"\\\"]}\"]}],\"plain\":-12,\"is\":true,\"list\":[]}");
	struct etcd_json j = etcd_json_over(w.data, w.size);
	struct text name;
	uint32_t size, members = 0;
	etcd_json_enter(&j, '{');
	while (etcd_json_member(&j, &name)) {
		members++;
		if (etcd_json_is(name, "all")) {
			assert_memory_equal(etcd_json_bytes(&j, &size), all, sizeof all);
			assert_int_equal(size, sizeof all);
		} else if (etcd_json_is(name, "key"))
			assert_string_equal(etcd_json_bytes(&j, &size), "a/b");
		else if (etcd_json_is(name, "number"))
			assert_true(etcd_json_u64(&j) == UINT64_MAX);
		else if (etcd_json_is(name, "plain"))
			assert_int_equal(etcd_json_i64(&j), -12);
		else if (etcd_json_is(name, "is"))
			assert_true(etcd_json_bool(&j));
		else
			etcd_json_skip(&j);
	}
	assert_false(j.failed);
	assert_int_equal(members, 7);
	assert_ptr_equal(j.at, j.end);
	bytes_writer_free(&w);
}

static bool is_read(const char *text)
{
	char copy[TEXT_BYTES_MAX];
	size_t size = strlen(text);
	memcpy(copy, text, size);
	struct etcd_json j = etcd_json_over(copy, size);
	etcd_json_skip(&j);
	return !j.failed;
}

static void what_is_broken_is_refused(void **unused)
{
	static const char *const good[] = {
		"{}", "[]", "{\"a\":1}", "[1,2]", "\"\"", "[[],{}]", " true"};
	static const char *const bad[] = {"", "{", "[", "{\"a\"}", "{\"a\":}", "{\"a\":1", "[1 2]",
		"[,1]", "{\"a\":1,}", "{a:1}", "\"", "\"\\\"", "{\"a\":1 \"b\":2}", "{]", "[}",
		"[1,]"};
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		if (!is_read(good[i]))
			fail_msg("%s was refused", good[i]);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (is_read(bad[i]))
			fail_msg("%s was read", bad[i]);
}

static void what_is_too_deep_is_refused(void **unused)
{
	char text[201];
	memset(text, '[', 100);
	memset(text + 100, ']', 100);
	text[200] = 0;
	assert_false(is_read(text));
}

// Calls whatever can be called, in any order, on whatever text.
static void read_at_random(struct prng *prng, struct etcd_json *j)
{
	struct text name;
	uint32_t size;
	for (uint32_t step = 0; step < 64 && !j->failed; step++)
		switch (prng_below(prng, 8)) {
		case 0: etcd_json_enter(j, prng_below(prng, 2) ? '{' : '['); break;
		case 1:
			if (j->depth)
				etcd_json_member(j, &name);
			break;
		case 2:
			if (j->depth)
				etcd_json_element(j);
			break;
		case 3: etcd_json_bytes(j, &size); break;
		case 4: etcd_json_u64(j); break;
		case 5: etcd_json_bool(j); break;
		case 6: etcd_json_i64(j); break;
		default: etcd_json_skip(j);
		}
}

// Of exactly its size, so that the address sanitizer sees a step too far.
static void no_text_is_read_beyond_its_end(void **unused)
{
	static const char likely[] = "{}[]\"\",,::\\\\=AAAA0011-+ \ntrefalsn";
	struct prng prng;
	prng_seed(&prng, 1);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		size_t size = prng_below(&prng, 48);
		char *text = malloc(size + !size);
		for (size_t k = 0; k < size; k++)
			text[k] = prng_below(&prng, 40)
					  ? likely[prng_below(&prng, sizeof likely - 1)]
					  : (char)prng_below(&prng, 256);
		if (size > 9 && prng_below(&prng, 2))
			memcpy(text, "{\"error\":", 9);
		struct etcd_outcome o = etcd_answer_outcome(200, text, size);
		assert_true(o.error <= 0);
		struct etcd_json j = etcd_json_over(text, size);
		read_at_random(&prng, &j);
		assert_true(j.at <= j.end);
		free(text);
	}
}

static void errors_of_etcd_are_told_apart(void **unused)
{
	static const struct {
		const char *answer;
		enum etcd_verdict verdict;
		int error;
	} cases[] = {
		{"{\"error\":\"etcdserver: mvcc: database space exceeded\",\"code\":8}",
			VERDICT_REFUSED, -ENOSPC},
		{"{\"error\":\"etcdserver: request is too large\",\"code\":3}", VERDICT_REFUSED,
			-EMSGSIZE},
		{"{\"error\":\"etcdserver: requested lease not found\",\"code\":5}",
			VERDICT_REFUSED, -ENOENT},
		{"{\"error\":{\"grpc_code\":5,\"message\":\"etcdserver: requested lease not "
		 "found\"}}",
			VERDICT_REFUSED, -ENOENT},
		{"{\"error\":\"etcdserver: mvcc: required revision has been "
		 "compacted\",\"code\":11}",
			VERDICT_REFUSED, -ERANGE},
		{"{\"error\":\"etcdserver: no leader\",\"code\":14}", VERDICT_NOT_DONE, -ETIMEDOUT},
		{"{\"error\":\"etcdserver: request timed out\",\"code\":14}", VERDICT_UNKNOWN,
			-ETIMEDOUT},
		{"{\"error\":\"etcdserver: leader changed\",\"code\":14}", VERDICT_UNKNOWN,
			-ETIMEDOUT},
		{"{\"error\":\"transport is closing\",\"code\":14}", VERDICT_UNKNOWN, -ETIMEDOUT},
		{"{\"error\":\"etcdserver: invalid auth token\",\"code\":16}", VERDICT_TOKEN,
			-EACCES},
		{"{\"error\":\"etcdserver: permission denied\",\"code\":7}", VERDICT_REFUSED,
			-EACCES},
		{"{\"error\":\"something new\",\"code\":3}", VERDICT_REFUSED, -EPROTO},
		{"<html>", VERDICT_UNKNOWN, -EPROTO},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct etcd_outcome o =
			etcd_answer_outcome(500, cases[i].answer, strlen(cases[i].answer));
		if (o.verdict != cases[i].verdict || o.error != cases[i].error)
			fail_msg("%s: verdict %d, error %d", cases[i].answer, (int)o.verdict,
				o.error);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(what_is_broken_is_refused),
		cmocka_unit_test(what_is_too_deep_is_refused),
		cmocka_unit_test(no_text_is_read_beyond_its_end),
		cmocka_unit_test(errors_of_etcd_are_told_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
