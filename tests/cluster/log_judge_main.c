// Judges the logs of a cluster, or keeps that of etcd while it is at work.
//
//	log_judge --keep FILE ENDPOINTS CLUSTER          until SIGTERM
//	log_judge OUT [--etcd FILE] NAME=DATA_DIR...     data_dirs that no process has open; OUT gets JSON
//
// Ends with 0 when there was no complaint, else with 1; each complaint is a line.
#include "state/etcd/etcd.h"
#include "tests/cluster/etcd_log.h"
#include "tests/cluster/log_judge.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS_MAX = 16, KEEP_TIMEOUT_MS = 3000 };

static volatile sig_atomic_t is_ended;

static void end_keeping(int signal)
{
	is_ended = 1;
}

static bool keeping_is_over(void *unused)
{
	return is_ended;
}

static int keep(const char *path, const char *endpoints, const char *cluster)
{
	struct etcd_settings settings = {.endpoints = endpoints, .timeout_ms = KEEP_TIMEOUT_MS};
	char message[ETCD_MESSAGE_BYTES];
	struct etcd *etcd;
	FILE *file = fopen(path, "wb");

	signal(SIGTERM, end_keeping);
	if (!file || etcd_open(&settings, &etcd, message, sizeof message) != 0)
		return EXIT_FAILURE;
	bool is_kept = etcd_log_keep(etcd, cluster, file, keeping_is_over);
	etcd_close(etcd);
	return fclose(file) == 0 && is_kept ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int show(const struct verdict *v, const char *path)
{
	size_t i;
	json_t *complaint,
		*all = json_pack("{s:O,s:O}", "complaints", v->complaints, "logs", v->logs);
	bool is_written = all && json_dump_file(all, path, JSON_COMPACT) == 0;

	json_array_foreach(v->complaints, i, complaint) puts(json_string_value(complaint));
	json_decref(all);
	return is_written && json_array_size(v->complaints) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

// Cuts "NAME=DIRECTORY" in two.
static bool read_member_word(char *word, struct judged_member *member)
{
	char *equals = strchr(word, '=');

	if (!equals)
		return false;
	*equals = '\0';
	*member = (struct judged_member){word, equals + 1};
	return true;
}

static int judge(int count, char **words)
{
	struct judged_member members[MEMBERS_MAX];
	struct verdict verdict;
	const char *etcd_file = NULL;
	uint32_t member_count = 0;

	for (int i = 1; i < count; i++) {
		if (strcmp(words[i], "--etcd") == 0 && i + 1 < count)
			etcd_file = words[++i];
		else if (member_count == MEMBERS_MAX ||
			 !read_member_word(words[i], &members[member_count++]))
			return 64;
	}
	if (member_count == 0)
		return 64;
	verdict_begin(&verdict);
	log_judge(&verdict, members, member_count, etcd_file);
	int status = show(&verdict, words[0]);
	verdict_end(&verdict);
	return status;
}

int main(int count, char **words)
{
	if (count == 5 && strcmp(words[1], "--keep") == 0)
		return keep(words[2], words[3], words[4]);
	return count > 2 ? judge(count - 1, words + 1) : 64;
}
