// Runs a fuzz harness without a fuzzing engine: every corpus file as it is, then seeded mutations
// of them until the time or the number of runs is used up. The same harness links with libFuzzer
// for long runs (tools/fuzz). The input stands against an unreadable page, so that reading past it
// is a crash in every build. An input that crashes or hangs is saved and named.
//
//   fuzz_NAME [--seconds S] [--runs N] [--seed N] [--hang-seconds S] [--save DIRECTORY] CORPUS...
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "state/base/time_source.h"
#include "tests/fuzz/mutate.h"
#include <dirent.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Sanitizers report and then abort, which is where the input is saved.
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

const char *__asan_default_options(void)
{
	return "abort_on_error=1";
}

const char *__ubsan_default_options(void)
{
	return "halt_on_error=1:abort_on_error=1:print_stacktrace=1";
}

#define PAGE_BYTES 4096u
#define CORPUS_FILES_MAX 4096u
#define CORPUS_FILE_BYTES_MAX (1024u * 1024)

static struct {
	double seconds;
	uint64_t runs;
	uint64_t seed;
	int hang_seconds;
	const char *save;
} options = {.seconds = 2, .runs = UINT64_MAX, .seed = 1, .hang_seconds = 10, .save = "."};

static struct fuzz_input corpus[CORPUS_FILES_MAX];
static size_t corpus_count;
static size_t largest;

// What the signal handlers need: the input under test and how many have begun.
static uint8_t *guard; // the unreadable page; inputs end here
static const uint8_t *volatile running;
static volatile uint64_t begun;

static void save_running(const char *why)
{
	static char path[4096];
	snprintf(path, sizeof path, "%s/crash-%llu-%llu", options.save,
		(unsigned long long)options.seed, (unsigned long long)begun);
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	size_t size = running ? (size_t)(guard - running) : 0;
	bool saved = file >= 0 && write(file, running, size) == (ssize_t)size;
	dprintf(STDERR_FILENO, "fuzz: %s on input %llu of %zu bytes; %s %s\n", why,
		(unsigned long long)begun, size, saved ? "saved as" : "could not save", path);
}

static void on_crash(int number)
{
	save_running(strsignal(number));
	signal(number, SIG_DFL);
	raise(number);
}

// Once a second: the same input all the time is a hang.
static void on_tick(int number)
{
	static uint64_t seen;
	static int ticks;
	ticks = seen == begun ? ticks + 1 : 0;
	seen = begun;
	if (running && ticks >= options.hang_seconds) {
		save_running("hang");
		_exit(2);
	}
}

static void watch_for_crashes(void)
{
	// Address sanitizer reports a bad access itself and then aborts.
#ifndef __SANITIZE_ADDRESS__
	signal(SIGSEGV, on_crash);
	signal(SIGBUS, on_crash);
#endif
	signal(SIGABRT, on_crash);
	signal(SIGFPE, on_crash);
	signal(SIGILL, on_crash);
	signal(SIGALRM, on_tick);
	struct itimerval second = {.it_interval.tv_sec = 1, .it_value.tv_sec = 1};
	CHECK(setitimer(ITIMER_REAL, &second, NULL) == 0);
}

static void run_one(const uint8_t *data, size_t size)
{
	uint8_t *at = guard - size;
	if (size)
		memcpy(at, data, size);
	begun++;
	running = at;
	LLVMFuzzerTestOneInput(at, size);
	running = NULL;
}

static void refuse(const char *what, const char *path)
{
	fprintf(stderr, "fuzz: %s: %s\n", path, what);
	exit(2);
}

static void load_file(const char *path)
{
	if (corpus_count == CORPUS_FILES_MAX)
		refuse("too many corpus files", path);
	FILE *file = fopen(path, "rb");
	if (!file)
		refuse("cannot open", path);
	uint8_t *data = memory_take(CORPUS_FILE_BYTES_MAX + 1);
	size_t size = fread(data, 1, CORPUS_FILE_BYTES_MAX + 1, file);
	if (ferror(file) || size > CORPUS_FILE_BYTES_MAX)
		refuse("cannot read, or larger than 1 MiB", path);
	fclose(file);
	corpus[corpus_count++] = (struct fuzz_input){memory_resize(data, size), size};
	if (size > largest)
		largest = size;
}

static int name_order(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

// In the order of names, so that a seed means the same inputs on every file system.
static void load(const char *path)
{
	struct stat info;
	if (stat(path, &info) != 0)
		refuse("no such file or directory", path);
	if (!S_ISDIR(info.st_mode)) {
		load_file(path);
		return;
	}
	struct dirent **entries;
	int count = scandir(path, &entries, NULL, name_order);
	if (count < 0)
		refuse("cannot list", path);
	for (int i = 0; i < count; i++) {
		char name[4096];
		snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.')
			load_file(name);
		free(entries[i]);
	}
	free(entries);
}

static void map_input(size_t capacity)
{
	size_t bytes = (capacity + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	uint8_t *memory = memory_map(bytes + PAGE_BYTES);
	CHECK(memory);
	guard = memory + bytes;
	CHECK(mprotect(guard, PAGE_BYTES, PROT_NONE) == 0);
}

static uint64_t run_mutations(size_t capacity)
{
	struct prng prng;
	prng_seed(&prng, options.seed);
	uint8_t *scratch = memory_take(capacity);
	uint64_t end = time_monotonic_ns(&time_source_real) + (uint64_t)(options.seconds * 1e9);
	uint64_t runs = 0;
	while (runs < options.runs && time_monotonic_ns(&time_source_real) < end) {
		size_t size = fuzz_mutate(&prng, corpus, corpus_count, scratch, capacity);
		run_one(scratch, size);
		runs++;
	}
	free(scratch);
	return runs;
}

static void parse_options(int count, char **arguments)
{
	static const struct option table[] = {
		{"seconds", required_argument, NULL, 's'},
		{"runs", required_argument, NULL, 'r'},
		{"seed", required_argument, NULL, 'e'},
		{"hang-seconds", required_argument, NULL, 'h'},
		{"save", required_argument, NULL, 'd'},
		{0},
	};
	int option;
	while ((option = getopt_long(count, arguments, "", table, NULL)) != -1) {
		switch (option) {
		case 's': options.seconds = strtod(optarg, NULL); break;
		case 'r': options.runs = strtoull(optarg, NULL, 10); break;
		case 'e': options.seed = strtoull(optarg, NULL, 10); break;
		case 'h': options.hang_seconds = (int)strtol(optarg, NULL, 10); break;
		case 'd': options.save = optarg; break;
		default: exit(2);
		}
	}
}

int main(int count, char **arguments)
{
	parse_options(count, arguments);
	for (int i = optind; i < count; i++)
		load(arguments[i]);
	if (!corpus_count)
		refuse("name at least one corpus file", arguments[0]);
	size_t capacity = 2 * largest + 64;
	map_input(capacity);
	watch_for_crashes();
	for (size_t i = 0; i < corpus_count; i++)
		run_one(corpus[i].data, corpus[i].size);
	uint64_t runs = run_mutations(capacity);
	printf("fuzz: %zu corpus files and %llu mutations passed; seed %llu\n", corpus_count,
		(unsigned long long)runs, (unsigned long long)options.seed);
	for (size_t i = 0; i < corpus_count; i++)
		free(corpus[i].data);
	return 0;
}
