// What Orchard's clients ask of a controller before all else: whether it is there, and what it can do.
#include "tools/api/orchard/routes.h"
#include "tools/api/server/request.h"

void controller_greet(struct request *request, struct reply *reply)
{
	struct json_writer *w = reply_json(request, reply);

	json_begin_object(w);
	json_end_object(w);
}

// "vm-state-endpoint": workers report their machines by PUT /v1/vms/:name/state.
void controller_info(struct request *request, struct reply *reply)
{
	struct json_writer *w = reply_json(request, reply);

	json_begin_object(w);
	json_put_string(w, "version", BERTH_VERSION);
	json_put_string(w, "commit", "");
	json_write_key(w, "capabilities");
	json_begin_array(w);
	json_write_string(w, "vm-state-endpoint");
	json_end_array(w);
	json_end_object(w);
}
