// What every benchmark shares: options, clocks, interleaved measurement and the report. A benchmark
// measures its subject and a reference in the same run, in turn, and reports the ratio; a bare time
// says more about the machine than about the program.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// Results that one program may report.
#define BENCH_RESULTS_MAX 256u
// Pairs of reference and subject; odd, so that the median was really measured.
#define BENCH_PAIRS_MAX 101u

struct bench_result {
	const char *name;    // of the figure; by default the benchmark's
	uint64_t nodes;      // size of the fleet; 0 when there is none
	double figure;       // the subject's, in unit
	const char *unit;    // "heartbeats/s", "ns/node", "bytes/node"
	double reference;    // in the same unit; 0 when there is nothing to compare with
	const char *against; // what the reference is, in a few words
	double ratio;        // figure / reference; 0 lets bench_report divide
	double ratio_least;  // over the pairs; 0 when there was one measurement
	double ratio_most;
};

struct bench {
	const char *name;
	bool smoke;          // tiny sizes: prove that it runs, measure nothing
	uint32_t pairs;      // asked for, at least 5; 1 in a smoke run
	const char *json;    // path of the report, or NULL
	const char *command; // that repeats this run
	int argument_count;  // that bench_begin left for the benchmark
	char **arguments;    // [0] is the program
	char command_own[1024];
	struct bench_result results[BENCH_RESULTS_MAX];
	uint32_t result_count;
};

// Takes --smoke, --json FILE, --pairs N and --command TEXT out of the arguments. Exits with a
// sentence when one of them is wrong.
void bench_begin(struct bench *, const char *name, int count, char **arguments);
// Value of "--<option> N" among the arguments that are left, or otherwise. Exits when it is not a number.
uint64_t bench_option(const struct bench *, const char *option, uint64_t otherwise);
// The text of "--<option> TEXT", or otherwise.
const char *bench_option_text(const struct bench *, const char *option, const char *otherwise);
// Prints one line. Keeps the result's texts without copying them.
void bench_report(struct bench *, const struct bench_result *);
// Writes the JSON file, if one was asked for. Returns the exit code of main.
int bench_end(const struct bench *);

// One measurement: does its work and returns the figure.
typedef double bench_side(void *context);
// Runs reference and subject in turn, once unmeasured and then for bench.pairs times. Fills figure
// and reference with the medians and the ratios with those of the pairs.
void bench_interleave(const struct bench *, bench_side *subject, bench_side *reference,
	void *context, struct bench_result *);
// Sorts values; returns the middle one. count > 0.
double bench_median(double *values, uint32_t count);

// Nanoseconds of a clock that nobody adjusts.
uint64_t bench_ns(void);
// Processor time of the whole process, which says the same on a machine that has other work to do.
uint64_t bench_processor_ns(void);
// The processor's own count where it has one, otherwise bench_ns.
uint64_t bench_cycles(void);
// Cycles of bench_cycles in a second, measured once (takes 50 ms).
double bench_cycles_per_second(void);
// Keeps the calling thread on one processor, the last that it may use; returns its number.
int bench_pin(void);
void bench_pin_to(int processor);
// Forks a child that ends with this process, however this one ends. Returns as fork does, which must not fail.
pid_t bench_fork(void);
// Keeps the compiler from dropping a value that nothing else uses.
static inline void bench_keep(uint64_t value)
{
	__asm__ volatile("" ::"r"(value) : "memory");
}
