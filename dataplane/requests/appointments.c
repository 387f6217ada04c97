#include "dataplane/requests/appointments.h"
#include "state/base/time_units.h"

// A storm itself takes the processor away, so that its first registrations take long: a faster one counts at once, a
// slower one by this part. Who comes too soon is refused again, which costs less than room that nobody uses.
#define SMOOTHING 4096u

static uint64_t bounded(uint64_t value, uint64_t least, uint64_t most)
{
	return value < least ? least : value > most ? most : value;
}

void appointments_begin(struct appointments *a)
{
	*a = (struct appointments){.each_ns = APPOINTMENT_EACH_NS_FIRST};
}

void appointments_served(struct appointments *a, uint64_t took_ns, uint32_t ahead)
{
	if (ahead < APPOINTMENT_AHEAD_MIN)
		return;
	uint64_t each_ns =
		bounded(took_ns / (ahead + 1), APPOINTMENT_EACH_NS_MIN, APPOINTMENT_EACH_NS_MAX);
	if (each_ns < a->each_ns)
		a->each_ns = each_ns;
	else
		a->each_ns += (each_ns - a->each_ns) / SMOOTHING;
}

uint32_t appointments_make_ms(struct appointments *a, uint64_t now_ns, uint32_t pending)
{
	uint64_t at_ns = now_ns + pending * a->each_ns;
	if (at_ns < a->next_ns)
		at_ns = a->next_ns;
	uint64_t latest_ns = now_ns + APPOINTMENT_MS_MAX * NS_PER_MS;
	if (at_ns > latest_ns)
		at_ns = latest_ns;
	a->next_ns = at_ns + a->each_ns;
	uint64_t wait_ms = (at_ns - now_ns) / NS_PER_MS;
	return (uint32_t)bounded(wait_ms, APPOINTMENT_MS_MIN, APPOINTMENT_MS_MAX);
}
