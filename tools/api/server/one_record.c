#include "tools/api/server/one_record.h"
#include "state/records/record.h"

// Every record begins with its indexes.
uint64_t one_record_watched(const struct request *request)
{
	const struct one_record *one = request->route->one;
	const struct record *record = one->watched ? NULL : one->find(request);
	if (one->watched)
		return one->watched(request);
	return record ? record->modify_index : 0;
}

static void reply_missing(
	const struct request *request, struct reply *reply, const struct one_record *one)
{
	if (one->says_its_name)
		reply_error(reply, MHD_HTTP_NOT_FOUND, "%s \"%.128s\" not found", one->noun,
			request->ids[0]);
	else
		reply_error(reply, MHD_HTTP_NOT_FOUND, "%s not found", one->noun);
	reply_index(reply, state_index(request->api->settings.state));
}

void one_record_read(struct request *request, struct reply *reply)
{
	const struct one_record *one = request->route->one;
	state_read_begin();
	const void *record = one->find(request);
	if (record) {
		one->write(reply_json(request, reply), request, record);
		reply_index(reply, one_record_watched(request));
	} else {
		reply_missing(request, reply, one);
	}
	state_read_end();
}
