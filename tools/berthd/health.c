#include "tools/berthd/health.h"
#include "state/base/clock/steady_time.h"
#include "state/base/log.h"
#include "state/base/time_units.h"
#include "tools/json/json_writer.h"
#include <inttypes.h>
#include <stdio.h>

#define REASON_BYTES 512u
// A turn that a restart ends was none that would have ended soon. A disk that hangs is no better after one.
#define PATIENCES_ALIVE 6u
// Less is made up for within minutes (state/base/clock/steady_time.h).
#define CLOCK_LAG_S_MAX 60
#define CLOCK_LAG_S_TOLD 5

bool berthd_alive(const struct berthd *b)
{
	return dataplane_alive(b->dataplane, &time_source_real) &&
	       applier_work(b->applier).turn_ns <= PATIENCES_ALIVE * b->patience_ns;
}

static void judge_packet_threads(const struct berthd *b, struct health_check *c)
{
	if (dataplane_alive(b->dataplane, &time_source_real))
		return;
	c->level = HEALTH_DEAD;
	snprintf(c->why, sizeof c->why,
		"a dataplane worker has not gone round its loop for two seconds");
}

// The API answers before the last of what may refuse a start.
static void judge_start(const struct berthd *b, struct health_check *c)
{
	if (atomic_load(&b->is_ready))
		return;
	c->level = HEALTH_FAILED;
	snprintf(c->why, sizeof c->why, "the start is not over");
}

// Finds a port that hears nobody because its program is gone.
static void judge_ports(const struct berthd *b, struct health_check *c)
{
	for (uint32_t p = 0; p < dataplane_ports(b->dataplane); p++) {
		if (!dataplane_port_signs(b->dataplane, p).program_lost)
			continue;
		c->level = HEALTH_FAILED;
		snprintf(c->why, sizeof c->why,
			"port %u has lost its XDP program to another process and hears nobody; "
			"stop that process, then restart berthd",
			p);
		return;
	}
}

// Heartbeats and reads are answered meanwhile, so that nothing else tells.
static void judge_applier(const struct berthd *b, struct health_check *c)
{
	uint64_t turn_ns = applier_work(b->applier).turn_ns;
	if (turn_ns <= b->patience_ns)
		return;
	c->level = turn_ns > PATIENCES_ALIVE * b->patience_ns ? HEALTH_DEAD : HEALTH_FAILED;
	snprintf(c->why, sizeof c->why,
		"the applier has been at one turn for %" PRIu64 " s: no change is taken meanwhile",
		turn_ns / NS_PER_S);
}

static void judge_disk(const struct berthd *b, struct health_check *c)
{
	uint64_t append_ns = applier_work(b->applier).append_ns;
	if (append_ns <= b->patience_ns || b->cluster)
		return;
	c->level = HEALTH_FAILED;
	snprintf(c->why, sizeof c->why,
		"the disk of data_dir has been at one write for %" PRIu64
		" s: no change is durable meanwhile",
		append_ns / NS_PER_S);
}

// The log of a cluster is on other machines: no restart of this process helps.
static void judge_cluster_log(const struct berthd *b, struct health_check *c)
{
	struct cluster_status status;
	if (!b->cluster)
		return;
	cluster_status(b->cluster, &status);
	if (!status.etcd_is_away)
		return;
	c->level = HEALTH_UNREADY;
	snprintf(c->why, sizeof c->why,
		"no change is taken until the log of the cluster answers: %s", status.trouble);
}

static void judge_leader(const struct berthd *b, struct health_check *c)
{
	struct cluster_status status;
	if (!b->cluster)
		return;
	cluster_status(b->cluster, &status);
	if (status.role == CLUSTER_LEADER || status.knows_leader)
		return;
	c->level = HEALTH_UNREADY;
	snprintf(c->why, sizeof c->why, "nobody is known to lead the cluster");
}

static void judge_own_clock(struct health_check *c)
{
	int64_t lag_s = time_source_steady_lag_ns() / (int64_t)NS_PER_S;
	if (lag_s > -CLOCK_LAG_S_MAX && lag_s < CLOCK_LAG_S_MAX)
		return;
	c->level = HEALTH_DEGRADED;
	snprintf(c->why, sizeof c->why,
		"the machine's clock was set %s by more than a minute, and is %" PRId64
		" s from the time that berthd goes by: when it is right, restart berthd",
		lag_s > 0 ? "forward" : "back", lag_s);
}

static void judge_clock(const struct berthd *b, struct health_check *c)
{
	struct cluster_status status;
	judge_own_clock(c);
	if (!b->cluster)
		return;
	cluster_status(b->cluster, &status);
	if (!status.clock_is_odd)
		return;
	c->level = HEALTH_DEGRADED;
	snprintf(c->why, sizeof c->why,
		"the time of day is another than that of most members of the cluster: set the "
		"clock");
}

static void judge_expiry(const struct berthd *b, struct health_check *c)
{
	dataplane_expiry_text(b->dataplane, c->why, sizeof c->why);
	if (c->why[0] != '\0')
		c->level = HEALTH_DEGRADED;
}

void berthd_look_at_clock(struct berthd *b, int64_t lag_ns)
{
	int64_t most_ns = (b->clock_is_off ? 1 : CLOCK_LAG_S_TOLD) * (int64_t)NS_PER_S;
	bool is_off = lag_ns > most_ns || lag_ns < -most_ns;
	if (is_off && !b->clock_is_off)
		log_warn("clock-was-set",
			"ahead_s=%.3f meaning=\"the machine's clock jumped; the daemon's time does "
			"not, and follows by an eighth\"",
			(double)lag_ns / 1e9);
	if (!is_off && b->clock_is_off)
		log_info("clock-is-right", "ahead_s=%.3f", (double)lag_ns / 1e9);
	b->clock_is_off = is_off;
}

// In the order in which health names them.
static const struct {
	const char *name;
	void (*judge)(const struct berthd *, struct health_check *);
} judges[] = {
	{"start", judge_start},
	{"packet-threads", judge_packet_threads},
	{"ports", judge_ports},
	{"applier", judge_applier},
	{"disk", judge_disk},
	{"cluster-log", judge_cluster_log},
	{"leader", judge_leader},
	{"clock", judge_clock},
	{"expiry", judge_expiry},
};
#define JUDGES (sizeof judges / sizeof judges[0])
_Static_assert(JUDGES <= HEALTH_CHECKS_MAX, "there is room for every check");

uint32_t berthd_checks(void *context, struct health_check *checks)
{
	for (uint32_t i = 0; i < JUDGES; i++) {
		checks[i] = (struct health_check){.name = judges[i].name};
		judges[i].judge(context, &checks[i]);
	}
	return JUDGES;
}

static const struct health_check *first_from(
	const struct health_check *checks, uint32_t count, enum health_level level)
{
	for (uint32_t i = 0; i < count; i++)
		if (checks[i].level >= level)
			return &checks[i];
	return NULL;
}

bool berthd_healthy(void *context, char *message, uint32_t message_size)
{
	struct health_check checks[HEALTH_CHECKS_MAX];
	uint32_t count = berthd_checks(context, checks);
	const struct health_check *failed = first_from(checks, count, HEALTH_FAILED);
	const struct health_check *worse = first_from(checks, count, HEALTH_DEGRADED);
	if (failed)
		snprintf(message, message_size, "%s", failed->why);
	else if (worse)
		snprintf(message, message_size, "degraded: %s", worse->why);
	return !failed;
}

void berthd_look_at_health(struct berthd *b)
{
	char message[REASON_BYTES];
	if (!berthd_healthy(b, message, sizeof message))
		log_error("unhealthy", "reason=\"%s\"", message);
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
	return dataplane_expiry_release(b->dataplane);
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
