// Who may get at a secret: modes and owners, as root and as somebody else.
#include "tools/tls/secret_file.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SOMEBODY 65533u
#define ANOTHER 65532u

static const char *fault_of(uid_t owner, mode_t mode)
{
	struct stat found = {.st_uid = owner, .st_mode = S_IFREG | mode};
	return secret_file_fault(&found);
}

static void only_the_owner_writes_and_not_everybody_reads(void **unused)
{
	static const mode_t fine[] = {0600, 0400, 0640, 0440},
			    open[] = {0644, 0604, 0602, 0601, 0660, 0620};
	for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++)
		assert_null(fault_of(geteuid(), fine[i]));
	for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
		assert_non_null(strstr(fault_of(geteuid(), open[i]), "chmod 600"));
}

static void its_owner_is_root_or_who_reads_it(void **unused)
{
	if (geteuid() != 0)
		skip();
	assert_null(fault_of(ANOTHER, 0640)); // root may
	assert_int_equal(seteuid(SOMEBODY), 0);
	const char *of_root = fault_of(0, 0640), *own = fault_of(SOMEBODY, 0600),
		   *other = fault_of(ANOTHER, 0640);
	assert_int_equal(seteuid(0), 0);
	assert_null(of_root);
	assert_null(own);
	assert_non_null(strstr(other, "chown"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_owner_writes_and_not_everybody_reads),
		cmocka_unit_test(its_owner_is_root_or_who_reads_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
