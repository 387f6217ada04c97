#include "tools/agent/base/quiet_thread.h"
#include <signal.h>

int quiet_thread_begin(pthread_t *thread, void *(*run)(void *), void *context)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(thread, NULL, run, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}
