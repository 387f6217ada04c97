#include "dataplane/requests/doorbell.h"
#include "state/base/check.h"
#include "state/base/clock/waited.h"
#include "state/base/error.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/log.h"
#include "state/base/time_units.h"
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

void doorbell_open(struct doorbell *d)
{
	*d = (struct doorbell){
		.event = CAN_FAIL(PORT_BELL, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC))};
	if (d->event < 0)
		log_warn("doorbell-missing", "error=\"%s\" effect=\"answers wait for a nap's end\"",
			error_text(-errno));
}

void doorbell_close(struct doorbell *d)
{
	if (d->event >= 0)
		close(d->event);
	d->event = -1;
}

// The fence pairs with the one in lie_down: either the worker sees what is there for it, or this thread that it rests.
void doorbell_ring(struct doorbell *d)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (!atomic_load_explicit(&d->rests, memory_order_relaxed))
		return;
	if (atomic_exchange_explicit(&d->rests, false, memory_order_relaxed) && d->event >= 0)
		CHECK(eventfd_write(d->event, 1) == 0);
}

void doorbell_lie_down(struct doorbell *d)
{
	atomic_store_explicit(&d->rests, true, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
}

void doorbell_get_up(struct doorbell *d)
{
	atomic_store_explicit(&d->rests, false, memory_order_relaxed);
}

// Descriptors that are negative are left out by poll.
bool doorbell_sleep(struct doorbell *d, int packets, uint32_t longest_us)
{
	struct pollfd fds[2] = {
		{.fd = d->event, .events = POLLIN}, {.fd = packets, .events = POLLIN}};
	struct timespec longest = {
		.tv_sec = longest_us / US_PER_S, .tv_nsec = (long)(longest_us % US_PER_S) * 1000};
	eventfd_t rings;
	int ready = WAITED(CAN_FAIL(PORT_WAIT, ppoll(fds, 2, &longest, NULL)), "worker");

	doorbell_get_up(d);
	if (ready > 0 && fds[0].revents)
		(void)eventfd_read(d->event, &rings); // what was rung for is looked for anyway
	return ready > 0 && fds[1].revents;
}
