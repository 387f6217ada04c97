#include "tools/api/server/request.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "tools/api/access/token_keeper.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

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
	free(request->body);
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

static const char *const flags[] = {"all", "diffs", "global", "meta", "no_shutdown_delay", "os",
	"pretty", "purge", "related", "resources", "reverse", "stale", "watch", NULL};
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

bool request_flag(const struct request *request, const char *name)
{
	CHECK(is_one_of(flags, name));
	const char *value = request_parameter(request, name);
	return value && is_one_of(true_words, value);
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

void request_body_add(struct request *request, const char *data, size_t size)
{
	size_t wanted = request->body_size + size;
	if (wanted > request->body_capacity) {
		size_t capacity = request->body_capacity ? request->body_capacity * 2 : 4096;
		request->body_capacity = capacity > wanted ? capacity : wanted;
		request->body = memory_resize(request->body, request->body_capacity);
	}
	memcpy(request->body + request->body_size, data, size);
	request->body_size = wanted;
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
