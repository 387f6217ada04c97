#include "tools/berthd/membership/exchange.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include "tools/archive/snapshot_archive.h"
#include <errno.h>
#include <inttypes.h>
#include <linux/close_range.h>
#include <stdlib.h>
#include <unistd.h>

// What was opened without O_CLOEXEC by a library would go on to receive packets that nobody reads.
void berthd_begin_anew(const struct berthd *b, const char *reason)
{
	char quoted[2 * BERTHD_REASON_BYTES];

	log_warn("beginning-anew", "reason=%s", log_quote(reason, quoted, sizeof quoted));
	(void)close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
	execv("/proc/self/exe", b->arguments);
	log_error("not-begun-anew", "error=\"%s\"", error_text(-errno));
}

static bool read_archive(
	const char *incoming, int archive, uint64_t *index, char *message, uint32_t message_size)
{
	struct snapshot_meta meta;
	int file = store_restore_begin(incoming, message, message_size);

	if (file < 0)
		return false;
	if (!snapshot_archive_read(archive, file, &meta, message, message_size)) {
		store_restore_abandon(incoming, file);
		return false;
	}
	return store_restore_end(incoming, file, index, message, message_size) >= 0;
}

bool berthd_exchange_prepare(const struct config *config, int archive, uint64_t *index,
	char *message, uint32_t message_size)
{
	char *incoming = store_incoming(config->data_dir);
	bool is_whole = read_archive(incoming, archive, index, message, message_size);

	free(incoming);
	if (!is_whole)
		store_incoming_drop(config->data_dir);
	return is_whole;
}

bool berthd_exchange_commit(
	const struct config *config, uint64_t index, char *message, uint32_t message_size)
{
	int error = store_arrived(config->data_dir);

	if (error < 0) {
		snprintf(message, message_size, "the snapshot cannot be put into %s: %s",
			config->data_dir, error_text(error));
		log_error("snapshot-waits", "index=%" PRIu64 " error=\"%s\"", index,
			error_text(error));
	} else
		log_info("snapshot-arrived", "index=%" PRIu64, index);
	return error == 0;
}
