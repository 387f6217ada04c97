// A real etcd of one member on free ports of 127.0.0.1, with its data in a folder that goes away with it. Without etcd
// on this machine the test fails with a sentence that says so.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define ETCD_SERVER_URL_BYTES 64

struct etcd_server {
	pid_t pid; // 0: does not run
	uint16_t client_port, peer_port, health_port;
	char url[ETCD_SERVER_URL_BYTES];
	char folder[64];
	uint64_t quota_bytes;
	// PEM; NULL: http. Whoever asks needs a certificate of the same CA.
	const char *ca_file, *certificate_file, *key_file;
};

// quota_bytes of its store; 0: as it likes. Waits until it is healthy.
void etcd_server_start(struct etcd_server *, uint64_t quota_bytes);
// Over https.
void etcd_server_start_tls(struct etcd_server *, const char *ca_file, const char *certificate_file,
	const char *key_file);
// A signal: SIGSTOP, after which it does nothing any more, SIGCONT; SIGKILL through etcd_server_kill.
void etcd_server_signal(const struct etcd_server *, int signal);
// With kill -9; the data stay.
void etcd_server_kill(struct etcd_server *);
// Again with the same data and ports.
void etcd_server_start_again(struct etcd_server *);
void etcd_server_stop(struct etcd_server *);

// A socket that listens at a free port of 127.0.0.1.
int listen_anywhere(uint16_t *port);
// A port of 127.0.0.1 that nobody listens at.
uint16_t free_port(void);
// Runs etcdctl with words (NULL ends them) at the server; returns its exit code.
int etcd_server_control(const struct etcd_server *, const char *const *words);
