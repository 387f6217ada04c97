#include "tools/berthd/peers.h"
#include "state/base/check.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include "state/base/time_units.h"
#include "tools/berthd/peer_list.h"
#include "tools/http_client/http_client.h"
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define PATH_BYTES 4096u
#define ESCAPED_BYTES (3 * STORED_NAME_BYTES_MAX + 4)
#define ANSWER_BYTES 512u // beginning of an answer: a word, or an error

struct peer_controllers {
	struct peers peers;
	char region[CONFIG_NAME_BYTES];
	const struct time_source *time;
	pthread_mutex_t lock; // guards which list is current
	struct peer_list *current;
	struct http_client *client;
	_Atomic bool is_stopping;
};

struct answer {
	long status; // 0: no answer
	char text[ANSWER_BYTES];
	size_t size;
};

// One request under way.
struct inquiry {
	struct peer_controllers *controllers;
	struct answer *answer;
};

_Static_assert(3 * ESCAPED_BYTES + 200 < PATH_BYTES, "a path holds three of them, and numbers");

// The caller releases.
static struct peer_list *share_list(struct peer_controllers *p)
{
	pthread_mutex_lock(&p->lock);
	struct peer_list *list = p->current;
	atomic_fetch_add(&list->users, 1);
	pthread_mutex_unlock(&p->lock);
	return list;
}

bool peer_controllers_know(struct peer_controllers *p, const char *region)
{
	struct peer_list *list = share_list(p);
	bool knows = peer_list_find(list, region) != NULL;
	peer_list_release(list);
	return knows;
}

static bool take_beginning(void *context, long status, const char *data, size_t size)
{
	struct inquiry *i = context;
	struct http_beginning beginning = {
		i->answer->text, sizeof i->answer->text, i->answer->size};
	http_beginning_take(&beginning, data, size);
	i->answer->size = beginning.size;
	return true;
}

static bool is_cancelled(void *context)
{
	const struct inquiry *i = context;
	return atomic_load(&i->controllers->is_stopping);
}

struct question {
	const char *method; // NULL: GET
	const char *path, *body;
};

// Who is asked, as the settings are now.
struct asked {
	struct peer_controllers *controllers;
	struct peer_list *list; // shared: end_asking
	struct peer *peer;      // NULL: no region is called so
};

static struct asked begin_asking(struct peer_controllers *p, const char *region)
{
	struct peer_list *list = share_list(p);
	return (struct asked){p, list, peer_list_find(list, region)};
}

static void end_asking(const struct asked *asked)
{
	peer_list_release(asked->list);
}

// NULL when the peer answered, else the reason why not.
static const char *try_once(const struct asked *asked, const struct question *q, struct answer *a)
{
	const struct peer_list *list = asked->list;
	struct inquiry inquiry = {asked->controllers, a};
	struct http_request request = {.method = q->method,
		.url = asked->peer->address,
		.path = q->path,
		.tls = &list->tls,
		.body = q->body,
		.body_size = q->body ? strlen(q->body) : 0,
		.names_json = true,
		.token = list->token,
		.agent = "berthd/" BERTH_VERSION,
		.timeout_ms = list->timeout_ms,
		.take_body = take_beginning,
		.is_cancelled = is_cancelled,
		.context = &inquiry};
	struct http_result result;
	*a = (struct answer){0};
	if (!http_client_ask(asked->controllers->client, &request, &result))
		return result.kind;
	a->status = result.status;
	return NULL;
}

static bool is_temporary(const char *failure, const struct answer *a)
{
	return failure || a->status == 429 || a->status >= 502;
}

// Leaves a peer that did not answer alone for a while, because questions to others wait behind it.
static bool ask_peer(const struct asked *asked, const struct question *q, struct answer *a)
{
	struct peer_controllers *p = asked->controllers;
	struct peer *peer = asked->peer;
	char region[64];
	const char *failure = NULL;
	if (time_monotonic_ns(p->time) < peer->away_until_ns || atomic_load(&p->is_stopping))
		return false;
	for (uint32_t i = 0; i <= asked->list->retries && !atomic_load(&p->is_stopping); i++) {
		failure = try_once(asked, q, a);
		if (!is_temporary(failure, a))
			return true;
	}
	peer->away_until_ns = time_monotonic_ns(p->time) + (uint64_t)p->peers.poll_ns;
	log_warn("peer-away", "region=%s status=%ld error=\"%s\"",
		log_quote(peer->region, region, sizeof region), a->status,
		failure ? failure : "No error");
	return false;
}

// A question about a job.
struct about {
	const char *path, *id, *namespace_name;
	const char *name, *value; // one more parameter
};

static bool make_path(char path[PATH_BYTES], const struct about *about)
{
	char id[ESCAPED_BYTES], namespace_name[ESCAPED_BYTES], value[ESCAPED_BYTES];
	int size = snprintf(path, PATH_BYTES, "%s%s?namespace=%s&%s=%s", about->path,
		http_escape(about->id, id, sizeof id),
		http_escape(about->namespace_name, namespace_name, sizeof namespace_name),
		about->name, http_escape(about->value, value, sizeof value));
	return size >= 0 && size < (int)PATH_BYTES;
}

static int ask_for_deployment(const struct asked *asked, const char *namespace_name,
	const char *job_id, const char *rollout)
{
	struct about about = {"/v1/berth/rollout/", job_id, namespace_name, "rollout", rollout};
	char path[PATH_BYTES];
	struct question q = {.path = path};
	struct answer a;
	if (!asked->peer || !make_path(path, &about) || !ask_peer(asked, &q, &a))
		return REGION_UNKNOWN;
	if (a.status == 404)
		return REGION_ABSENT;
	for (int s = 0; a.status == 200 && s < DEPLOYMENT_STATUSES; s++)
		if (strcmp(a.text, deployment_status_names[s]) == 0)
			return s;
	return REGION_UNKNOWN;
}

static int find_deployment(void *context, const char *region, const char *namespace_name,
	const char *job_id, const char *rollout)
{
	struct asked asked = begin_asking(context, region);
	int status = ask_for_deployment(&asked, namespace_name, job_id, rollout);
	end_asking(&asked);
	return status;
}

// 0, -ENOENT when the peer does not have it, or another negative error.
static int send_command(const struct asked *asked, const struct question *q)
{
	const struct peer *peer = asked->peer;
	char region[64], why[ANSWER_BYTES];
	struct answer a;
	if (!ask_peer(asked, q, &a))
		return -EAGAIN;
	if (a.status == 200 || a.status == 404)
		return a.status == 200 ? 0 : -ENOENT;
	log_warn("peer-refused", "region=%s status=%ld text=%s",
		log_quote(peer->region, region, sizeof region), a.status,
		log_quote(a.text, why, sizeof why));
	return -EINVAL;
}

static int send_job(const struct asked *asked, const struct job *job)
{
	const struct multiregion *m = job->multiregion;
	struct about about = {"/v1/job/", job->id, job->namespace_name, "rollout", m->rollout};
	char path[PATH_BYTES];
	if (!asked->peer || !make_path(path, &about))
		return -EINVAL;
	size_t size = strlen(m->submission) + sizeof "{\"EvalPriority\":,\"Job\":}" + 20;
	char *body = memory_take(size);
	snprintf(body, size, "{\"EvalPriority\":%lld,\"Job\":%s}", (long long)m->eval_priority,
		m->submission);
	int error = send_command(asked, &(struct question){"PUT", path, body});
	free(body);
	return error == -ENOENT ? -EINVAL : error;
}

static int submit_job(void *context, const char *region, const struct job *job)
{
	struct asked asked = begin_asking(context, region);
	int error = send_job(&asked, job);
	end_asking(&asked);
	return error;
}

static int send_stop(const struct asked *asked, const struct job *job)
{
	char path[PATH_BYTES], before[32];
	snprintf(before, sizeof before, "%lld", (long long)job->multiregion->stop_everywhere_ns);
	struct about about = {"/v1/job/", job->id, job->namespace_name, "before", before};
	if (!asked->peer || !make_path(path, &about))
		return -EINVAL;
	size_t size = strlen(path);
	const struct multiregion *m = job->multiregion;
	int more = snprintf(path + size, sizeof path - size, "&eval_priority=%lld%s",
		(long long)m->eval_priority, m->purge_everywhere ? "&purge=true" : "");
	CHECK(more < (int)(sizeof path - size)); // names are no longer than ESCAPED_BYTES
	int error = send_command(asked, &(struct question){"DELETE", path, NULL});
	return error == -ENOENT ? 0 : error;
}

static int stop_job(void *context, const char *region, const struct job *job)
{
	struct asked asked = begin_asking(context, region);
	int error = send_stop(&asked, job);
	end_asking(&asked);
	return error;
}

struct peer_controllers *peer_controllers_create(const struct config *config,
	const struct time_source *time, char *message, uint32_t message_size)
{
	struct peer_list *list = peer_list_read(config, message, message_size);
	if (!list)
		return NULL;
	struct peer_controllers *p = memory_take(sizeof *p);
	memcpy(p->region, config->region, sizeof p->region);
	p->time = time;
	p->current = list;
	pthread_mutex_init(&p->lock, NULL);
	p->peers = (struct peers){
		.region = p->region,
		.poll_ns = (int64_t)config->peer_poll_ms * NS_PER_MS,
		.deployment = find_deployment,
		.submit = submit_job,
		.stop = stop_job,
		.context = p,
	};
	p->client = http_client_create();
	if (p->client)
		return p;
	snprintf(message, message_size, "libcurl could not be set up");
	peer_controllers_destroy(p);
	return NULL;
}

bool peer_controllers_renew(struct peer_controllers *p, const struct config *config, char *message,
	uint32_t message_size)
{
	struct peer_list *next = peer_list_read(config, message, message_size);
	if (!next)
		return false;
	pthread_mutex_lock(&p->lock);
	struct peer_list *before = p->current;
	p->current = next;
	pthread_mutex_unlock(&p->lock);
	peer_list_release(before);
	return true;
}

void peer_controllers_destroy(struct peer_controllers *p)
{
	if (!p)
		return;
	peer_list_release(p->current);
	http_client_destroy(p->client);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

void peer_controllers_stop(struct peer_controllers *p)
{
	atomic_store(&p->is_stopping, true);
}

const struct peers *peer_controllers_peers(const struct peer_controllers *p)
{
	return &p->peers;
}
