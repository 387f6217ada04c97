// Requests of libcurl that one thread has under way together, and the events that they wait for. An epoll has their
// sockets: to look at each of a thousand blocking queries would take longer than to answer one.
#pragma once
#include "state/base/time_source.h"
#include <curl/curl.h>
#include <stdint.h>

struct curl_events;

// unwatched: the system refused to watch a socket of this request, which waits for ever unless it is ended, soon. 0 or
// -errno.
int curl_events_create(
	const struct time_source *, void (*unwatched)(CURL *), struct curl_events **);
void curl_events_destroy(struct curl_events *); // once no request is under way; NULL is fine
// What requests are added to, and whose messages are read.
CURLM *curl_events_multi(struct curl_events *);
// Its wait also ends while that descriptor, which stays the caller's, is readable. Once. 0 or -errno.
int curl_events_watch(struct curl_events *, int fd);
// Waits, at most so long, and lets requests go on that may.
void curl_events_await(struct curl_events *, uint32_t most_ms);
void curl_events_wake(struct curl_events *); // any thread: ends the wait
