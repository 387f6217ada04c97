#include "placement/pipeline/enabling.h"
#include "placement/pipeline/observer.h"
#include "state/base/log.h"
#include "state/records/scheduler_config.h"

// Blocked evaluations go to the broker, so the broker is enabled first and disabled last.
static void enable(struct pipeline *p, bool enabled)
{
	p->is_enabled = enabled;
	if (!enabled)
		blocked_set_enabled(p->blocked, false);
	broker_set_enabled(p->broker, enabled);
	if (!enabled)
		return;
	blocked_set_enabled(p->blocked, true);
	take_over_evaluations(p);
}

bool pipeline_follow_config(struct pipeline *p)
{
	state_read_begin();
	bool paused = state_scheduler_config(p->settings.state)->pause_eval_broker;
	state_read_end();
	pthread_mutex_lock(&p->enabling);
	bool enabled = !paused && !p->is_stopped, changes = enabled != p->is_enabled;
	if (changes)
		enable(p, enabled);
	pthread_mutex_unlock(&p->enabling);
	if (changes)
		log_info("broker", "enabled=%s", enabled ? "true" : "false");
	return changes;
}

void pipeline_disable_for_good(struct pipeline *p)
{
	pthread_mutex_lock(&p->enabling);
	p->is_stopped = true;
	if (p->is_enabled)
		enable(p, false);
	broker_close(p->broker);
	pthread_mutex_unlock(&p->enabling);
}
