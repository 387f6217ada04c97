#include "tools/tls/identity.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include <pthread.h>
#include <stdlib.h>

struct identity {
	char *certificate, *key, *client_ca; // paths
	pthread_mutex_t lock;                // guards what follows
	struct credentials *credentials;
};

static struct credentials *load_files(
	const struct identity *identity, int64_t now_s, char *message, uint32_t message_size)
{
	struct credentials_files files = {
		identity->certificate, identity->key, identity->client_ca};
	return credentials_load(&files, now_s, message, message_size);
}

struct identity *identity_create(
	const struct credentials_files *files, int64_t now_s, char *message, uint32_t message_size)
{
	struct identity *identity = memory_take(sizeof *identity);
	identity->certificate = text_copy(text_of(files->certificate));
	identity->key = text_copy(text_of(files->key));
	identity->client_ca = text_copy(text_of(files->client_ca));
	pthread_mutex_init(&identity->lock, NULL);
	identity->credentials = load_files(identity, now_s, message, message_size);
	if (identity->credentials)
		return identity;
	identity_destroy(identity);
	return NULL;
}

void identity_destroy(struct identity *identity)
{
	if (!identity)
		return;
	credentials_release(identity->credentials);
	pthread_mutex_destroy(&identity->lock);
	free(identity->certificate);
	free(identity->key);
	free(identity->client_ca);
	free(identity);
}

bool identity_renew(struct identity *identity, int64_t now_s, char *message, uint32_t message_size)
{
	struct credentials *newer = load_files(identity, now_s, message, message_size);
	if (!newer)
		return false;
	pthread_mutex_lock(&identity->lock);
	struct credentials *older = identity->credentials;
	identity->credentials = newer;
	pthread_mutex_unlock(&identity->lock);
	credentials_release(older);
	return true;
}

struct credentials *identity_share(struct identity *identity)
{
	pthread_mutex_lock(&identity->lock);
	struct credentials *credentials = credentials_share(identity->credentials);
	pthread_mutex_unlock(&identity->lock);
	return credentials;
}
