#include "tests/cluster/log_judge.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "tests/cluster/etcd_log.h"
#include "tests/cluster/log_compare.h"
#include "tests/cluster/log_replay.h"
#include <stdlib.h>

// A log that lacks batches is read as far as it goes.
static void read_member(struct verdict *v, struct log_source *s, const struct judged_member *m)
{
	char why[COMPLAINT_BYTES] = "";
	struct complaint complaint = {why, sizeof why};

	s->name = m->name;
	int error = log_source_read(s, m->directory, &complaint);
	if (error != 0)
		verdict_complain(v, "missing", m->name, "%s", why[0] ? why : error_text(error));
}

static void read_etcd(struct verdict *v, struct log_source *s, const char *file)
{
	char why[COMPLAINT_BYTES] = "";
	struct complaint complaint = {why, sizeof why};

	s->name = "etcd";
	s->has_holes = true;
	if (etcd_log_read(s, file, &complaint) != 0)
		verdict_complain(v, "state", s->name, "%s", why);
}

void log_judge(struct verdict *v, const struct judged_member *members, uint32_t count,
	const char *etcd_file)
{
	struct log_source *sources = memory_take_array(count + 1, sizeof sources[0]),
			  *etcd = &sources[count];

	CHECK(count > 0);
	if (etcd_file)
		read_etcd(v, etcd, etcd_file);
	for (uint32_t i = 0; i < count; i++) {
		read_member(v, &sources[i], &members[i]);
		for (uint32_t j = 0; j < i; j++)
			logs_compare(v, &sources[j], &sources[i]);
		logs_compare(v, etcd, &sources[i]);
		log_replay(v, &sources[i], etcd);
	}
	if (etcd->count > 0 && etcd->batches[0].first_index == 1)
		log_replay(v, etcd, etcd);
	for (uint32_t i = 0; i <= count; i++)
		log_source_free(&sources[i]);
	free(sources);
}
