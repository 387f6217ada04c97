#include "tools/fleet/net/http.h"
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_BYTES 2048u

struct answer {
	size_t size;
	char data[ANSWER_BYTES];
};

// Keeps the beginning; an answer is only shown when it is an error.
static size_t take(char *data, size_t unit, size_t count, void *context)
{
	struct answer *a = context;
	size_t size = unit * count, room = sizeof a->data - 1 - a->size;
	size_t kept = size < room ? size : room;
	memcpy(a->data + a->size, data, kept);
	a->size += kept;
	return size;
}

static int put(CURL *curl, const char *url, const char *body, char *message, uint32_t message_size)
{
	struct answer answer = {0};
	char error[CURL_ERROR_SIZE] = "";
	long code = 0;
	struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, "PUT");
	curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, 30L);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	CURLcode rc = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code);
	curl_slist_free_all(headers);
	answer.data[answer.size] = '\0';
	if (rc != CURLE_OK) {
		snprintf(message, message_size, "PUT %s: %s", url,
			error[0] ? error : curl_easy_strerror(rc));
		return -EIO;
	}
	if (code == 200)
		return 0;
	snprintf(message, message_size, "PUT %s: status %ld: %.300s", url, code, answer.data);
	return -EPROTO;
}

int http_put_job(const char *base, json_t *job, char *message, uint32_t message_size)
{
	char url[512];
	snprintf(url, sizeof url, "%s/v1/jobs", base);
	json_t *request = json_pack("{s:o}", "Job", job);
	char *body = request ? json_dumps(request, JSON_COMPACT) : NULL;
	json_decref(request);
	CURL *curl = body ? curl_easy_init() : NULL;
	int rc = -ENOMEM;
	if (curl)
		rc = put(curl, url, body, message, message_size);
	else
		snprintf(message, message_size, "PUT %s: cannot be prepared", url);
	curl_easy_cleanup(curl);
	free(body);
	return rc;
}
