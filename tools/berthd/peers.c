#include "tools/berthd/peers.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include "state/base/time_units.h"
#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#define TOKEN_BYTES 512u
#define URL_BYTES 4096u
#define ANSWER_BYTES 512u // of the beginning of an answer: a word, or why not

struct peer {
	char *region, *address;
	uint64_t away_until_ns; // it did not answer just now
};

struct peer_controllers {
	struct peers peers;
	const struct config *config;
	const struct time_source *time;
	struct peer items[REGIONS_MAX];
	uint32_t count;
	char token[TOKEN_BYTES];
	CURL *curl;
	_Atomic bool is_stopping;
};

struct answer {
	long status; // 0: none
	char text[ANSWER_BYTES];
	size_t size;
};

// --- Settings ------------------------------------------------------------------------------------

static bool complain(char *message, uint32_t size, const char *what, const char *item)
{
	snprintf(message, size, "peers.regions: %s: \"%.100s\"; write name=http://host:port, …",
		what, item);
	return false;
}

static bool add(struct peer_controllers *p, char *item, char *message, uint32_t message_size)
{
	char *equals = strchr(item, '=');
	if (!equals || equals == item)
		return complain(message, message_size, "this is no region and its address", item);
	if (strncmp(equals + 1, "http://", 7) != 0 && strncmp(equals + 1, "https://", 8) != 0)
		return complain(message, message_size, "this is no URL", equals + 1);
	*equals = '\0';
	if (strcmp(item, p->config->region) == 0)
		return true; // all may have the same list
	if (p->count == REGIONS_MAX || peer_controllers_know(p, item))
		return complain(message, message_size, "too many regions, or twice the same", item);
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
		if (!add(p, item, message, message_size))
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

// --- Requests ------------------------------------------------------------------------------------

static size_t take_text(char *data, size_t each, size_t count, void *context)
{
	struct answer *a = context;
	size_t size = each * count, room = sizeof a->text - 1 - a->size;
	memcpy(a->text + a->size, data, size < room ? size : room);
	a->size += size < room ? size : room;
	return size;
}

static int is_over(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	return atomic_load(&((struct peer_controllers *)context)->is_stopping);
}

struct question {
	const char *method; // NULL: GET
	const char *url, *body;
};

static void prepare(struct peer_controllers *p, const struct question *q,
	struct curl_slist *headers, struct answer *a)
{
	CURL *curl = p->curl;
	curl_easy_reset(curl);
	curl_easy_setopt(curl, CURLOPT_URL, q->url);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)p->config->peer_timeout_ms);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "berthd/" BERTH_VERSION);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_text);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, a);
	curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, is_over);
	curl_easy_setopt(curl, CURLOPT_XFERINFODATA, p);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	if (q->method)
		curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, q->method);
	if (q->body)
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, q->body);
}

static struct curl_slist *headers_of(const struct peer_controllers *p)
{
	char token[TOKEN_BYTES + 32];
	struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
	snprintf(token, sizeof token, "X-Nomad-Token: %s", p->token);
	return *p->token ? curl_slist_append(headers, token) : headers;
}

static CURLcode try(struct peer_controllers *p, const struct question *q, struct answer *a)
{
	struct curl_slist *headers = headers_of(p);
	*a = (struct answer){0};
	prepare(p, q, headers, a);
	CURLcode code = curl_easy_perform(p->curl);
	if (code == CURLE_OK)
		curl_easy_getinfo(p->curl, CURLINFO_RESPONSE_CODE, &a->status);
	curl_slist_free_all(headers);
	return code;
}

static bool is_temporary(CURLcode code, const struct answer *a)
{
	return code != CURLE_OK || a->status == 429 || a->status >= 502;
}

// One that did not answer is left alone for a while: others are waiting for their turn behind it.
static bool ask(
	struct peer_controllers *p, struct peer *peer, const struct question *q, struct answer *a)
{
	char region[64];
	CURLcode code = CURLE_OK;
	if (time_monotonic_ns(p->time) < peer->away_until_ns || atomic_load(&p->is_stopping))
		return false;
	for (uint32_t i = 0; i <= p->config->peer_retries && !atomic_load(&p->is_stopping); i++) {
		code = try(p, q, a);
		if (!is_temporary(code, a))
			return true;
	}
	peer->away_until_ns = time_monotonic_ns(p->time) + (uint64_t)p->peers.poll_ns;
	log_warn("peer-away", "region=%s status=%ld error=\"%s\"",
		log_quote(peer->region, region, sizeof region), a->status,
		curl_easy_strerror(code));
	return false;
}

static struct peer *find(struct peer_controllers *p, const char *region)
{
	for (uint32_t i = 0; i < p->count; i++)
		if (strcmp(p->items[i].region, region) == 0)
			return &p->items[i];
	return NULL;
}

// What is asked of a job.
struct about {
	const char *path, *id, *namespace_name;
	const char *name, *value; // one more parameter
};

static bool make_url(struct peer_controllers *p, const struct peer *peer, char url[URL_BYTES],
	const struct about *about)
{
	char *texts[3] = {curl_easy_escape(p->curl, about->id, 0),
		curl_easy_escape(p->curl, about->namespace_name, 0),
		curl_easy_escape(p->curl, about->value, 0)};
	int size = snprintf(url, URL_BYTES, "%s", peer->address);
	bool fits = texts[0] && texts[1] && texts[2] && size >= 0 && size < (int)URL_BYTES;
	if (fits) {
		int more = snprintf(url + size, URL_BYTES - (size_t)size, "%s%s?namespace=%s&%s=%s",
			about->path, texts[0], texts[1], about->name, texts[2]);
		fits = more >= 0 && size + more < (int)URL_BYTES;
	}
	for (uint32_t i = 0; i < 3; i++)
		curl_free(texts[i]);
	return fits;
}

static int deployment(void *context, const char *region, const char *namespace_name,
	const char *job_id, const char *rollout)
{
	struct peer_controllers *p = context;
	struct peer *peer = find(p, region);
	struct about about = {"/v1/berth/rollout/", job_id, namespace_name, "rollout", rollout};
	char url[URL_BYTES];
	struct question q = {.url = url};
	struct answer a;
	if (!peer || !make_url(p, peer, url, &about) || !ask(p, peer, &q, &a))
		return REGION_UNKNOWN;
	if (a.status == 404)
		return REGION_ABSENT;
	for (int s = 0; a.status == 200 && s < DEPLOYMENT_STATUSES; s++)
		if (strcmp(a.text, deployment_status_names[s]) == 0)
			return s;
	return REGION_UNKNOWN;
}

// 0, -ENOENT when it is not there, or another negative error.
static int command(struct peer_controllers *p, struct peer *peer, const struct question *q)
{
	char region[64], why[ANSWER_BYTES];
	struct answer a;
	if (!ask(p, peer, q, &a))
		return -EAGAIN;
	if (a.status == 200 || a.status == 404)
		return a.status == 200 ? 0 : -ENOENT;
	log_warn("peer-refused", "region=%s status=%ld text=%s",
		log_quote(peer->region, region, sizeof region), a.status,
		log_quote(a.text, why, sizeof why));
	return -EINVAL;
}

static int submit(void *context, const char *region, const struct job *job)
{
	struct peer_controllers *p = context;
	struct peer *peer = find(p, region);
	const struct multiregion *m = job->multiregion;
	struct about about = {"/v1/job/", job->id, job->namespace_name, "rollout", m->rollout};
	char url[URL_BYTES];
	if (!peer || !make_url(p, peer, url, &about))
		return -EINVAL;
	size_t size = strlen(m->submission) + sizeof "{\"Job\":}";
	char *body = memory_take(size);
	snprintf(body, size, "{\"Job\":%s}", m->submission);
	int error = command(p, peer, &(struct question){"PUT", url, body});
	free(body);
	return error == -ENOENT ? -EINVAL : error;
}

static int stop(void *context, const char *region, const struct job *job)
{
	struct peer_controllers *p = context;
	struct peer *peer = find(p, region);
	char url[URL_BYTES], before[32];
	snprintf(before, sizeof before, "%lld", (long long)job->multiregion->stop_everywhere_ns);
	struct about about = {"/v1/job/", job->id, job->namespace_name, "before", before};
	if (!peer || !make_url(p, peer, url, &about))
		return -EINVAL;
	size_t size = strlen(url);
	bool purge = job->multiregion->purge_everywhere;
	if (snprintf(url + size, sizeof url - size, "%s", purge ? "&purge=true" : "") >=
		(int)(sizeof url - size))
		return -EINVAL;
	int error = command(p, peer, &(struct question){"DELETE", url, NULL});
	return error == -ENOENT ? 0 : error;
}

// --- Life ----------------------------------------------------------------------------------------

struct peer_controllers *peer_controllers_create(const struct config *config,
	const struct time_source *time, char *message, uint32_t message_size)
{
	struct peer_controllers *p = memory_take(sizeof *p);
	p->config = config;
	p->time = time;
	p->peers = (struct peers){
		.region = config->region,
		.poll_ns = (int64_t)config->peer_poll_ms * NS_PER_MS,
		.deployment = deployment,
		.submit = submit,
		.stop = stop,
		.context = p,
	};
	p->curl = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? curl_easy_init() : NULL;
	if (p->curl && read_regions(p, message, message_size) &&
		read_token(p, message, message_size))
		return p;
	if (!p->curl)
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
	if (p->curl)
		curl_easy_cleanup(p->curl);
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
