#include "bench/harness/bench.h"
#include "state/base/check.h"
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define PAIRS_USUAL 7u
#define PAIRS_LEAST 5u

static _Noreturn void refuse(const struct bench *b, const char *what, const char *value)
{
	fprintf(stderr, "%s: %s: %s\n", b->name, what, value);
	exit(2);
}

static uint64_t parse_number(const struct bench *b, const char *option, const char *text)
{
	char *end;
	unsigned long long number = strtoull(text, &end, 10);
	if (end == text || *end || text[0] == '-')
		refuse(b, option, "needs a number");
	return number;
}

static void describe_command(struct bench *b, int count, char **arguments)
{
	size_t at = 0;
	for (int i = 0; i < count && at < sizeof b->command_own; i++)
		at += (size_t)snprintf(b->command_own + at, sizeof b->command_own - at, "%s%s",
			i ? " " : "", arguments[i]);
	b->command = b->command_own;
}

// Takes an option; returns how many arguments that used.
static int take_option(struct bench *b, char **arguments)
{
	const char *option = arguments[0], *value = arguments[1];
	if (strcmp(option, "--smoke") == 0) {
		b->smoke = true;
		return 1;
	}
	bool json = strcmp(option, "--json") == 0, pairs = strcmp(option, "--pairs") == 0;
	if (!json && !pairs && strcmp(option, "--command") != 0)
		return 0;
	if (!value)
		refuse(b, option, "needs a value");
	if (json)
		b->json = value;
	else if (pairs)
		b->pairs = (uint32_t)parse_number(b, option, value);
	else
		b->command = value;
	return 2;
}

void bench_begin(struct bench *b, const char *name, int count, char **arguments)
{
	*b = (struct bench){.name = name, .pairs = PAIRS_USUAL};
	describe_command(b, count, arguments);
	b->arguments = arguments;
	b->argument_count = 1;
	for (int i = 1; i < count;) {
		int taken = take_option(b, arguments + i);
		if (!taken)
			arguments[b->argument_count++] = arguments[i++];
		i += taken;
	}
	arguments[b->argument_count] = NULL;
	if (b->smoke)
		b->pairs = 1;
	else if (b->pairs < PAIRS_LEAST || b->pairs > BENCH_PAIRS_MAX)
		refuse(b, "--pairs", "from 5 to 101");
}

const char *bench_option_text(const struct bench *b, const char *option, const char *otherwise)
{
	for (int i = 1; i < b->argument_count; i++) {
		const char *argument = b->arguments[i];
		if (strncmp(argument, "--", 2) != 0 || strcmp(argument + 2, option) != 0)
			continue;
		if (i + 1 == b->argument_count)
			refuse(b, argument, "needs a value");
		return b->arguments[i + 1];
	}
	return otherwise;
}

uint64_t bench_option(const struct bench *b, const char *option, uint64_t otherwise)
{
	const char *text = bench_option_text(b, option, NULL);
	return text ? parse_number(b, option, text) : otherwise;
}

void bench_report(struct bench *b, const struct bench_result *result)
{
	CHECK(b->result_count < BENCH_RESULTS_MAX);
	struct bench_result *kept = &b->results[b->result_count++];
	*kept = *result;
	if (!kept->name)
		kept->name = b->name;
	if (kept->ratio == 0 && kept->reference > 0)
		kept->ratio = kept->figure / kept->reference;
	printf("%-24s", kept->name);
	if (kept->nodes)
		printf(" %10llu nodes", (unsigned long long)kept->nodes);
	printf(" %14.6g %s", kept->figure, kept->unit);
	if (kept->reference > 0)
		printf(", against %.6g (%s): ratio %.4g", kept->reference, kept->against,
			kept->ratio);
	if (kept->ratio_most > 0)
		printf(" (%.4g to %.4g)", kept->ratio_least, kept->ratio_most);
	printf("\n");
	fflush(stdout);
}

// Names, units and commands are ours: only quotes and backslashes need escaping.
static void write_string(FILE *file, const char *key, const char *value)
{
	fprintf(file, "\"%s\": \"", key);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			fputc('\\', file);
		fputc((unsigned char)*value < 0x20 ? ' ' : *value, file);
	}
	fputc('"', file);
}

static void write_number(FILE *file, const char *key, double value, bool known)
{
	if (known && isfinite(value))
		fprintf(file, ", \"%s\": %.9g", key, value);
	else
		fprintf(file, ", \"%s\": null", key);
}

static void write_result(FILE *file, const struct bench *b, const struct bench_result *r)
{
	bool compared = r->reference > 0;
	fprintf(file, "  {");
	write_string(file, "name", r->name);
	if (r->nodes)
		fprintf(file, ", \"nodes\": %llu", (unsigned long long)r->nodes);
	write_number(file, "figure", r->figure, true);
	fprintf(file, ", ");
	write_string(file, "unit", r->unit);
	write_number(file, "reference", r->reference, compared);
	write_number(file, "ratio", r->ratio, compared);
	if (r->ratio_most > 0) {
		write_number(file, "ratio_least", r->ratio_least, true);
		write_number(file, "ratio_most", r->ratio_most, true);
	}
	fprintf(file, ", ");
	write_string(file, "against", compared ? r->against : "");
	fprintf(file, ", \"smoke\": %s, ", b->smoke ? "true" : "false");
	write_string(file, "command", b->command);
	fprintf(file, "}");
}

int bench_end(const struct bench *b)
{
	printf("command: %s\n", b->command);
	if (!b->json)
		return 0;
	FILE *file = fopen(b->json, "w");
	if (!file)
		refuse(b, "cannot write", b->json);
	fprintf(file, "[\n");
	for (uint32_t i = 0; i < b->result_count; i++) {
		write_result(file, b, &b->results[i]);
		fprintf(file, i + 1 < b->result_count ? ",\n" : "\n");
	}
	fprintf(file, "]\n");
	bool failed = ferror(file);
	if (fclose(file) != 0 || failed)
		refuse(b, "cannot write", b->json);
	return 0;
}

static int order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

double bench_median(double *values, uint32_t count)
{
	CHECK(count > 0);
	qsort(values, count, sizeof *values, order);
	return values[count / 2];
}

void bench_interleave(const struct bench *b, bench_side *subject, bench_side *reference,
	void *context, struct bench_result *result)
{
	double subjects[BENCH_PAIRS_MAX], references[BENCH_PAIRS_MAX], ratios[BENCH_PAIRS_MAX];
	CHECK(b->pairs <= BENCH_PAIRS_MAX);
	if (!b->smoke) {
		reference(context);
		subject(context);
	}
	for (uint32_t i = 0; i < b->pairs; i++) {
		references[i] = reference(context);
		subjects[i] = subject(context);
		ratios[i] = subjects[i] / references[i];
	}
	result->figure = bench_median(subjects, b->pairs);
	result->reference = bench_median(references, b->pairs);
	result->ratio = bench_median(ratios, b->pairs);
	result->ratio_least = ratios[0];
	result->ratio_most = ratios[b->pairs - 1];
}

uint64_t bench_ns(void)
{
	struct timespec now;
	CHECK(clock_gettime(CLOCK_MONOTONIC_RAW, &now) == 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t bench_processor_ns(void)
{
	struct timespec now;
	CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t bench_cycles(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	return bench_ns();
#endif
}

double bench_cycles_per_second(void)
{
	static double measured;
	if (measured == 0) {
		uint64_t from_ns = bench_ns(), from = bench_cycles(), ns;
		while ((ns = bench_ns() - from_ns) < 50u * 1000 * 1000)
			;
		measured = (double)(bench_cycles() - from) * 1e9 / (double)ns;
	}
	return measured;
}

int bench_pin(void)
{
	cpu_set_t may;
	CHECK(sched_getaffinity(0, sizeof may, &may) == 0);
	int last = CPU_SETSIZE - 1;
	while (last > 0 && !CPU_ISSET((unsigned)last, &may))
		last--;
	bench_pin_to(last);
	return last;
}

void bench_pin_to(int processor)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET((unsigned)processor, &one);
	CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
}

pid_t bench_fork(void)
{
	pid_t parent = getpid(), child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
		if (getppid() != parent) // it was gone before that
			_exit(1);
	}
	return child;
}
