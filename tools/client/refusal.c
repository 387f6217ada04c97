// Puts a refusal into words.
#include "tools/client/client.h"
#include <stdio.h>

struct sentence {
	char *buffer;
	uint32_t size, used;
};

static void say_refusal(struct sentence *s, const char *what, uint64_t number)
{
	if (number == 0 || s->used >= s->size)
		return;
	int n = snprintf(
		s->buffer + s->used, s->size - s->used, ", %lu %s", (unsigned long)number, what);
	s->used = n < 0 ? s->size : s->used + (uint32_t)n;
}

char *client_refusal_text(const struct wire_refused *r, char *buffer, uint32_t size)
{
	struct sentence s = {.buffer = buffer, .size = size};
	int n = snprintf(buffer, size, "%s", wire_refusal_name(r->reason));
	s.used = n < 0 ? size : (uint32_t)n;
	say_refusal(&s, "nodes seen", r->nodes_seen);
	say_refusal(&s, "not ready", r->nodes_not_ready);
	say_refusal(&s, "in other datacenters", r->filtered_datacenter);
	say_refusal(&s, "of another class or pool", r->filtered_class);
	say_refusal(&s, "without the device", r->filtered_device);
	for (uint32_t i = 0; i < r->filter_count; i++) {
		char what[48];
		snprintf(what, sizeof what, "filtered by constraint %u", i + 1);
		say_refusal(&s, what, r->filters[i]);
	}
	say_refusal(&s, "lack cpu", r->exhausted_cpu);
	say_refusal(&s, "lack memory", r->exhausted_memory);
	say_refusal(&s, "lack disk", r->exhausted_disk);
	say_refusal(&s, "lack a free device", r->exhausted_device);
	if (r->reason == WIRE_REFUSED_STALE_REGISTRATION)
		say_refusal(&s, "is the newest registration known", r->value);
	say_refusal(&s, "ms until it may be tried again", r->retry_after_ms);
	return buffer;
}
