#include "tools/berthd/reload.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "tools/berthd/options.h"
#include "tools/berthd/peers.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// One reload: what the configuration says now, and which parts of it are in force.
struct reload {
	struct berthd *daemon;
	struct config *config;
	bool has_peers, is_fine;
};

static void fail(struct reload *r, const char *reason)
{
	char quoted[2 * BERTHD_REASON_BYTES];
	log_error("reload-failed", "reason=%s meaning=\"what was there before is used on\"",
		log_quote(reason, quoted, sizeof quoted));
	r->is_fine = false;
}

static void read_config(struct reload *r)
{
	char message[BERTHD_REASON_BYTES];
	char **arguments = r->daemon->arguments;
	struct options options;
	int count = 0;
	while (arguments[count])
		count++;
	config_defaults(r->config);
	if (options_read(count, (const char *const *)arguments, r->config, &options, message) &&
		config_check(r->config, message))
		return;
	fail(r, message);
	*r->config = r->daemon->config; // its files are read all the same
}

static void renew_log(struct reload *r)
{
	log_configure((enum log_level)r->config->log_level, r->config->log_format == 1);
}

static void renew_peers(struct reload *r)
{
	char message[BERTHD_REASON_BYTES];
	r->has_peers = peer_controllers_renew(r->daemon->peers, r->config, message, sizeof message);
	if (!r->has_peers)
		fail(r, message);
}

static bool are_equal(const struct master_keys *a, const struct master_keys *b)
{
	bool equal = a->count == b->count;
	for (uint32_t i = 0; equal && i < a->count; i++)
		equal = a->keys[i].id == b->keys[i].id &&
			memcmp(a->keys[i].bytes, b->keys[i].bytes, MASTER_KEY_BYTES) == 0;
	return equal;
}

// A worker that does not turn has the new keys all the same, with its next turn.
static void change_keys(struct reload *r, const struct master_keys *keys)
{
	char message[BERTHD_REASON_BYTES];
	int error = dataplane_change_keys(r->daemon->dataplane, keys);
	if (error != 0 && error != -ETIMEDOUT) {
		snprintf(
			message, sizeof message, "changing the master keys: %s", error_text(error));
		fail(r, message);
		return;
	}
	pthread_mutex_lock(&r->daemon->changing);
	r->daemon->keys = *keys;
	pthread_mutex_unlock(&r->daemon->changing);
	log_info("master-keys-changed", "keys=%u newest=%u", keys->count, keys->keys[0].id);
}

static void renew_keys(struct reload *r)
{
	char message[BERTHD_REASON_BYTES];
	struct master_keys keys;
	int error =
		master_keys_load(r->daemon->config.master_key_file, &keys, message, sizeof message);
	if (error != 0)
		fail(r, message);
	else if (!are_equal(&keys, &r->daemon->keys))
		change_keys(r, &keys);
	explicit_bzero(&keys, sizeof keys);
}

static void renew_files(struct reload *r)
{
	char message[BERTHD_REASON_BYTES];
	if (!api_reload(r->daemon->api, message, sizeof message))
		fail(r, message);
}

// Whether a setting is in force by what was done here.
static bool is_in_force(const struct reload *r, const char *name)
{
	static const char *const peers[] = {"peers.regions", "peers.token_file", "peers.tls.ca",
		"peers.tls.certificate", "peers.tls.key", "peers.tls.server_name",
		"peers.timeout_ms", "peers.retries"};
	if (strncmp(name, "log.", 4) == 0)
		return true;
	for (size_t i = 0; r->has_peers && i < sizeof peers / sizeof peers[0]; i++)
		if (strcmp(name, peers[i]) == 0)
			return true;
	return false;
}

static void take_setting(const char *name, void *context)
{
	struct reload *r = context;
	if (!is_in_force(r, name)) {
		log_warn("setting-not-taken",
			"setting=%s meaning=\"it is as it was until a restart\"", name);
		return;
	}
	pthread_mutex_lock(&r->daemon->changing);
	config_take(&r->daemon->config, r->config, name);
	pthread_mutex_unlock(&r->daemon->changing);
	log_info("setting-taken", "setting=%s", name);
}

void berthd_reload(struct berthd *b)
{
	struct reload r = {.daemon = b, .config = memory_take(sizeof *r.config), .is_fine = true};
	read_config(&r);
	renew_log(&r);
	renew_peers(&r);
	renew_keys(&r);
	renew_files(&r);
	config_compare(&b->config, r.config, take_setting, &r);
	free(r.config);
	if (r.is_fine)
		log_info("reloaded",
			"meaning=\"connections from now on use the files as they are\"");
}
