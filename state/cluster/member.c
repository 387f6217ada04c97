// A member as JSON, and as texts.
#include "state/cluster/member.h"
#include "state/base/check.h"
#include "state/base/library/library_memory.h"
#include "state/base/memory.h"
#include "state/cluster/json_text.h"
#include "state/log/batch.h"
#include <jansson.h>
#include <string.h>

char *cluster_json_text(json_t *json)
{
	CHECK(json);
	char *text = memory_or_end(json_dumps(json, JSON_COMPACT));
	json_decref(json);
	return text;
}

char *cluster_member_write(const struct cluster_member *m)
{
	return cluster_json_text(json_pack("{s:s, s:s, s:s, s:s, s:i, s:I}", "id", m->id, "name",
		m->name, "http", m->http, "wire", m->wire, "format", (int)LOG_FORMAT, "epoch",
		(json_int_t)m->epoch));
}

static bool copy_text(char *to, size_t room, const char *from)
{
	size_t size = strlen(from);

	if (size >= room)
		return false;
	memcpy(to, from, size + 1);
	return true;
}

bool cluster_member_fill(struct cluster_member *m, const char *id, const char *name,
	const char *http, const char *wire)
{
	*m = (struct cluster_member){0};
	return copy_text(m->id, sizeof m->id, id) && copy_text(m->name, sizeof m->name, name) &&
	       copy_text(m->http, sizeof m->http, http) && copy_text(m->wire, sizeof m->wire, wire);
}

bool cluster_member_read(const void *text, uint32_t size, struct cluster_member *m)
{
	const char *id, *name, *http, *wire;
	json_t *json = json_loadb(text, size, 0, NULL);

	int format = LOG_FORMAT;
	json_int_t epoch = 0;
	bool is_good =
		json &&
		json_unpack(json, "{s:s, s:s, s:s, s:s, s?i, s?I}", "id", &id, "name", &name,
			"http", &http, "wire", &wire, "format", &format, "epoch", &epoch) == 0 &&
		format >= 0 && epoch >= 0 && cluster_member_fill(m, id, name, http, wire);
	json_decref(json);
	if (!is_good)
		*m = (struct cluster_member){0};
	else {
		m->format = (uint32_t)format;
		m->epoch = (uint64_t)epoch;
	}
	return is_good;
}
