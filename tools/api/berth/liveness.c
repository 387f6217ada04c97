// Whether the expiry of nodes is held, and the order to go on with it.
#include "state/base/log.h"
#include "tools/api/berth/routes.h"
#include "tools/api/server/request.h"
#include <stdlib.h>

void liveness_read(struct request *request, struct reply *reply)
{
	const struct api_settings *settings = &request->api->settings;
	char *liveness = settings->liveness ? settings->liveness(settings->context) : NULL;
	json_write_raw(reply_json(request, reply), liveness ? text_of(liveness) : TEXT("{}"));
	free(liveness);
}

void liveness_release(struct request *request, struct reply *reply)
{
	const struct api_settings *settings = &request->api->settings;
	bool released = settings->liveness_release && settings->liveness_release(settings->context);
	struct json_writer *w = reply_json(request, reply);
	if (released)
		log_warn("expiry-released", "by=operator");
	json_begin_object(w);
	json_put_bool(w, "Released", released);
	json_end_object(w);
}
