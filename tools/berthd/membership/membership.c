#include "tools/berthd/membership/membership.h"
#include "state/base/check.h"
#include "state/base/clock/steady_time.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/cluster/cluster_setup.h"
#include "tools/berthd/membership/exchange.h"
#include "tools/berthd/membership/fetch.h"
#include "tools/berthd/membership/shared_keyring.h"
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool membership_password(const struct config *c, char password[static MEMBERSHIP_PASSWORD_BYTES],
	char *message, uint32_t size)
{
	*password = '\0';
	if (!*c->cluster_password_file)
		return true;
	FILE *file = fopen(c->cluster_password_file, "re");
	bool is_read = file && fgets(password, MEMBERSHIP_PASSWORD_BYTES, file);
	if (file)
		(void)fclose(file);
	password[strcspn(password, "\r\n")] = '\0';
	if (!is_read || !*password)
		snprintf(message, size,
			"cluster.password_file: %.300s cannot be read, or does not begin with a "
			"password",
			c->cluster_password_file);
	return is_read && *password;
}

struct etcd_settings membership_etcd(const struct config *c, const char *password)
{
	return (struct etcd_settings){.endpoints = c->cluster_endpoints,
		.user = c->cluster_user,
		.password = password,
		.ca_file = c->cluster_ca,
		.certificate_file = c->cluster_certificate,
		.key_file = c->cluster_key,
		.timeout_ms = c->cluster_ttl_ms / 3};
}

static bool lead(void *context, char *message, size_t message_size)
{
	struct berthd *b = context;
	char why[BERTHD_REASON_BYTES];

	if (b->lead(b, why))
		return true;
	snprintf(message, message_size, "%s", why);
	return false;
}

// Several threads may come to know of it, and a process is replaced once.
static void lost(void *context, const char *reason)
{
	static atomic_flag is_lost = ATOMIC_FLAG_INIT;
	const struct berthd *b = context;

	while (atomic_flag_test_and_set(&is_lost))
		(void)pause();
	berthd_begin_anew(b, reason);
	_exit(BERTHD_EXIT_ANEW);
}

static void failed(void *context, const char *sentence)
{
	char quoted[2 * BERTHD_REASON_BYTES];
	(void)context;
	log_error("cluster-failed", "error=%s", log_quote(sentence, quoted, sizeof quoted));
	_exit(BERTHD_EXIT_ANEW);
}

static void fetch_state(
	void *context, const char *http, uint64_t epoch, char *message, size_t message_size)
{
	const struct berthd *b = context;

	if (berthd_fetch(&b->config, http, epoch, message, (uint32_t)message_size))
		lost(context, "a snapshot of another member takes the place of the own state");
}

static void leader_changed(void *context, const struct cluster_member *leader)
{
	const struct berthd *b = context;
	dataplane_set_leader_address(b->dataplane, leader ? leader->wire : "");
}

void membership_look_after(struct berthd *b)
{
	char message[BERTHD_REASON_BYTES], quoted[2 * BERTHD_REASON_BYTES];

	if (b->cluster && !cluster_leads(b->cluster) &&
		!shared_keyring_take(b, false, message, sizeof message))
		log_warn(
			"keyring-not-taken", "error=%s", log_quote(message, quoted, sizeof quoted));
}

static bool check_identity(const struct config *c, struct cluster_identity *identity, bool *belongs,
	char *message, uint32_t message_size)
{
	const struct complaint complaint = {message, message_size};
	int error = cluster_identity_read(c->data_dir, identity, &complaint);

	*belongs = error == 0;
	if (error != 0 && error != -ENOENT)
		return false;
	if (*belongs == (*c->cluster_name != '\0'))
		return true;
	if (*belongs)
		snprintf(message, message_size,
			"%s belongs to a cluster, and cluster.name is not set: set it, or end the "
			"membership with berthd cluster leave",
			c->data_dir);
	else
		snprintf(message, message_size,
			"%s belongs to no cluster yet: begin the cluster \"%s\" with berthd "
			"cluster "
			"init, or join it with berthd cluster join",
			c->data_dir, c->cluster_name);
	return false;
}

void membership_own_address(const struct config *config, char *address, uint32_t size)
{
	const char *wire = config->cluster_wire;
	bool is_six = *wire == '[';
	size_t length = is_six ? strcspn(++wire, "]") : strcspn(wire, ":");

	CHECK(size > 0);
	snprintf(address, size, "%.*s", (int)length, wire);
}

bool membership_is_fit(const struct config *c, char *message, uint32_t message_size)
{
	char password[MEMBERSHIP_PASSWORD_BYTES];
	struct cluster_identity identity;
	struct etcd *etcd = NULL;
	bool belongs;

	if (!check_identity(c, &identity, &belongs, message, message_size))
		return false;
	if (!belongs)
		return true;
	if (!membership_password(c, password, message, message_size))
		return false;
	struct etcd_settings settings = membership_etcd(c, password);
	int error = etcd_open(&settings, &etcd, message, message_size);
	explicit_bzero(password, sizeof password);
	if (error == 0)
		etcd_close(etcd);
	return error == 0;
}

bool membership_open(struct berthd *b, char *message, uint32_t message_size)
{
	char password[MEMBERSHIP_PASSWORD_BYTES];
	struct member_settings settings = {.name = b->config.cluster_name,
		.ttl_ms = b->config.cluster_ttl_ms,
		.directory = b->config.data_dir,
		.member_name = b->config.name,
		.http = b->config.cluster_http,
		.wire = b->config.cluster_wire,
		.store = b->store,
		.state = b->state,
		.time = &time_source_steady,
		.lead = lead,
		.lost = lost,
		.failed = failed,
		.fetch = fetch_state,
		.leader_changed = leader_changed,
		.context = b};
	bool belongs;

	if (!check_identity(&b->config, &settings.identity, &belongs, message, message_size))
		return false;
	if (!belongs)
		return true;
	if (!membership_password(&b->config, password, message, message_size))
		return false;
	settings.etcd = membership_etcd(&b->config, password);
	int error = cluster_open(&settings, &b->cluster, message, message_size);
	explicit_bzero(password, sizeof password);
	return error == 0;
}

bool membership_start(struct berthd *b, bool (*leads)(struct berthd *, char *), char *message,
	uint32_t message_size)
{
	b->lead = leads;
	int error = cluster_start(b->cluster, b->applier);
	if (error != 0)
		snprintf(message, message_size, "starting the threads of the cluster: %s",
			error_text(error));
	return error == 0;
}

void membership_status(void *context, struct cluster_status *status)
{
	const struct berthd *b = context;
	cluster_status(b->cluster, status);
}
