// What the files of the line share.
#pragma once
#include "tools/agent/line/line.h"
#include "tools/client/servers.h"
#include "tools/tls/psk.h"
#include <pthread.h>
#include <stdatomic.h>

// To connect and to shake hands.
#define DIAL_TIMEOUT_MS 10000u
#define LINE_MESSAGE_BYTES 256u

struct line {
	struct line_settings settings;
	struct psk_client *client;
	int stop_fd;          // readable once the line is closed
	pthread_mutex_t lock; // guards what follows
	pthread_cond_t changed;
	char host[64]; // of the controller; "": not known
	uint16_t port; // that it takes connections at; 0: none
	struct line_call newest;
	uint32_t threads;      // that run, and askers
	uint32_t next_address; // of the settings', to try first
	uint32_t failures;     // in a row
	uint64_t not_before_ns;
	struct line_counts counts;
	bool is_closed;
};

struct dialled {
	int fd;
	gnutls_session_t tls;
};

// Waits until the socket is ready for the events, the line is closed, the caller's stop_fd (-1: none) is readable, or
// the time is over. 0, -ECANCELED or -ETIMEDOUT.
int line_wait(const struct line *, int fd, short events, int stop_fd, uint64_t deadline_ns);
// Connects to the controller and shakes hands. 0; or a negative error and a sentence.
int line_dial(struct line *, enum line_kind, int stop_fd, uint64_t deadline_ns, struct dialled *,
	char *message, uint32_t message_size);
void dialled_close(struct dialled *);
// The line is in use by this thread. False: it is closed.
bool line_enter(struct line *);
void line_leave(struct line *);
uint64_t line_now_ns(void);
