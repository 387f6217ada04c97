#include "tools/berthd/enrol.h"
#include "state/base/error.h"
#include "state/cluster/cluster_setup.h"
#include "tools/berthd/berthd.h"
#include "tools/berthd/membership/membership.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// The index of the state in data_dir; it is made if it is not there. The daemon must not run.
static bool read_index(struct berthd *b, uint64_t *index, char *message)
{
	if (mkdir(b->config.data_dir, 0750) < 0 && errno != EEXIST) {
		snprintf(message, BERTHD_MESSAGE_BYTES, "cannot make %.300s: %s",
			b->config.data_dir, error_text(-errno));
		return false;
	}
	bool is_read = berthd_open(b, true, message);
	*index = is_read ? state_index(b->state) : 0;
	berthd_close(b);
	return is_read;
}

static int carry_out(struct berthd *b, const char *verb, const struct cluster_setup *setup,
	uint64_t index, const struct complaint *complaint)
{
	if (strcmp(verb, "leave") == 0)
		return cluster_leave(setup, index, complaint);
	if (strcmp(verb, "init") == 0)
		return cluster_init(setup, index, complaint);
	if (index > 0)
		return complain(complaint, -ENOTEMPTY,
			"%s has a state of its own, which a member that joins loses: name an empty "
			"data_dir",
			b->config.data_dir);
	return cluster_join(setup, complaint);
}

int berthd_enrol(struct berthd *b, const char *verb)
{
	char message[BERTHD_MESSAGE_BYTES] = "", password[MEMBERSHIP_PASSWORD_BYTES];
	const struct complaint complaint = {message, sizeof message};
	struct cluster_setup setup = {.name = b->config.cluster_name,
		.directory = b->config.data_dir,
		.member_name = b->config.name,
		.http = b->config.cluster_http,
		.wire = b->config.cluster_wire};
	uint64_t index;
	bool is_done = read_index(b, &index, message) &&
		       membership_password(&b->config, password, message, sizeof message);

	if (is_done) {
		setup.etcd = membership_etcd(&b->config, password);
		is_done = carry_out(b, verb, &setup, index, &complaint) == 0;
		explicit_bzero(password, sizeof password);
	}
	if (!is_done) {
		fprintf(stderr, "berthd: %s\n", message);
		return EXIT_FAILURE;
	}
	printf("cluster %s: %s, %s, index %" PRIu64 "\n", b->config.cluster_name, verb,
		b->config.data_dir, index);
	return EXIT_SUCCESS;
}
