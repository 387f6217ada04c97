// What all of one run shares: its memory, what it has cost, and the mistakes it found.
#include "state/base/check.h"
#include "tools/hcl2/hcl2.h"
#include <stdarg.h>
#include <stdio.h>

void hcl2_run_begin(struct hcl2_run *run)
{
	memset(run, 0, sizeof *run);
}

void hcl2_run_end(struct hcl2_run *run)
{
	arena_release(&run->memory);
	mpfr_free_cache();
}

void *hcl2_take(struct hcl2_run *run, size_t bytes)
{
	void *piece = arena_take(&run->memory, bytes + !bytes);
	// With what aligns the next: small pieces take more than they ask for.
	run->memory_used += (size_t)(run->memory.at - (uint8_t *)piece);
	return piece;
}

struct text hcl2_copy(struct hcl2_run *run, struct text text)
{
	char *copy = hcl2_take(run, text.size + 1);
	if (text.size)
		memcpy(copy, text.data, text.size);
	return (struct text){copy, text.size};
}

__attribute__((format(printf, 2, 0))) static char *print_list(
	struct hcl2_run *run, const char *format, va_list values)
{
	CHECK(format);
	va_list again;
	va_copy(again, values);
	int size = vsnprintf(NULL, 0, format, again);
	va_end(again);
	char *text = hcl2_take(run, (size_t)size + 1);
	vsnprintf(text, (size_t)size + 1, format, values);
	return text;
}

char *hcl2_print(struct hcl2_run *run, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	char *text = print_list(run, format, values);
	va_end(values);
	return text;
}

bool hcl2_mistake(struct hcl2_run *run, struct hcl2_range at, const char *format, ...)
{
	if (run->mistake_count == HCL2_MISTAKES_MAX)
		return false;
	va_list values;
	va_start(values, format);
	run->mistakes[run->mistake_count++] =
		(struct hcl2_mistake){at, print_list(run, format, values)};
	va_end(values);
	return false;
}

bool hcl2_exhausted(const struct hcl2_run *run)
{
	return run->steps > HCL2_STEPS_MAX || run->memory_used > HCL2_MEMORY_MAX;
}

bool hcl2_step(struct hcl2_run *run, struct hcl2_range at)
{
	bool was = hcl2_exhausted(run);
	run->steps++;
	if (!hcl2_exhausted(run))
		return true;
	if (!was || !run->mistake_count)
		hcl2_mistake(run, at, "This takes more than a job file may: %s.",
			run->steps > HCL2_STEPS_MAX ? "too many steps" : "too much memory");
	return false;
}
