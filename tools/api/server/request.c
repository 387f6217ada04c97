#include "tools/api/server/request.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "tools/api/access/token_keeper.h"
#include "tools/api/server/clients/connections.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/statvfs.h>
#include <unistd.h>

// Of the file system that a body goes into, so much is left to whatever else is written there, such as the log.
#define ROOM_LEFT_BYTES ((uint64_t)64 * 1024 * 1024)
// After so many bytes of a body it is looked at again.
#define ROOM_EVERY_BYTES ((uint64_t)16 * 1024 * 1024)
#define ANSWER_HELD_ANYWAY_BYTES (16u * 1024)

struct request *request_create(
	struct api *api, struct MHD_Connection *connection, struct connection *socket)
{
	struct request *request = memory_take(sizeof *request);
	request->api = api;
	request->connection = connection;
	request->socket = socket;
	atomic_fetch_add(&api->requests_active, 1);
	return request;
}

static void give_back(struct request *request, uint64_t bytes)
{
	request->held_bytes -= bytes;
	guest_give_bytes(request->api->guests, connection_guest(request->socket), bytes);
}

void request_free(struct request *request)
{
	struct api *api = request->api;
	if (request->context)
		request->context_free(request->context);
	for (uint32_t i = 0; i < request->parameter_count; i++) {
		free(request->parameters[i].name);
		free(request->parameters[i].value);
	}
	free(request->asked);
	free(request->target);
	access_release(request->access);
	free(request->path);
	request_body_drop(request);
	give_back(request, request->held_bytes);
	if (request->has_body_file)
		close(request->body_file);
	free(request);
	atomic_fetch_sub(&api->requests_active, 1);
}

struct parameter_scan {
	struct request *request;
	const char *problem;
};

static enum MHD_Result take_parameter(
	void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct parameter_scan *scan = context;
	struct request *request = scan->request;
	if (request->parameter_count == API_PARAMETERS_MAX) {
		scan->problem = "too many query parameters";
		return MHD_NO;
	}
	struct parameter *p = &request->parameters[request->parameter_count++];
	p->name = text_copy(text_of(name));
	p->value = text_copy(text_of(value));
	if (percent_decode(p->name) && percent_decode(p->value))
		return MHD_YES;
	scan->problem = "a query parameter has a broken percent-escape; write a literal % as %25";
	return MHD_NO;
}

static bool is_one_of(const char *const *words, const char *word)
{
	while (*words && strcmp(*words, word) != 0)
		words++;
	return *words != NULL;
}

static const char *const flags[] = {"all", "diffs", "global", "log_json", "meta",
	"no_shutdown_delay", "os", "plain", "pretty", "purge", "related", "resources", "reverse",
	"stale", "watch", NULL};
// As Go's strconv.ParseBool reads them. A name without a value is set.
static const char *const true_words[] = {"", "1", "t", "T", "true", "TRUE", "True", NULL};
static const char *const false_words[] = {"0", "f", "F", "false", "FALSE", "False", NULL};

// "purge=yes" would go unheeded as if it said no.
static const char *flags_check(struct request *request)
{
	for (uint32_t i = 0; i < request->parameter_count; i++) {
		const struct parameter *p = &request->parameters[i];
		if (!is_one_of(flags, p->name) || is_one_of(true_words, p->value) ||
			is_one_of(false_words, p->value))
			continue;
		snprintf(request->complaint, sizeof request->complaint,
			"Failed to parse value of \"%s\" (%.32s) as a bool: pass true or false",
			p->name, p->value);
		return request->complaint;
	}
	return NULL;
}

const char *request_parameters_read(struct request *request)
{
	struct parameter_scan scan = {.request = request};
	MHD_get_connection_values(
		request->connection, MHD_GET_ARGUMENT_KIND, take_parameter, &scan);
	return scan.problem ? scan.problem : flags_check(request);
}

const char *request_parameter(const struct request *request, const char *name)
{
	for (uint32_t i = 0; i < request->parameter_count; i++)
		if (strcmp(request->parameters[i].name, name) == 0)
			return request->parameters[i].value;
	return NULL;
}

bool request_says_true(const struct request *request, const char *name)
{
	const char *value = request_parameter(request, name);
	return value && is_one_of(true_words, value);
}

bool request_flag(const struct request *request, const char *name)
{
	CHECK(is_one_of(flags, name));
	return request_says_true(request, name);
}

bool number_parse(const char *text, uint64_t most, uint64_t *number)
{
	char *end;
	errno = 0;
	if (*text < '0' || *text > '9')
		return false;
	*number = strtoull(text, &end, 10);
	return !*end && errno == 0 && *number <= most;
}

const char *request_namespace(const struct request *request)
{
	const char *name = request_parameter(request, "namespace");
	return name && *name ? name : "default";
}

bool request_hold(struct request *request, uint64_t bytes, bool must)
{
	if (!guest_take_bytes(request->api->guests, connection_guest(request->socket), bytes, must))
		return false;
	request->held_bytes += bytes;
	return true;
}

void request_body_drop(struct request *request)
{
	free(request->body);
	give_back(request, request->body_capacity);
	request->body = NULL;
	request->body_size = request->body_capacity = 0;
}

static bool grow_body(struct request *request, size_t wanted)
{
	size_t capacity = request->body_capacity ? request->body_capacity * 2 : 4096;
	capacity = capacity > wanted ? capacity : wanted;
	if (!request_hold(request, capacity - request->body_capacity, false))
		return false;
	request->body_capacity = capacity;
	request->body = memory_resize(request->body, capacity);
	return true;
}

// What the client of a change must be told was done. Small answers are no more than their connections.
static bool is_held_anyway(const struct request *request, const struct reply *reply)
{
	return request->submission || reply->status >= MHD_HTTP_BAD_REQUEST ||
	       (!reply->source && reply->body.size <= ANSWER_HELD_ANYWAY_BYTES);
}

bool request_hold_answer(struct request *request, const struct reply *reply)
{
	// A source has its block, and libmicrohttpd has one of its own.
	uint64_t bytes = reply->source ? 2 * reply->source->block_bytes : reply->body.size;
	return request_hold(request, bytes, is_held_anyway(request, reply));
}

struct refusal request_body_add(struct request *request, const char *data, size_t size)
{
	size_t wanted = request->body_size + size;
	if (wanted > request->body_capacity && !grow_body(request, wanted)) {
		request_body_drop(request);
		return (struct refusal){MHD_HTTP_TOO_MANY_REQUESTS,
			"what else comes from here takes all the memory that it may; nothing was "
			"changed; try again in a second"};
	}
	memcpy(request->body + request->body_size, data, size);
	request->body_size = wanted;
	return (struct refusal){0};
}

static struct refusal refuse_file(struct request *request, int error)
{
	bool is_full = error == ENOSPC || error == EDQUOT || error == EFBIG;
	snprintf(request->complaint, sizeof request->complaint,
		"the body cannot be written into a file of the server's: %s", error_text(-error));
	return (struct refusal){
		is_full ? MHD_HTTP_INSUFFICIENT_STORAGE : MHD_HTTP_INTERNAL_SERVER_ERROR,
		request->complaint};
}

static struct refusal look_for_room(struct request *request, uint64_t bytes)
{
	struct statvfs about;
	if (fstatvfs(request->body_file, &about) < 0)
		return refuse_file(request, errno);
	uint64_t room = (uint64_t)about.f_bavail * about.f_frsize;
	uint64_t usable = room > ROOM_LEFT_BYTES ? room - ROOM_LEFT_BYTES : 0;
	if (bytes <= usable)
		return (struct refusal){0};
	snprintf(request->complaint, sizeof request->complaint,
		"the file system of the server's data has room for %" PRIu64
		" bytes of a body, and %" PRIu64 " more come",
		usable, bytes);
	return (struct refusal){MHD_HTTP_INSUFFICIENT_STORAGE, request->complaint};
}

struct refusal request_file_open(struct request *request, uint64_t announced)
{
	const struct api_settings *settings = &request->api->settings;
	CHECK(!request->has_body_file);
	if (!settings->body_file)
		return (struct refusal){MHD_HTTP_NOT_IMPLEMENTED, "this server stores nothing"};
	int file = settings->body_file(settings->context);
	if (file < 0)
		return refuse_file(request, -file);
	request->body_file = file;
	request->has_body_file = true;
	return look_for_room(request, announced);
}

// It goes to the page cache, a connection's buffer at a time, so that the others of this thread hardly wait.
struct refusal request_file_add(struct request *request, const char *data, size_t size)
{
	CHECK(request->has_body_file && request->body_seen >= size);
	if ((request->body_seen - size) / ROOM_EVERY_BYTES !=
		request->body_seen / ROOM_EVERY_BYTES) {
		struct refusal refusal = look_for_room(request, size);
		if (refusal.status)
			return refusal;
	}
	while (size > 0) {
		ssize_t written = write(request->body_file, data, size);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return refuse_file(request, errno);
		data += written;
		size -= (size_t)written;
	}
	return (struct refusal){0};
}

struct json_writer *reply_json(struct request *request, struct reply *reply)
{
	reply->status = MHD_HTTP_OK;
	reply->content_type = API_TEXT_JSON;
	reply->body.pretty = request_flag(request, "pretty");
	return &reply->body;
}

static const char *header_of(const struct request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

const char *request_authorization(const struct request *request)
{
	return header_of(request, MHD_HTTP_HEADER_AUTHORIZATION);
}

const char *request_secret(const struct request *request)
{
	static const char scheme[] = "Bearer ";
	const char *token = header_of(request, "X-Nomad-Token");
	if (token && *token)
		return token;
	const char *bearer = request_authorization(request);
	if (!bearer || strncasecmp(bearer, scheme, sizeof scheme - 1) != 0)
		return NULL;
	bearer += sizeof scheme - 1;
	return *bearer ? bearer : NULL;
}
