#include "tools/fleet/net/http.h"
#include "tools/http_client/http_client.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_BYTES 2048u
#define TIMEOUT_MS 30000u

// Keeps the beginning of the answer: it is only shown when it is an error.
static bool take_beginning(void *context, long status, const char *data, size_t size)
{
	http_beginning_take(context, data, size);
	return true;
}

static int put_body(struct http_client *client, const char *url, const char *body, char *message,
	uint32_t message_size)
{
	char text[ANSWER_BYTES] = "";
	struct http_beginning answer = {.text = text, .room = sizeof text};
	struct http_request request = {.method = "PUT",
		.url = url,
		.body = body,
		.body_size = strlen(body),
		.timeout_ms = TIMEOUT_MS,
		.take_body = take_beginning,
		.context = &answer};
	struct http_result result;
	if (!http_client_ask(client, &request, &result)) {
		snprintf(message, message_size, "PUT %s: %s", url, result.error);
		return -EIO;
	}
	if (result.status == 200)
		return 0;
	snprintf(message, message_size, "PUT %s: status %ld: %.300s", url, result.status, text);
	return -EPROTO;
}

int http_put_job(const char *base, json_t *job, char *message, uint32_t message_size)
{
	char url[512];
	snprintf(url, sizeof url, "%s/v1/jobs", base);
	json_t *request = json_pack("{s:o}", "Job", job);
	char *body = request ? json_dumps(request, JSON_COMPACT) : NULL;
	json_decref(request);
	struct http_client *client = body ? http_client_create() : NULL;
	int rc = -ENOMEM;
	if (client)
		rc = put_body(client, url, body, message, message_size);
	else
		snprintf(message, message_size, "PUT %s: cannot be prepared", url);
	http_client_destroy(client);
	free(body);
	return rc;
}
