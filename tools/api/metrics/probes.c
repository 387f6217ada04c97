// /livez and /readyz, as Kubernetes' servers have them: whether to restart the server, and whether to send it work.
#include "tools/api/metrics/routes.h"
#include "tools/api/server/request.h"

struct probe {
	const char *name;
	enum health_level fails_from;
};

static bool check_fails(const struct probe *p, const struct health_check *check)
{
	return check->level >= p->fails_from;
}

// A line for each check: what does not fail the probe may still have a reason.
static void put_check(
	struct json_writer *w, const struct probe *p, const struct health_check *check)
{
	bool fails = check_fails(p, check);
	json_write_plain(w, "[%c]%s %s", fails ? '-' : '+', check->name, fails ? "failed" : "ok");
	if (check->level != HEALTH_OK)
		json_write_plain(w, ": %s", check->why);
	json_write_plain(w, "\n");
}

static void answer_probe(struct request *request, struct reply *reply, const struct probe *p)
{
	const struct api_settings *settings = &request->api->settings;
	struct health_check checks[HEALTH_CHECKS_MAX];
	uint32_t count = settings->checks ? settings->checks(settings->context, checks) : 0;
	const struct health_check *failed = NULL;
	struct json_writer *w = &reply->body;
	bool is_verbose = request_parameter(request, "verbose") != NULL;
	for (uint32_t i = 0; i < count; i++) {
		if (!failed && check_fails(p, &checks[i]))
			failed = &checks[i];
		if (is_verbose)
			put_check(w, p, &checks[i]);
	}
	if (is_verbose)
		json_write_plain(w, "%s check %s\n", p->name, failed ? "failed" : "passed");
	else if (failed)
		json_write_plain(w, "%s failed: %s\n", failed->name, failed->why);
	else
		json_write_plain(w, "ok\n");
	reply->status = failed ? MHD_HTTP_SERVICE_UNAVAILABLE : MHD_HTTP_OK;
	reply->content_type = API_TEXT_PLAIN;
}

void livez(struct request *request, struct reply *reply)
{
	answer_probe(request, reply, &(struct probe){"livez", HEALTH_DEAD});
}

void readyz(struct request *request, struct reply *reply)
{
	answer_probe(request, reply, &(struct probe){"readyz", HEALTH_UNREADY});
}
