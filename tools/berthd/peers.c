#include "tools/berthd/peers.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include "state/base/time_units.h"
#include "tools/http_client/http_client.h"
#include <ctype.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#define TOKEN_BYTES 512u
#define PATH_BYTES 4096u
#define ESCAPED_BYTES (3 * STORED_NAME_BYTES_MAX + 4)
#define ANSWER_BYTES 512u // beginning of an answer: a word, or an error

struct peer {
	char *region, *address;
	uint64_t away_until_ns; // it has just failed to answer
};

struct peer_controllers {
	struct peers peers;
	const struct config *config;
	const struct time_source *time;
	struct peer items[REGIONS_MAX];
	uint32_t count;
	char token[TOKEN_BYTES];
	struct http_client *client;
	struct http_tls tls;
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

static bool refuse_regions(char *message, uint32_t size, const char *what, const char *item)
{
	snprintf(message, size, "peers.regions: %s: \"%.100s\"; write name=http://host:port, …",
		what, item);
	return false;
}

static bool add_peer(struct peer_controllers *p, char *item, char *message, uint32_t message_size)
{
	char *equals = strchr(item, '=');
	if (!equals || equals == item)
		return refuse_regions(
			message, message_size, "this is no region and its address", item);
	if (!http_url_is_fit(equals + 1))
		return refuse_regions(message, message_size, "this is no URL", equals + 1);
	*equals = '\0';
	if (strcmp(item, p->config->region) == 0)
		return true; // every region may have the same list
	if (p->count == REGIONS_MAX || peer_controllers_know(p, item))
		return refuse_regions(
			message, message_size, "too many regions, or twice the same", item);
	size_t size = strlen(equals + 1);
	while (equals[size] == '/')
		size--;
	p->items[p->count++] = (struct peer){.region = text_copy(text_of(item)),
		.address = text_copy((struct text){equals + 1, (uint32_t)size})};
	return true;
}

static bool read_regions(struct peer_controllers *p, char *message, uint32_t message_size)
{
	char list[CONFIG_PEERS_BYTES], *rest = NULL;
	snprintf(list, sizeof list, "%s", p->config->peer_regions);
	for (char *item = strtok_r(list, ", \t\n", &rest); item;
		item = strtok_r(NULL, ", \t\n", &rest))
		if (!add_peer(p, item, message, message_size))
			return false;
	return true;
}

static bool read_token(struct peer_controllers *p, char *message, uint32_t message_size)
{
	const char *path = p->config->peer_token_file;
	if (!*path)
		return true;
	FILE *file = fopen(path, "re");
	bool fits = file && fgets(p->token, sizeof p->token, file);
	if (file)
		(void)fclose(file);
	size_t size = strcspn(p->token, " \t\r\n");
	p->token[size] = '\0';
	if (fits && size > 0 && size < sizeof p->token - 1)
		return true;
	snprintf(message, message_size,
		"peers.token_file: %s cannot be read, or does not begin with a token of at most %u "
		"bytes",
		path, TOKEN_BYTES - 2);
	return false;
}

bool peer_controllers_know(const struct peer_controllers *p, const char *region)
{
	for (uint32_t i = 0; i < p->count; i++)
		if (strcmp(p->items[i].region, region) == 0)
			return true;
	return false;
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

// NULL when the peer answered, else the reason why not.
static const char *try_once(struct peer_controllers *p, const struct peer *peer,
	const struct question *q, struct answer *a)
{
	struct inquiry inquiry = {p, a};
	struct http_request request = {.method = q->method,
		.url = peer->address,
		.path = q->path,
		.tls = &p->tls,
		.body = q->body,
		.body_size = q->body ? strlen(q->body) : 0,
		.names_json = true,
		.token = p->token,
		.agent = "berthd/" BERTH_VERSION,
		.timeout_ms = p->config->peer_timeout_ms,
		.take_body = take_beginning,
		.is_cancelled = is_cancelled,
		.context = &inquiry};
	struct http_result result;
	*a = (struct answer){0};
	if (!http_client_ask(p->client, &request, &result))
		return result.kind;
	a->status = result.status;
	return NULL;
}

static bool is_temporary(const char *failure, const struct answer *a)
{
	return failure || a->status == 429 || a->status >= 502;
}

// Leaves a peer that did not answer alone for a while, because questions to others wait behind it.
static bool ask_peer(
	struct peer_controllers *p, struct peer *peer, const struct question *q, struct answer *a)
{
	char region[64];
	const char *failure = NULL;
	if (time_monotonic_ns(p->time) < peer->away_until_ns || atomic_load(&p->is_stopping))
		return false;
	for (uint32_t i = 0; i <= p->config->peer_retries && !atomic_load(&p->is_stopping); i++) {
		failure = try_once(p, peer, q, a);
		if (!is_temporary(failure, a))
			return true;
	}
	peer->away_until_ns = time_monotonic_ns(p->time) + (uint64_t)p->peers.poll_ns;
	log_warn("peer-away", "region=%s status=%ld error=\"%s\"",
		log_quote(peer->region, region, sizeof region), a->status,
		failure ? failure : "No error");
	return false;
}

static struct peer *find_peer(struct peer_controllers *p, const char *region)
{
	for (uint32_t i = 0; i < p->count; i++)
		if (strcmp(p->items[i].region, region) == 0)
			return &p->items[i];
	return NULL;
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

static int find_deployment(void *context, const char *region, const char *namespace_name,
	const char *job_id, const char *rollout)
{
	struct peer_controllers *p = context;
	struct peer *peer = find_peer(p, region);
	struct about about = {"/v1/berth/rollout/", job_id, namespace_name, "rollout", rollout};
	char path[PATH_BYTES];
	struct question q = {.path = path};
	struct answer a;
	if (!peer || !make_path(path, &about) || !ask_peer(p, peer, &q, &a))
		return REGION_UNKNOWN;
	if (a.status == 404)
		return REGION_ABSENT;
	for (int s = 0; a.status == 200 && s < DEPLOYMENT_STATUSES; s++)
		if (strcmp(a.text, deployment_status_names[s]) == 0)
			return s;
	return REGION_UNKNOWN;
}

// 0, -ENOENT when the peer does not have it, or another negative error.
static int send_command(struct peer_controllers *p, struct peer *peer, const struct question *q)
{
	char region[64], why[ANSWER_BYTES];
	struct answer a;
	if (!ask_peer(p, peer, q, &a))
		return -EAGAIN;
	if (a.status == 200 || a.status == 404)
		return a.status == 200 ? 0 : -ENOENT;
	log_warn("peer-refused", "region=%s status=%ld text=%s",
		log_quote(peer->region, region, sizeof region), a.status,
		log_quote(a.text, why, sizeof why));
	return -EINVAL;
}

static int submit_job(void *context, const char *region, const struct job *job)
{
	struct peer_controllers *p = context;
	struct peer *peer = find_peer(p, region);
	const struct multiregion *m = job->multiregion;
	struct about about = {"/v1/job/", job->id, job->namespace_name, "rollout", m->rollout};
	char path[PATH_BYTES];
	if (!peer || !make_path(path, &about))
		return -EINVAL;
	size_t size = strlen(m->submission) + sizeof "{\"EvalPriority\":,\"Job\":}" + 20;
	char *body = memory_take(size);
	snprintf(body, size, "{\"EvalPriority\":%lld,\"Job\":%s}", (long long)m->eval_priority,
		m->submission);
	int error = send_command(p, peer, &(struct question){"PUT", path, body});
	free(body);
	return error == -ENOENT ? -EINVAL : error;
}

static int stop_job(void *context, const char *region, const struct job *job)
{
	struct peer_controllers *p = context;
	struct peer *peer = find_peer(p, region);
	char path[PATH_BYTES], before[32];
	snprintf(before, sizeof before, "%lld", (long long)job->multiregion->stop_everywhere_ns);
	struct about about = {"/v1/job/", job->id, job->namespace_name, "before", before};
	if (!peer || !make_path(path, &about))
		return -EINVAL;
	size_t size = strlen(path);
	const struct multiregion *m = job->multiregion;
	if (snprintf(path + size, sizeof path - size, "&eval_priority=%lld%s",
		    (long long)m->eval_priority,
		    m->purge_everywhere ? "&purge=true" : "") >= (int)(sizeof path - size))
		return -EINVAL;
	int error = send_command(p, peer, &(struct question){"DELETE", path, NULL});
	return error == -ENOENT ? 0 : error;
}

struct peer_controllers *peer_controllers_create(const struct config *config,
	const struct time_source *time, char *message, uint32_t message_size)
{
	struct peer_controllers *p = memory_take(sizeof *p);
	p->config = config;
	p->time = time;
	p->peers = (struct peers){
		.region = config->region,
		.poll_ns = (int64_t)config->peer_poll_ms * NS_PER_MS,
		.deployment = find_deployment,
		.submit = submit_job,
		.stop = stop_job,
		.context = p,
	};
	p->tls = (struct http_tls){.ca_file = config->peer_ca,
		.certificate_file = config->peer_certificate,
		.key_file = config->peer_key,
		.server_name = config->peer_server_name};
	p->client = http_client_create();
	if (p->client && read_regions(p, message, message_size) &&
		read_token(p, message, message_size))
		return p;
	if (!p->client)
		snprintf(message, message_size, "libcurl could not be set up");
	peer_controllers_destroy(p);
	return NULL;
}

void peer_controllers_destroy(struct peer_controllers *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->count; i++) {
		free(p->items[i].region);
		free(p->items[i].address);
	}
	http_client_destroy(p->client);
	explicit_bzero(p->token, sizeof p->token);
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
