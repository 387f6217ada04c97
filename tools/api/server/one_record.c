#include "tools/api/server/one_record.h"
#include "state/records/record.h"
#include "tools/json/json_record.h"

const void *record_of_path(const struct request *request, enum state_table table)
{
	struct uuid id;
	return uuid_parse(request->ids[0], &id)
		       ? state_record(request->api->settings.state, table, &id)
		       : NULL;
}

const struct job *job_of_path(const struct request *request)
{
	return state_job(request->api->settings.state, text_of(request_namespace(request)),
		text_of(request->ids[0]));
}

static const void *find_one(const struct request *request, const struct one_record *one)
{
	return one->find ? one->find(request) : record_of_path(request, one->table);
}

// Every record begins with its indexes.
uint64_t one_record_watched(const struct request *request)
{
	const struct one_record *one = request->route->one;
	const struct record *record = one->watched ? NULL : find_one(request, one);
	if (one->watched)
		return one->watched(request);
	return record ? record->modify_index : 0;
}

void one_record_read(struct request *request, struct reply *reply)
{
	const struct one_record *one = request->route->one;
	state_read_begin();
	const void *record = find_one(request, one);
	if (record && one->write)
		one->write(reply_json(request, reply), request, record);
	else if (record)
		json_record(reply_json(request, reply), one->type, record);
	else
		reply_error(reply, MHD_HTTP_NOT_FOUND, "%s not found", one->noun);
	reply_index(reply,
		record ? one_record_watched(request) : state_index(request->api->settings.state));
	state_read_end();
}
