#pragma once
#include <pthread.h>

// Begins a thread that gets no signals: they are the main thread's. 0, or an errno.
int quiet_thread_begin(pthread_t *, void *(*run)(void *), void *context);
