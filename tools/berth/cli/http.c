#include "tools/berth/cli/http.h"
#include "state/base/memory.h"
#include <ctype.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct http {
	CURL *curl;
	const char *address;
	const char *timeout;
	bool quiet;
};

// One request: where its answer goes.
struct transfer {
	struct http_answer *answer;
	CURL *curl;
	bool through; // good answers go to standard output
};

struct http *http_open(const struct flags *flags)
{
	struct http *http = memory_take(sizeof *http);
	http->address = flags->values[FLAG_ADDRESS];
	http->timeout = flags->values[FLAG_TIMEOUT];
	return http;
}

void http_close(struct http *http)
{
	if (http->curl)
		curl_easy_cleanup(http->curl);
	free(http);
}

void http_quiet(struct session *session, bool quiet)
{
	session->http->quiet = quiet;
}

void http_answer_free(struct http_answer *answer)
{
	free(answer->body);
	*answer = (struct http_answer){0};
}

static size_t take_body(char *data, size_t each, size_t count, void *context)
{
	struct transfer *transfer = context;
	struct http_answer *answer = transfer->answer;
	size_t size = each * count;
	long status = 0;
	curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &status);
	if (transfer->through && status < 300)
		return fwrite(data, 1, size, stdout);
	answer->body = memory_resize(answer->body, answer->size + size + 1);
	memcpy(answer->body + answer->size, data, size);
	answer->size += size;
	answer->body[answer->size] = '\0';
	return size;
}

static size_t take_header(char *data, size_t each, size_t count, void *context)
{
	struct http_answer *answer = ((struct transfer *)context)->answer;
	size_t size = each * count;
	static const char token[] = "X-Nomad-NextToken: ", index[] = "X-Nomad-Index: ";
	if (size > sizeof token && strncasecmp(data, token, sizeof token - 1) == 0)
		snprintf(answer->next_token, sizeof answer->next_token, "%.*s",
			(int)strcspn(data + sizeof token - 1, "\r\n"), data + sizeof token - 1);
	if (size > sizeof index && strncasecmp(data, index, sizeof index - 1) == 0)
		answer->index = strtoull(data + sizeof index - 1, NULL, 10);
	return size;
}

static void prepare(struct http *http, const char *method, const char *path,
	struct transfer *transfer, char *error)
{
	char url[HTTP_PATH_BYTES + 512];
	size_t size = strlen(http->address);
	while (size && http->address[size - 1] == '/')
		size--;
	snprintf(url, sizeof url, "%.*s%s", (int)size, http->address, path);
	if (!http->curl)
		http->curl = curl_easy_init();
	CURL *curl = transfer->curl = http->curl;
	curl_easy_reset(curl);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, strtol(http->timeout, NULL, 10));
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "berth/" BERTH_VERSION);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, transfer);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
}

static enum exit_status unreachable(const struct http *http, CURLcode code, const char *error)
{
	return complain(STATUS_UNREACHABLE,
		"no answer from %s: %s; is berthd running there? Set --address or BERTH_ADDR to "
		"its URL",
		http->address, *error ? error : curl_easy_strerror(code));
}

// The sentence of {"message": "…"}; NULL when the answer is not of that form. The caller's.
static json_t *message_of(const struct http_answer *answer)
{
	json_t *root = answer->size ? json_loadb(answer->body, answer->size, 0, NULL) : NULL;
	json_t *message = json_incref(json_object_get(root, "message"));
	json_decref(root);
	return message;
}

// The controller's sentence, without the newlines at its end.
static enum exit_status refused(const struct http_answer *answer, const char *path)
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

static enum exit_status perform(struct session *session, const char *path,
	struct http_answer *answer, struct transfer *transfer, const char *error)
{
	CURLcode code = curl_easy_perform(transfer->curl);
	if (code == CURLE_OK)
		curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &answer->status);
	if (code == CURLE_OK && answer->status < 300)
		return STATUS_OK;
	if (session->http->quiet)
		return STATUS_FAILURE;
	return code == CURLE_OK ? refused(answer, path) : unreachable(session->http, code, error);
}

static enum exit_status request(struct session *session, const char *method, const char *path,
	struct http_answer *answer, bool through)
{
	char error[CURL_ERROR_SIZE] = "";
	*answer = (struct http_answer){0};
	struct transfer transfer = {.answer = answer, .through = through};
	prepare(session->http, method, path, &transfer, error);
	return perform(session, path, answer, &transfer, error);
}

enum exit_status http_get(struct session *session, const char *path, struct http_answer *answer)
{
	return request(session, "GET", path, answer, false);
}

enum exit_status http_delete(struct session *session, const char *path, struct http_answer *answer)
{
	return request(session, "DELETE", path, answer, false);
}

enum exit_status http_put(struct session *session, const char *path, const char *body, size_t size,
	struct http_answer *answer)
{
	char error[CURL_ERROR_SIZE] = "";
	*answer = (struct http_answer){0};
	struct transfer transfer = {.answer = answer};
	prepare(session->http, "PUT", path, &transfer, error);
	struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
	curl_easy_setopt(transfer.curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
	curl_easy_setopt(transfer.curl, CURLOPT_POSTFIELDS, body);
	curl_easy_setopt(transfer.curl, CURLOPT_HTTPHEADER, headers);
	enum exit_status status = perform(session, path, answer, &transfer, error);
	curl_slist_free_all(headers);
	return status;
}

enum exit_status http_get_through(struct session *session, const char *path)
{
	struct http_answer answer;
	enum exit_status status = request(session, "GET", path, &answer, true);
	if (status == STATUS_OK)
		putchar('\n');
	http_answer_free(&answer);
	return status;
}

enum exit_status http_get_json(struct session *session, const char *path, json_t **root)
{
	uint64_t index;
	return http_get_indexed(session, path, root, &index);
}

enum exit_status http_get_indexed(
	struct session *session, const char *path, json_t **root, uint64_t *index)
{
	struct http_answer answer;
	json_error_t error;
	*root = NULL;
	enum exit_status status = http_get(session, path, &answer);
	if (status == STATUS_OK) {
		*root = json_loadb(
			answer.body ? answer.body : "", answer.size, JSON_DECODE_ANY, &error);
		if (!*root)
			status = complain(STATUS_FAILURE,
				"the answer to %s is no JSON (line %d: %s); is %s a Berth "
				"controller?",
				path, error.line, error.text, session->http->address);
		*index = answer.index;
	}
	http_answer_free(&answer);
	return status;
}

enum exit_status http_put_json(
	struct session *session, const char *path, json_t *body, json_t **root)
{
	struct http_answer answer;
	char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	enum exit_status result =
		http_put(session, path, text ? text : "", text ? strlen(text) : 0, &answer);
	free(text);
	*root = result == STATUS_OK && answer.size
			? json_loadb(answer.body, answer.size, JSON_DECODE_ANY, NULL)
			: NULL;
	if (result == STATUS_OK && answer.size && !*root)
		result = complain(STATUS_FAILURE, "the controller's answer is no JSON");
	http_answer_free(&answer);
	return result;
}

char *http_escape(const char *text, char *buffer, size_t size)
{
	static const char plain[] = "-._~";
	size_t at = 0;
	for (; *text && at + 4 <= size; text++) {
		unsigned char c = (unsigned char)*text;
		if (isalnum(c) || strchr(plain, c))
			buffer[at++] = (char)c;
		else
			at += (size_t)snprintf(buffer + at, size - at, "%%%02X", c);
	}
	buffer[at] = '\0';
	return buffer;
}
