#include "state/base/clock/waited.h"
#include "state/base/error.h"
#include "state/base/time_units.h"
#include <errno.h>
#include <time.h>

#define PAUSE_NS (5 * NS_PER_MS)

int waited(struct log_site *site, int count, const char *who)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};

	if (count >= 0)
		return count;
	if (errno == EINTR)
		return 0;
	log_write(site, LOG_ERROR, "wait-failed",
		"who=%s error=\"%s\" effect=\"it looks every 5 ms\"", who, error_text(-errno));
	nanosleep(&pause, NULL);
	return 0;
}
