#include "tools/berth/cli/http.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include "tools/berth/cli/field.h"
#include "tools/http_client/http_socket.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct http {
	struct http_client *client; // NULL before the first request
	const char *address;
	char *url;         // the address without slashes at its end
	const char *token; // NULL: none
	struct http_tls tls;
	const char *timeout;
	bool quiet, takes_conflicts;
	http_take *take; // while http_get_pieces() asks
	void *take_context;
	bool has_come;  // it was given a piece
	bool is_enough; // it said so
};

// Where the answer to one request goes.
struct transfer {
	struct http_answer *answer;
	FILE *through; // where a good answer goes; NULL: into the answer
	int error;     // errno of who could not write it there; 0: none
	struct http *http;
};

struct http *http_open(const struct flags *flags)
{
	struct http *http = memory_take(sizeof *http);
	http->address = flags->values[FLAG_ADDRESS];
	size_t size = strlen(http->address);
	while (size && http->address[size - 1] == '/')
		size--;
	http->url = text_copy((struct text){http->address, (uint32_t)size});
	http->token = flags->values[FLAG_TOKEN];
	http->tls = (struct http_tls){
		.ca_file = flags->values[FLAG_CA_CERT],
		.certificate_file = flags->values[FLAG_CLIENT_CERT],
		.key_file = flags->values[FLAG_CLIENT_KEY],
		.server_name = flags->values[FLAG_TLS_SERVER_NAME],
		.is_unverified = flag_given(flags, FLAG_TLS_SKIP_VERIFY),
	};
	http->timeout = flags->values[FLAG_TIMEOUT];
	return http;
}

void http_close(struct http *http)
{
	http_client_destroy(http->client);
	free(http->url);
	free(http);
}

void http_quiet(struct session *session, bool quiet)
{
	session->http->quiet = quiet;
}

void http_without_end(struct session *session)
{
	session->http->timeout = "0";
}

void http_take_conflicts(struct session *session, bool take)
{
	session->http->takes_conflicts = take;
}

void http_answer_free(struct http_answer *answer)
{
	free(answer->body);
	*answer = (struct http_answer){0};
}

static bool take_body(void *context, long status, const char *data, size_t size)
{
	struct transfer *transfer = context;
	struct http_answer *answer = transfer->answer;
	struct http *http = transfer->http;
	if (http->take && status < 300) {
		http->has_come = true;
		http->is_enough = !http->take(http->take_context, data, size);
		return !http->is_enough;
	}
	if (transfer->through && status < 300) {
		if (fwrite(data, 1, size, transfer->through) == size)
			return true;
		transfer->error = errno;
		return false;
	}
	answer->body = memory_resize(answer->body, answer->size + size + 1);
	memcpy(answer->body + answer->size, data, size);
	answer->size += size;
	answer->body[answer->size] = '\0';
	return true;
}

static void take_header(void *context, const char *data, size_t size)
{
	struct http_answer *answer = ((struct transfer *)context)->answer;
	static const char token[] = "X-Nomad-NextToken: ", index[] = "X-Nomad-Index: ";
	if (size > sizeof token && strncasecmp(data, token, sizeof token - 1) == 0)
		snprintf(answer->next_token, sizeof answer->next_token, "%.*s",
			(int)strcspn(data + sizeof token - 1, "\r\n"), data + sizeof token - 1);
	if (size > sizeof index && strncasecmp(data, index, sizeof index - 1) == 0)
		answer->index = strtoull(data + sizeof index - 1, NULL, 10);
}

// What to do about a request that got no answer.
static const char *const remedies[] = {
	[HTTP_TROUBLE_REACHING] = "is berthd running there? Set --address or BERTH_ADDR to its URL",
	[HTTP_TROUBLE_PLAIN] = "does berthd speak TLS there? Then its URL begins with https://",
	[HTTP_TROUBLE_TRUST] =
		"name the authority that signed the controller's certificate with --ca-cert or "
		"BERTH_CACERT, and what the certificate names with --tls-server-name or "
		"BERTH_TLS_SERVER_NAME, when the URL has another host",
	[HTTP_TROUBLE_OWN_FILE] =
		"look at the files of --ca-cert, --client-cert and --client-key (BERTH_CACERT, "
		"BERTH_CLIENT_CERT, BERTH_CLIENT_KEY)",
	[HTTP_TROUBLE_TLS] =
		"the controller wants a certificate that its http.tls.client_ca signed "
		"(--client-cert and --client-key, or BERTH_CLIENT_CERT and BERTH_CLIENT_KEY), or "
		"speaks no TLS, and its URL begins with http://",
};

static enum exit_status unreachable(const struct http *http, const struct http_result *result)
{
	return complain(STATUS_UNREACHABLE, "no answer from %s: %s; %s", http->address,
		result->error, remedies[result->trouble]);
}

// The sentence of {"message": "…"}; NULL when the answer has another form. Caller releases.
static json_t *message_of(const struct http_answer *answer)
{
	json_t *root = answer->size ? json_loadb(answer->body, answer->size, 0, NULL) : NULL;
	json_t *message = json_incref(json_object_get(root, "message"));
	json_decref(root);
	return message;
}

// Complains with the controller's sentence, without the newlines at its end.
static enum exit_status refused_by(const struct http_answer *answer, const char *path)
{
	enum exit_status status = answer->status == 404 ? STATUS_NOT_FOUND : STATUS_REFUSED;
	json_t *message = message_of(answer);
	const char *text = json_string_value(message);
	if (!text)
		text = answer->body ? answer->body : "";
	size_t size = strlen(text);
	while (size && isspace((unsigned char)text[size - 1]))
		size--;
	if (size)
		complain(status, "%.*s", (int)size, text);
	else
		complain(status,
			"the controller answered %ld to %s; is it a Berth controller of this "
			"version?",
			answer->status, path);
	json_decref(message);
	return status;
}

// 0, for which libcurl waits for ever, when the text is no number or too large a one.
uint32_t http_timeout_ms(const struct session *session)
{
	long s = strtol(session->http->timeout, NULL, 10);
	return s > 0 && s <= INT32_MAX / 1000 ? (uint32_t)s * 1000 : 0;
}

static enum exit_status ask_path(struct session *session, const char *path,
	struct http_request request, struct http_answer *answer, FILE *through)
{
	struct http *http = session->http;
	struct transfer transfer = {.answer = answer, .through = through, .http = http};
	struct http_result result;
	*answer = (struct http_answer){0};
	if (!http->client && !(http->client = http_client_create()))
		return complain(STATUS_FAILURE, "libcurl could not be set up");
	request.url = http->url;
	request.path = path;
	request.tls = &http->tls;
	request.token = http->token;
	request.agent = "berth/" BERTH_VERSION;
	request.timeout_ms = http_timeout_ms(session);
	request.take_body = take_body;
	request.take_header = take_header;
	request.context = &transfer;
	bool came = http_client_ask(http->client, &request, &result);
	answer->status = result.status;
	if ((came || http->is_enough) && answer->status < 300)
		return STATUS_OK;
	if (http->quiet || ferror(stdout)) // which is told at the end
		return STATUS_FAILURE;
	if (transfer.error)
		return complain(STATUS_FAILURE, "cannot write what %s gave: %s", path,
			strerror(transfer.error));
	if (!came && http->has_come)
		return complain(STATUS_UNREACHABLE, "the answer broke off: %s", result.error);
	if (came && answer->status == 409 && http->takes_conflicts)
		return STATUS_REFUSED;
	return came ? refused_by(answer, path) : unreachable(http, &result);
}

enum exit_status http_get(struct session *session, const char *path, struct http_answer *answer)
{
	return ask_path(session, path, (struct http_request){.method = "GET"}, answer, NULL);
}

enum exit_status http_delete(struct session *session, const char *path, struct http_answer *answer)
{
	return ask_path(session, path, (struct http_request){.method = "DELETE"}, answer, NULL);
}

enum exit_status http_put(struct session *session, const char *path, const char *body, size_t size,
	struct http_answer *answer)
{
	struct http_request request = {.method = "PUT", .body = body, .body_size = size};
	return ask_path(session, path, request, answer, NULL);
}

enum exit_status http_put_file(struct session *session, const char *path, FILE *body, size_t size)
{
	struct http_answer answer;
	struct http_request request = {.method = "PUT", .body_file = body, .body_size = size};
	enum exit_status status = ask_path(session, path, request, &answer, NULL);
	http_answer_free(&answer);
	return status;
}

enum exit_status http_get_into(struct session *session, const char *path, FILE *file)
{
	struct http_answer answer;
	enum exit_status status =
		ask_path(session, path, (struct http_request){.method = "GET"}, &answer, file);
	http_answer_free(&answer);
	return status;
}

enum exit_status http_get_through(struct session *session, const char *path)
{
	enum exit_status status = http_get_into(session, path, stdout);
	if (status == STATUS_OK)
		putchar('\n');
	return status;
}

enum exit_status http_get_pieces(
	struct session *session, const char *path, http_take *take, void *context)
{
	struct http *http = session->http;
	struct http_answer answer;
	http->take = take;
	http->take_context = context;
	http->has_come = http->is_enough = false;
	enum exit_status status = http_get(session, path, &answer);
	http_answer_free(&answer);
	http->take = NULL;
	http->has_come = http->is_enough = false;
	return status;
}

enum exit_status http_get_json(struct session *session, const char *path, json_t **root)
{
	uint64_t index;
	return http_get_indexed(session, path, root, &index);
}

enum exit_status http_show(struct session *session, const char *path, void (*put)(json_t *answer))
{
	json_t *answer;
	enum exit_status result = http_get_json(session, path, &answer);
	if (result != STATUS_OK)
		return result;
	(flag_given(&session->flags, FLAG_JSON) ? field_print : put)(answer);
	json_decref(answer);
	return STATUS_OK;
}

enum exit_status http_parse(const struct session *session, const char *path,
	const struct http_answer *answer, json_t **root)
{
	json_error_t error;
	*root = json_loadb(answer->body ? answer->body : "", answer->size, JSON_DECODE_ANY, &error);
	if (*root)
		return STATUS_OK;
	return complain(STATUS_FAILURE,
		"the controller's answer is no JSON: %s of %s gave, in line %d, %s; is that a "
		"Berth controller?",
		path, session->http->address, error.line, error.text);
}

enum exit_status http_get_indexed(
	struct session *session, const char *path, json_t **root, uint64_t *index)
{
	struct http_answer answer;
	*root = NULL;
	enum exit_status status = http_get(session, path, &answer);
	if (status == STATUS_OK) {
		status = http_parse(session, path, &answer, root);
		*index = answer.index;
	}
	http_answer_free(&answer);
	return status;
}

static enum exit_status send_json(
	struct session *session, const char *method, const char *path, json_t *body, json_t **root)
{
	struct http_answer answer;
	char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	struct http_request request = {
		.method = method, .body = text ? text : "", .body_size = text ? strlen(text) : 0};
	enum exit_status result = ask_path(session, path, request, &answer, NULL);
	free(text);
	*root = NULL;
	if (result == STATUS_OK && answer.size)
		result = http_parse(session, path, &answer, root);
	http_answer_free(&answer);
	return result;
}

enum exit_status http_put_json(
	struct session *session, const char *path, json_t *body, json_t **root)
{
	return send_json(session, "PUT", path, body, root);
}

enum exit_status http_post_json(
	struct session *session, const char *path, json_t *body, json_t **root)
{
	return send_json(session, "POST", path, body, root);
}

struct http_socket *http_begin_socket(
	struct session *session, const char *path, size_t message_max, enum exit_status *status)
{
	const struct http *http = session->http;
	char text[4096] = "";
	struct http_beginning body = {.text = text, .room = sizeof text};
	struct http_result result;
	struct http_request request = {.url = http->url,
		.path = path,
		.tls = &http->tls,
		.token = http->token,
		.agent = "berth/" BERTH_VERSION,
		.timeout_ms = http_timeout_ms(session)};
	struct http_socket *socket = http_socket_open(&request, message_max, &result, &body);
	struct http_answer answer = {.status = result.status, .body = text, .size = body.size};
	*status = STATUS_OK;
	if (!socket)
		*status = result.status ? refused_by(&answer, path) : unreachable(http, &result);
	return socket;
}
