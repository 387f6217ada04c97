#include "state/base/library/library_memory.h"
#include "state/base/memory.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void taken_memory_is_zeroed(void **unused)
{
	uint8_t *memory = memory_take(1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(memory[i], 0);
	memory[999] = 7;
	memory = memory_resize(memory, 100000);
	assert_int_equal(memory[999], 7);
	free(memory);
}

static void aligned_memory_is_zeroed_too(void **unused)
{
	uint8_t *dirty = memory_take(4096); // may be what is given next
	memset(dirty, 1, 4096);
	free(dirty);
	uint8_t *memory = memory_take_aligned(256, 4096);
	assert_int_equal((uintptr_t)memory % 256, 0);
	for (int i = 0; i < 4096; i++)
		assert_int_equal(memory[i], 0);
	free(memory);
}

static void nothing_is_still_something(void **unused)
{
	void *none = memory_take(0), *no_items = memory_take_array(0, 8);
	assert_non_null(none);
	assert_non_null(no_items);
	none = memory_resize(none, 0);
	assert_non_null(none);
	free(none);
	free(no_items);
	none = memory_take_aligned(64, 0);
	assert_non_null(none);
	free(none);
}

static void take_too_much(void)
{
	volatile size_t count = SIZE_MAX / 4;
	free(memory_take_array(count, 8));
}

static void have_nothing(void)
{
	memory_or_end(NULL);
}

// In a child, because exhaustion ends the process.
static void it_ends_the_process(void (*work)(void))
{
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){0});
		close(STDERR_FILENO);
		work();
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void what_cannot_be_had_ends_the_process(void **unused)
{
	int something = 7;
	it_ends_the_process(take_too_much);
	it_ends_the_process(have_nothing);
	assert_ptr_equal(memory_or_end(&something), &something);
}

static void mapped_memory_is_aligned_zeroed_and_lazy(void **unused)
{
	static const size_t sizes[] = {1, 4096, 4097, 2u << 20, (2u << 20) + 1, 9u << 20};
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		uint8_t *memory = memory_map(sizes[i]);
		assert_non_null(memory);
		assert_int_equal((uintptr_t)memory % 4096, 0);
		if (sizes[i] >= 2u << 20)
			assert_int_equal((uintptr_t)memory % (2u << 20), 0);
		assert_int_equal(memory[0] | memory[sizes[i] - 1], 0);
		memory[0] = memory[sizes[i] - 1] = 1;
		memory_unmap(memory, sizes[i]);
	}
	// Far more than the machine has: only addresses are taken.
	size_t vast = (size_t)1 << 40;
	uint8_t *memory = memory_map(vast);
	assert_non_null(memory);
	memory[vast - 1] = 1;
	memory_unmap(memory, vast);
}

static void backed_memory_is_as_it_was(void **unused)
{
	size_t size = 9u << 20;
	uint8_t *memory = memory_map(size);
	memory[6000] = 7;
	memory_back(memory + 5000, size - 5000);
	memory_back(memory + size - 1, 1);
	assert_int_equal(memory[6000], 7);
	for (size_t at = 0; at < size; at += 4096)
		assert_int_equal(memory[at], 0);
	memory_unmap(memory, size);
}

static void what_does_not_fit_is_refused(void **unused)
{
	assert_null(memory_map(0));
	assert_null(memory_map(SIZE_MAX));
	assert_null(memory_map((size_t)1 << 60));
	memory_unmap(NULL, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(taken_memory_is_zeroed),
		cmocka_unit_test(aligned_memory_is_zeroed_too),
		cmocka_unit_test(nothing_is_still_something),
		cmocka_unit_test(what_cannot_be_had_ends_the_process),
		cmocka_unit_test(mapped_memory_is_aligned_zeroed_and_lazy),
		cmocka_unit_test(backed_memory_is_as_it_was),
		cmocka_unit_test(what_does_not_fit_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
