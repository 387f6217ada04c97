#include "tools/api/api.h"
#include "tools/api/events/event_log.h"
#include "tools/api/routes.h"
#include "tools/api/server/start.h"

int api_start(
	const struct api_settings *settings, struct api **out, char *message, uint32_t message_size)
{
	int events_fd = settings->events ? event_log_fd(settings->events) : -1;
	return api_server_start(settings, &api_routes, events_fd, out, message, message_size);
}

uint16_t api_port(const struct api *api)
{
	return api->port;
}

bool api_reload(struct api *api, char *message, uint32_t message_size)
{
	return api_server_reload(api, message, message_size);
}

void api_stop(struct api *api)
{
	api_server_stop(api);
}
