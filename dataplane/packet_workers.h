// A packet worker polls one queue: it takes bursts, runs them through the packet path, answers the requests that the
// applier has finished, and sweeps for silent nodes. packet_worker_step() is one turn of the loop and knows no
// transport, thread or clock of its own, so that tests run it over arrays and a manual clock.
#pragma once
#include "dataplane/requests/packet_worker.h"

// Caller destroys.
struct packet_workers *packet_workers_create(uint32_t count, const struct packet_worker_settings *);
void packet_workers_destroy(struct packet_workers *);
// Sets a worker's packet source and port. Before packet_workers_open().
void packet_worker_attach(struct packet_worker *, struct packet_io, const struct hot_port *,
	const struct port_signs *);
// The worker, with all of its team, starts as a follower: of its port's addresses it answers for these alone. After
// packet_worker_attach().
void packet_worker_follow(struct packet_worker *, const struct hot_port *own);
// Starts the liveness clocks. Fills the line of every known node and arms those that are up, unless the workers follow.
// Before any step. The keys are copied.
void packet_workers_open(struct packet_workers *, struct state *, struct command_queue *,
	const struct master_keys *, const struct time_source *);
// Followers lead from now on: fills and arms the lines from the state as it is; then each worker goes over with its
// next turn, and the first of each port announces the addresses that were silent. Once; the caller may take a read
// lock.
void packet_workers_lead(struct packet_workers *);

// The senders that all workers refused most often for asking too much, in order. Returns how many. Any thread.
uint32_t packet_workers_noisiest(
	const struct packet_workers *, struct noisy_sender *, uint32_t max);

// One turn. The calling thread is online for RCU (state_reader_online()). Returns packets received.
uint32_t packet_worker_step(struct packet_worker *);
// Runs turns until packet_workers.stopping, naps when there is nothing to do, then answers the finished requests.
void packet_worker_run(struct packet_worker *);
