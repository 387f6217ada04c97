// What a task shows: of its allocation and its name alone, and no other text.
#include "tools/keyring/task_token.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct uuid allocation = {{0xa1, 2, 3, 4}};

static void it_is_of_its_task_alone(void **unused)
{
	struct keyring *k = keyring_create(), *another = keyring_create();
	char text[TASK_TOKEN_TEXT_BYTES];
	struct task_token token;
	assert_true(task_token_make(k, &allocation, "web", text));
	assert_int_equal(strlen(text), TASK_TOKEN_TEXT_BYTES - 1);
	assert_true(task_token_read(text, &token));
	assert_true(uuid_equal(&token.allocation, &allocation));
	assert_true(task_token_is_of(k, &token, "web"));
	assert_false(task_token_is_of(k, &token, "we"));
	assert_false(task_token_is_of(k, &token, "wee"));
	assert_false(task_token_is_of(k, &token, "webs"));
	assert_false(task_token_is_of(k, &token, ""));
	assert_false(task_token_is_of(another, &token, "web"));
	token.allocation.bytes[15] ^= 1;
	assert_false(task_token_is_of(k, &token, "web"));
	keyring_destroy(k);
	keyring_destroy(another);
}

// One that was changed at any place is none, or is of no task.
static void a_changed_one_is_none(void **unused)
{
	struct keyring *k = keyring_create();
	char text[TASK_TOKEN_TEXT_BYTES + 1] = "";
	struct task_token token;
	assert_true(task_token_make(k, &allocation, "web", text));
	for (size_t i = 0; i < TASK_TOKEN_TEXT_BYTES - 1; i++) {
		for (const char *other = "0123456789af.-Gz"; *other; other++) {
			char kept = text[i];
			if (*other == kept)
				continue;
			text[i] = *other;
			assert_false(task_token_read(text, &token) &&
				     task_token_is_of(k, &token, "web"));
			text[i] = kept;
		}
	}
	text[TASK_TOKEN_TEXT_BYTES - 1] = '0';
	assert_false(task_token_read(text, &token));
	text[TASK_TOKEN_TEXT_BYTES - 2] = '\0';
	assert_false(task_token_read(text, &token));
	assert_false(task_token_read("", &token));
	assert_false(task_token_read("task.", &token));
	keyring_destroy(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_of_its_task_alone),
		cmocka_unit_test(a_changed_one_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
