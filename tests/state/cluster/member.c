#include "tests/state/cluster/member.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "tests/state/cluster/etcd_keys.h"
#include "tests/state/store/store_dir.h"
#include "tests/support/core/builders.h"
#include "tests/support/first_fit.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { JOBS_MAX_OF_TEST = 256, LEASE_MS = 10000, ETCD_PATIENCE_MS = 100000 };

static char message[COMPLAINT_BYTES];
static const struct complaint complaint = {message, sizeof message};

void member_create(struct member *m, const char *name)
{
	*m = (struct member){.name = name, .ttl_ms = LEASE_MS, .etcd_timeout_ms = ETCD_PATIENCE_MS};
	snprintf(m->directory, sizeof m->directory, "%s", dir_create());
}

void member_remove(struct member *m)
{
	dir_remove(m->directory);
}

struct cluster_setup member_setup(const struct member *m)
{
	return (struct cluster_setup){.name = MEMBER_CLUSTER,
		.etcd = {.endpoints = etcd_keys_server()->url, .timeout_ms = m->etcd_timeout_ms},
		.directory = m->directory,
		.member_name = m->name,
		.http = MEMBER_HTTP,
		.wire = ""};
}

void member_init(struct member *m)
{
	struct cluster_setup setup = member_setup(m);
	if (cluster_init(&setup, 0, &complaint) != 0)
		fail_msg("init: %s", message);
}

void member_join(struct member *m)
{
	struct cluster_setup setup = member_setup(m);
	if (cluster_join(&setup, &complaint) != 0)
		fail_msg("join: %s", message);
}

static bool member_leads(void *context, char *why, size_t size)
{
	struct member *m = context;
	int error = core_open(&m->core);

	snprintf(why, size, "the term cannot begin: %d", error);
	atomic_store(&m->leads, error == 0);
	return error == 0;
}

// The first is kept, and is whole when it counts: any thread of the cluster's tells.
static void tell(struct member *m, _Atomic uint32_t *calls, const char *sentence)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&lock);
	if (atomic_load(&m->lost) + atomic_load(&m->failed) == 0)
		snprintf(m->sentence, sizeof m->sentence, "%s", sentence);
	atomic_fetch_add(calls, 1);
	pthread_mutex_unlock(&lock);
}

static void member_lost(void *context, const char *reason)
{
	struct member *m = context;
	tell(m, &m->lost, reason);
}

static void member_failed(void *context, const char *sentence)
{
	struct member *m = context;
	tell(m, &m->failed, sentence);
}

static void member_fetches(void *context, const char *http, uint64_t epoch, char *why, size_t size)
{
	struct member *m = context;
	if (atomic_load(&m->fetched) == 0)
		snprintf(m->fetched_from, sizeof m->fetched_from, "%s", http);
	snprintf(why, size, "this is a test");
	atomic_fetch_add(&m->fetched, 1);
}

static void see_leader(void *context, const struct cluster_member *leader)
{
}

static void see_log_failed(void *context, int error)
{
	struct member *m = context;
	atomic_store(&m->log_error, error);
}

static void begin_member(struct member *m)
{
	struct store_settings settings = {.directory = m->directory,
		.map_bytes = 256ll << 20,
		.may_lag = true,
		.sync = true,
		.snapshot_log_bytes = 64ll << 20};
	if (store_open(&settings, &m->store, message, sizeof message) != 0)
		fail_msg("store: %s", message);
	core_create(&m->core, (struct state_limits){.jobs = JOBS_MAX_OF_TEST}, 1);
}

static void recover_member(struct member *m, struct command_log log)
{
	core_appoint(&m->core, (struct applier_settings){.log = log,
				       .placer = first_fit_placer(m->core.state),
				       .collect_after_ms = 3600 * 1000,
				       .log_failed = see_log_failed,
				       .context = m});
	if (store_recover(m->store, m->core.state, m->core.applier, &m->recovery, message,
		    sizeof message) != 0)
		fail_msg("recovery: %s", message);
}

void member_recover(struct member *m)
{
	begin_member(m);
	recover_member(m, store_log(m->store));
}

static int open_cluster(struct member *m)
{
	struct member_settings settings = {.name = MEMBER_CLUSTER,
		.etcd = {.endpoints = m->endpoints ? m->endpoints : etcd_keys_server()->url,
			.timeout_ms = m->etcd_timeout_ms},
		.ttl_ms = m->ttl_ms,
		.directory = m->directory,
		.identity = m->identity,
		.member_name = m->name,
		.http = MEMBER_HTTP,
		.wire = "",
		.store = m->store,
		.state = m->core.state,
		.time = &time_source_real,
		.lead = member_leads,
		.lost = member_lost,
		.failed = member_failed,
		.fetch = member_fetches,
		.leader_changed = see_leader,
		.context = m};
	return cluster_open(&settings, &m->cluster, message, sizeof message);
}

static int start_cluster(struct member *m)
{
	recover_member(m, cluster_log(m->cluster));
	int error = cluster_start(m->cluster, m->core.applier);
	if (error != 0) {
		snprintf(message, sizeof message, "the cluster's threads: %s", error_text(error));
		member_stop(m);
	}
	return error;
}

bool member_try_start(struct member *m)
{
	begin_member(m);
	atomic_store(&m->leads, false);
	m->lost = m->failed = m->fetched = 0;
	m->log_error = 0;
	int error = cluster_identity_read(m->directory, &m->identity, &complaint);
	if (error == 0)
		error = open_cluster(m);
	if (error == 0)
		error = start_cluster(m);
	if (error == 0)
		return true;
	snprintf(m->sentence, sizeof m->sentence, "%s", message);
	member_close(m);
	return false;
}

void member_start(struct member *m)
{
	if (!member_try_start(m))
		fail_msg("%s", m->sentence);
}

void member_await_leadership(struct member *m)
{
	AWAIT(atomic_load(&m->leads) && cluster_leads(m->cluster));
}

void member_stop(struct member *m)
{
	cluster_end(m->cluster, 1000);
	cluster_stop(m->cluster);
}

void member_close(struct member *m)
{
	core_destroy(&m->core);
	cluster_close(m->cluster);
	m->cluster = NULL;
	store_close(m->store);
}

enum command_outcome member_register(struct member *m, uint32_t number)
{
	struct node_registration *node = memory_take(sizeof *node);

	describe_plain_node(node, number, time_wall_ns(&time_source_real) / 1000000);
	enum command_outcome outcome = core_join(&m->core, node);
	free(node);
	return outcome;
}

static struct command job_command(const char *id, uint32_t bytes)
{
	struct job *job = plain_job(id, JOB_DIRECT);

	job->node_pool = text_copy(TEXT("default"));
	*(char **)array_append(&job->datacenters, sizeof(char *)) = text_copy(TEXT("*"));
	add_plain_group(job, "front", (struct resources){.cpu_mhz = 100});
	free(job->name);
	job->name = memory_take(bytes + 1);
	memset(job->name, 'n', bytes);
	return (struct command){.type = COMMAND_JOB_REGISTER, .job_register = {.job = job}};
}

enum command_outcome member_job(struct member *m, const char *id, uint32_t bytes)
{
	struct command c = job_command(id, bytes);
	enum command_outcome outcome = core_run(&m->core, &c);

	job_free(c.job_register.job);
	return outcome;
}

void member_jobs(struct member *m, uint32_t count, uint32_t bytes)
{
	struct command *commands = memory_take_array(count, sizeof *commands);
	uint32_t done = 0;
	char id[32];

	for (uint32_t i = 0; i < count; i++) {
		snprintf(id, sizeof id, "job-%u-%u", i, bytes);
		commands[i] = job_command(id, bytes);
		core_push(&m->core, &commands[i], &done);
	}
	core_await(&m->core, &done, count);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(commands[i].outcome, OUTCOME_DONE);
		job_free(commands[i].job_register.job);
	}
	free(commands);
}

void member_assert_equal(struct member *a, struct member *b)
{
	struct bytes_writer one = core_image(a->core.state), other = core_image(b->core.state);

	assert_int_equal(state_index(a->core.state), state_index(b->core.state));
	assert_int_equal(one.size, other.size);
	assert_memory_equal(one.data, other.data, one.size);
	bytes_writer_free(&one);
	bytes_writer_free(&other);
}
