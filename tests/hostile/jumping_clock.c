// Preloaded, it puts the wall clock of a process off by as many seconds as a file says, which may change while it runs.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef int read_clock(clockid_t, struct timespec *);

static const int64_t nothing;
static const volatile int64_t *offset_s = &nothing;
static read_clock *read_real;

__attribute__((constructor)) static void map_offset(void)
{
	const char *path = getenv("JUMPING_CLOCK");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *at = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *offset_s, PROT_READ, MAP_SHARED, fd, 0);
	read_real = (read_clock *)dlsym(RTLD_NEXT, "clock_gettime");
	if (at == MAP_FAILED || !read_real)
		abort();
	close(fd);
	offset_s = at;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	// Whoever is loaded before asks for the time as it is.
	if (!read_real)
		read_real = (read_clock *)dlsym(RTLD_NEXT, "clock_gettime");
	int error = read_real(clock, now);
	if (error == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		now->tv_sec += *offset_s;
	return error;
}
