#include "tools/fleet/net/http.h"
#include "tools/http_client/http_environment.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_BYTES 2048u
#define TIMEOUT_MS 30000u
#define JOBS_PATH "/v1/jobs"

struct api_access api_access_preset(void)
{
	const char *url = http_environment("ADDR");
	return (struct api_access){.url = url ? url : "http://127.0.0.1:4646",
		.token = http_environment("TOKEN"),
		.tls = http_environment_tls()};
}

// Keeps the beginning of the answer: it is only shown when it is an error.
static bool take_beginning(void *context, long status, const char *data, size_t size)
{
	http_beginning_take(context, data, size);
	return true;
}

static int put_body(struct http_client *client, const struct api_access *api, const char *body,
	char *message, uint32_t message_size)
{
	char text[ANSWER_BYTES] = "";
	struct http_beginning answer = {.text = text, .room = sizeof text};
	struct http_request request = {.method = "PUT",
		.url = api->url,
		.path = JOBS_PATH,
		.tls = &api->tls,
		.token = api->token,
		.body = body,
		.body_size = strlen(body),
		.timeout_ms = TIMEOUT_MS,
		.take_body = take_beginning,
		.context = &answer};
	struct http_result result;
	if (!http_client_ask(client, &request, &result)) {
		snprintf(message, message_size, "PUT %s" JOBS_PATH ": %s", api->url, result.error);
		return -EIO;
	}
	if (result.status == 200)
		return 0;
	snprintf(message, message_size, "PUT %s" JOBS_PATH ": status %ld: %.300s", api->url,
		result.status, text);
	return -EPROTO;
}

int http_put_job(const struct api_access *api, json_t *job, char *message, uint32_t message_size)
{
	json_t *request = json_pack("{s:o}", "Job", job);
	char *body = request ? json_dumps(request, JSON_COMPACT) : NULL;
	json_decref(request);
	struct http_client *client = body ? http_client_create() : NULL;
	int rc = -ENOMEM;
	if (client)
		rc = put_body(client, api, body, message, message_size);
	else
		snprintf(
			message, message_size, "PUT %s" JOBS_PATH ": cannot be prepared", api->url);
	http_client_destroy(client);
	free(body);
	return rc;
}
