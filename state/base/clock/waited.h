// For threads that wait for events again and again (poll, epoll_wait).
#pragma once
#include "state/base/log.h"

// What a wait came to: how many events there are. One that failed, other than by a signal, is said, and some
// milliseconds pass: who looks for work and waits again goes on, and does not spin. Any thread; who: in the log.
#define WAITED(count, who)                           \
	({                                           \
		static struct log_site waited_site_; \
		waited(&waited_site_, count, who);   \
	})
int waited(struct log_site *, int count, const char *who);
