// In builds with gcov's counters alone, in place of the C library's: what a child counted until it ends without exit(),
// as shims of tasks do, is not lost.
#include <sys/syscall.h>
#include <unistd.h>

void __gcov_dump(void);

void _exit(int status)
{
	__gcov_dump();
	for (;;)
		syscall(SYS_exit_group, status);
}
