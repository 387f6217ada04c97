// The list of the senders that were refused most often, against exact counts.
#include "dataplane/requests/noisy.h"
#include "state/base/prng.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MANY 200u

static void refuse(struct noisy_list *list, uint32_t number, uint64_t now_ns)
{
	char name[CLIENT_NAME_BYTES_MAX + 1];
	if (noisy_again(list, number + 1, now_ns))
		return;
	snprintf(name, sizeof name, "client-%u", number);
	noisy_add(list, number + 1, NOISY_CLIENT, text_of(name), now_ns);
}

static const struct noisy_sender *find(
	const struct noisy_sender *senders, uint32_t count, uint32_t number)
{
	char name[CLIENT_NAME_BYTES_MAX + 1];
	snprintf(name, sizeof name, "client-%u", number);
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(senders[i].name, name) == 0)
			return &senders[i];
	return NULL;
}

// Who was refused more often than a 16th of all is there, and counted at least as often as it was.
static void the_noisiest_are_there(void **unused)
{
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct noisy_list list = {0};
		struct noisy_sender senders[NOISY_SENDERS];
		uint64_t refused[MANY] = {0}, all = 1 + seed * 100;
		struct prng prng;
		prng_seed(&prng, seed);
		for (uint64_t i = 0; i < all; i++) {
			// The lower the number, the noisier.
			uint32_t number = (uint32_t)prng_below(&prng, 1 + prng_below(&prng, MANY));
			refused[number]++;
			refuse(&list, number, i);
		}
		uint32_t count = noisy_gather(&list, senders, 0, NOISY_SENDERS);
		uint64_t sum = 0;
		for (uint32_t i = 0; i < count; i++) {
			sum += senders[i].refused;
			assert_true(i == 0 || senders[i].refused <= senders[i - 1].refused);
		}
		assert_int_equal(sum, all);
		for (uint32_t number = 0; number < MANY; number++) {
			const struct noisy_sender *s = find(senders, count, number);
			if (s == NULL)
				assert_true(refused[number] <= all / NOISY_SENDERS);
			else
				assert_true(s->refused >= refused[number]);
		}
	}
}

// What several workers refused of one sender is one line.
static void workers_add_up(void **unused)
{
	struct noisy_list lists[2] = {0};
	struct noisy_sender senders[3];
	for (uint32_t i = 0; i < 10; i++)
		refuse(&lists[i % 2], 1, 100 + i);
	for (uint32_t i = 0; i < 7; i++)
		refuse(&lists[0], 2, i);
	for (uint32_t number = 3; number < 9; number++)
		refuse(&lists[1], number, 5);
	uint32_t count = noisy_gather(&lists[0], senders, 0, 3);
	count = noisy_gather(&lists[1], senders, count, 3);
	assert_int_equal(count, 3);
	assert_string_equal(senders[0].name, "client-1");
	assert_int_equal(senders[0].refused, 10);
	assert_int_equal(senders[0].newest_ns, 109);
	assert_string_equal(senders[1].name, "client-2");
	assert_int_equal(senders[1].refused, 7);
	assert_int_equal(senders[2].refused, 1);
}

static void *read_names(void *context)
{
	const struct noisy_list *list = context;
	for (uint32_t i = 0; i < 2000; i++) {
		struct noisy_sender senders[NOISY_SENDERS];
		uint32_t count = noisy_gather(list, senders, 0, NOISY_SENDERS);
		for (uint32_t j = 0; j < count; j++) {
			size_t length = strlen(senders[j].name);
			// All of its letters are the same: no name is half another's.
			if (length != 40 ||
				strspn(senders[j].name, (char[]){senders[j].name[0], 0}) != 40)
				return (void *)list;
		}
	}
	return NULL;
}

static void a_reader_sees_whole_names(void **unused)
{
	static struct noisy_list list;
	pthread_t reader;
	void *torn;
	assert_int_equal(pthread_create(&reader, NULL, read_names, &list), 0);
	for (uint32_t i = 0; i < 200000; i++) {
		char name[41] = {0};
		memset(name, 'a' + (int)(i % 26), 40);
		noisy_add(&list, i + 1, NOISY_NODE, text_of(name), i);
	}
	assert_int_equal(pthread_join(reader, &torn), 0);
	assert_null(torn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_noisiest_are_there),
		cmocka_unit_test(workers_add_up),
		cmocka_unit_test(a_reader_sees_whole_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
