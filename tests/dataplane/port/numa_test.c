// Every machine has node 0, and its memory can be asked to lie there.
#include "dataplane/port/numa.h"
#include <errno.h>
#include <linux/mempolicy.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#define BYTES (1u << 20)

// Node of the page that holds address, which has been touched; negative errno when unknown.
static int numa_node_of(const void *address)
{
	int node = -1;
	return syscall(SYS_get_mempolicy, &node, NULL, 0, address, MPOL_F_NODE | MPOL_F_ADDR) == 0
		       ? node
		       : -errno;
}

static void prefers(void **state)
{
	(void)state;
	char *memory =
		mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(memory != MAP_FAILED);
	memory[0] = 1; // touched before
	int error = numa_prefer(memory, BYTES, 0);
	if (error == -ENOSYS || error == -EPERM)
		skip(); // a kernel or a sandbox without memory policies
	assert_int_equal(error, 0);
	memory[BYTES - 1] = 1; // and after
	assert_int_equal(numa_node_of(memory), 0);
	assert_int_equal(numa_node_of(memory + BYTES - 1), 0);
	assert_int_equal(memory[0], 1);
	assert_true(numa_prefer(memory, BYTES, 1000) < 0);
	assert_int_equal(numa_prefer(memory, BYTES, -1), -EINVAL);
	assert_true(numa_prefer(memory + 1, BYTES, 0) < 0);
	munmap(memory, BYTES);
}

static void counts_nodes(void **state)
{
	(void)state;
	assert_true(numa_nodes() >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prefers),
		cmocka_unit_test(counts_nodes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
