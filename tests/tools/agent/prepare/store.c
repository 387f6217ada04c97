#include "tests/tools/agent/prepare/store.h"
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	pthread_mutex_t lock;
	uint64_t index, known; // known: by who asked last
	int status;
	uint32_t asked;
	json_t *variables; // path to {"Path", "Items", …}
} store = {.lock = PTHREAD_MUTEX_INITIALIZER, .index = 10};

static char *find_answer(const char *target, unsigned *status)
{
	char path[200] = "";
	json_t *found = NULL;
	char *text;

	*status = store.status ? (unsigned)store.status : 200;
	if (store.status)
		return strdup("no");
	if (sscanf(target, "/v1/vars?prefix=%199[^&]", path) == 1) {
		json_t *list = json_array();
		const char *key;
		json_object_foreach(store.variables, key, found)
		{
			if (strncmp(key, path, strlen(path)) == 0)
				json_array_append(list, found);
		}
		text = json_dumps(list, 0);
		json_decref(list);
		return text;
	}
	sscanf(target, "/v1/var/%199[^?]", path);
	found = json_object_get(store.variables, path);
	*status = found ? 200 : 404;
	return found ? json_dumps(found, 0) : strdup("variable not found");
}

static int ask_store(void *context, const struct variable_question *q, struct variable_answer *a,
	char *message, uint32_t message_size)
{
	const char *at = strstr(q->target, "&index=");
	uint64_t known = at ? strtoull(at + 7, NULL, 10) : 0;

	pthread_mutex_lock(&store.lock);
	store.asked++;
	store.known = known;
	while (known && store.index == known) {
		struct pollfd polled = {.fd = q->stop_fd, .events = POLLIN};
		pthread_mutex_unlock(&store.lock);
		if (poll(&polled, 1, 5) != 0)
			return -ECANCELED;
		pthread_mutex_lock(&store.lock);
	}
	int error = store.status < 0 ? -ENOTCONN : 0;
	if (error)
		snprintf(message, message_size, "the controller is away");
	else
		*a = (struct variable_answer){.index = store.index, .body = NULL};
	if (!error)
		a->body = find_answer(q->target, &a->status);
	pthread_mutex_unlock(&store.lock);
	return error;
}

const struct variable_source store_source = {NULL, ask_store};

void store_put(const char *path, const char *items)
{
	pthread_mutex_lock(&store.lock);
	if (!store.variables)
		store.variables = json_object();
	store.index++;
	if (items)
		json_object_set_new(store.variables, path,
			json_pack("{s:s s:I s:o}", "Path", path, "ModifyIndex",
				(json_int_t)store.index, "Items", json_loads(items, 0, NULL)));
	else
		json_object_del(store.variables, path);
	pthread_mutex_unlock(&store.lock);
}

void store_fail(int status)
{
	pthread_mutex_lock(&store.lock);
	store.status = status;
	store.index++;
	pthread_mutex_unlock(&store.lock);
}

void store_clear(void)
{
	pthread_mutex_lock(&store.lock);
	json_decref(store.variables);
	store.variables = NULL;
	store.status = 0;
	store.index++;
	store.asked = 0;
	pthread_mutex_unlock(&store.lock);
}

bool store_is_known(void)
{
	pthread_mutex_lock(&store.lock);
	bool is_known = store.known == store.index;
	pthread_mutex_unlock(&store.lock);
	return is_known;
}

uint32_t store_asked(void)
{
	pthread_mutex_lock(&store.lock);
	uint32_t asked = store.asked;
	pthread_mutex_unlock(&store.lock);
	return asked;
}
