#include "tools/berthd/health.h"
#include "state/base/log.h"
#include "state/base/time_units.h"
#include "tools/json/json_writer.h"
#include <inttypes.h>
#include <stdio.h>

#define REASON_BYTES 512u
// A turn that a restart ends was none that would have ended soon. A disk that hangs is no better after one.
#define PATIENCES_ALIVE 6u

bool berthd_alive(const struct berthd *b)
{
	return dataplane_alive(b->dataplane, &time_source_real) &&
	       applier_work(b->applier).turn_ns <= PATIENCES_ALIVE * b->patience_ns;
}

// Heartbeats and reads are answered meanwhile, so that nothing else tells.
static bool find_idle_writes(const struct berthd *b, char *message, uint32_t message_size)
{
	struct applier_work work = applier_work(b->applier);

	if (work.turn_ns > b->patience_ns)
		snprintf(message, message_size,
			"the applier has been at one turn for %" PRIu64
			" s: no change is taken meanwhile",
			work.turn_ns / NS_PER_S);
	else if (work.append_ns > b->patience_ns && !b->cluster)
		snprintf(message, message_size,
			"the disk of data_dir has been at one write for %" PRIu64
			" s: no change is durable meanwhile",
			work.append_ns / NS_PER_S);
	else
		return false;
	return true;
}

// The log of a cluster is on other machines, and the clock is the machine's: no restart of this process helps.
static bool find_cluster_trouble(const struct berthd *b, char *message, uint32_t message_size)
{
	struct cluster_status status;

	if (!b->cluster)
		return false;
	cluster_status(b->cluster, &status);
	if (status.etcd_is_away)
		snprintf(message, message_size,
			"degraded: no change is taken until the log of the cluster answers: %s",
			status.trouble);
	else if (status.clock_is_odd)
		snprintf(message, message_size,
			"degraded: the time of day is another than that of most members of the "
			"cluster: set the clock");
	return status.etcd_is_away || status.clock_is_odd;
}

// Finds a port that hears nobody because its program is gone.
static bool find_deaf_port(const struct berthd *b, char *message, uint32_t message_size)
{
	for (uint32_t p = 0; p < dataplane_ports(b->dataplane); p++) {
		if (!dataplane_port_signs(b->dataplane, p).program_lost)
			continue;
		snprintf(message, message_size,
			"port %u has lost its XDP program to another process and hears nobody; "
			"stop that process, then restart berthd",
			p);
		return true;
	}
	return false;
}

bool berthd_healthy(void *context, char *message, uint32_t message_size)
{
	const struct berthd *b = context;
	char reason[REASON_BYTES];
	if (!dataplane_alive(b->dataplane, &time_source_real)) {
		snprintf(message, message_size,
			"a dataplane worker has not gone round its loop for two seconds");
		return false;
	}
	if (find_deaf_port(b, message, message_size) || find_idle_writes(b, message, message_size))
		return false;
	if (find_cluster_trouble(b, message, message_size))
		return true;
	dataplane_expiry_text(b->dataplane, reason, sizeof reason);
	if (reason[0] != '\0')
		snprintf(message, message_size, "degraded: %s", reason);
	return true;
}

char *berthd_liveness(void *context)
{
	static const char *const states[] = {[HOLD_NONE] = "as ever",
		[HOLD_RELEASED] = "released",
		[HOLD_DRAINING] = "draining",
		[HOLD_HELD] = "held"};
	const struct berthd *b = context;
	struct expiry_status status = dataplane_expiry(b->dataplane);
	struct json_writer w = {0};
	char reason[REASON_BYTES];
	dataplane_expiry_text(b->dataplane, reason, sizeof reason);
	uint64_t now_ns = time_monotonic_ns(&time_source_real);
	json_begin_object(&w);
	json_put_string(&w, "Expiry", states[status.state]);
	json_put_string(&w, "Reason", reason);
	json_put_u64(&w, "Nodes", status.nodes);
	json_put_u64(&w, "Silent", status.silent);
	json_put_u64(&w, "Holds", status.holds);
	json_put_u64(&w, "HeldFor",
		status.since_ns == 0 || status.since_ns > now_ns ? 0 : now_ns - status.since_ns);
	json_end_object(&w);
	return json_writer_take(&w);
}

bool berthd_liveness_release(void *context)
{
	struct berthd *b = context;
	bool released = dataplane_expiry_release(b->dataplane);
	if (released)
		log_warn("expiry-released", "by=operator");
	return released;
}

static void put_sender(struct json_writer *w, const struct noisy_sender *s, uint64_t now_ns)
{
	json_begin_object(w);
	json_put_string(w, "Kind", s->kind == NOISY_NODE ? "node" : "client");
	json_put_string(w, "Name", s->name);
	json_put_u64(w, "Refused", s->refused);
	json_put_u64(w, "Ago", s->newest_ns > now_ns ? 0 : now_ns - s->newest_ns);
	json_end_object(w);
}

char *berthd_senders(void *context)
{
	const struct berthd *b = context;
	struct noisy_sender senders[NOISY_SENDERS];
	uint32_t count = dataplane_noisiest(b->dataplane, senders, NOISY_SENDERS);
	uint64_t now_ns = time_monotonic_ns(&time_source_real);
	struct json_writer w = {0};
	json_begin_array(&w);
	for (uint32_t i = 0; i < count; i++)
		put_sender(&w, &senders[i], now_ns);
	json_end_array(&w);
	return json_writer_take(&w);
}
