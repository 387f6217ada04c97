// Who asks for more over the wire than a key may have.
#include "tools/api/berth/routes.h"
#include "tools/api/server/request.h"
#include <stdlib.h>

void senders_read(struct request *request, struct reply *reply)
{
	const struct api_settings *settings = &request->api->settings;
	char *senders = settings->senders ? settings->senders(settings->context) : NULL;
	json_write_raw(reply_json(request, reply), senders ? text_of(senders) : TEXT("[]"));
	free(senders);
}
