#include "state/tables/settings.h"
#include "state/base/check.h"
#include "state/base/limits.h"
#include "state/records/nodes/vm.h"
#include "state/tables/kind.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"

static bool are_settings_sound(const void *record)
{
	const struct cluster_settings *settings = record;
	struct text profile = text_of(settings->scheduler_profile);

	return profile.size <= NAME_BYTES_MAX && text_is_printable(profile);
}

const struct kind cluster_settings_kind = {
	.name = "settings of the cluster",
	.key = KEY_ONE,
	.cell_bytes = sizeof(struct cell),
	.fields = &cluster_settings_description,
	.is_sound = are_settings_sound,
};

static bool is_scheduler_config_sound(const void *record)
{
	return record_is_sound(&scheduler_config_description, record);
}

const struct kind scheduler_config_kind = {
	.name = "scheduler configuration",
	.key = KEY_ONE,
	.cell_bytes = sizeof(struct cell),
	.fields = &scheduler_config_description,
	.is_sound = is_scheduler_config_sound,
};

const struct scheduler_config *state_scheduler_config(const struct state *state)
{
	return cell_published(state->tables[STATE_SCHEDULER_CONFIG].one);
}

const struct cluster_settings *state_cluster_settings(const struct state *state)
{
	return cell_published(state->tables[STATE_CLUSTER_SETTINGS].one);
}

const struct cluster_settings *cluster_settings_working(const struct state *state)
{
	CHECK(state->tables[STATE_CLUSTER_SETTINGS].one);
	return state->tables[STATE_CLUSTER_SETTINGS].one->working;
}

const struct scheduler_config *scheduler_config_working(const struct state *state)
{
	CHECK(state->tables[STATE_SCHEDULER_CONFIG].one);
	return state->tables[STATE_SCHEDULER_CONFIG].one->working;
}
