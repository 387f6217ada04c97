// How a job is run: updates, migration, restarts, rescheduling, disconnects, periodic and
// parameterized jobs.
#include "placement/job_check/job_check_policy.h"
#include "placement/cron/cron.h"
#include "state/base/time_units.h"

#define RESTART_INTERVAL_LEAST (5 * NS_PER_S)
#define RESCHEDULE_DELAY_LEAST (5 * NS_PER_S)
#define RESCHEDULE_INTERVAL_LEAST (15 * NS_PER_S)

static const char *const update_checks[] = {"checks", "task_states", "manual", NULL};
static const char *const migrate_checks[] = {"checks", "task_states", NULL};
static const char *const restart_modes[] = {"delay", "fail", NULL};
static const char *const delay_functions[] = {"constant", "exponential", "fibonacci", NULL};
static const char *const payloads[] = {"forbidden", "optional", "required", NULL};
static const char *const spec_types[] = {"cron", NULL};

static double seconds(int64_t ns)
{
	return (double)ns / NS_PER_S;
}

static void check_deadlines(struct checker *c, const struct update_strategy *update)
{
	checker_at_least(c, "Update.MinHealthyTime", update->min_healthy_time_ns, 0);
	if (update->min_healthy_time_ns >= update->healthy_deadline_ns)
		checker_mistake(c,
			"Update.MinHealthyTime (%g s) must be less than HealthyDeadline (%g s)",
			seconds(update->min_healthy_time_ns), seconds(update->healthy_deadline_ns));
	if (update->progress_deadline_ns != 0 &&
		update->healthy_deadline_ns >= update->progress_deadline_ns)
		checker_mistake(c,
			"Update.HealthyDeadline (%g s) must be less than ProgressDeadline (%g s), "
			"or "
			"that 0",
			seconds(update->healthy_deadline_ns),
			seconds(update->progress_deadline_ns));
}

// In the words of row A26.
static bool allow_update(struct checker *c)
{
	if (c->allowed & PART_UPDATE)
		return true;
	checker_mistake(
		c, "Job type \"%s\" does not allow update block", job_type_names[c->job->type]);
	return false;
}

void check_update(struct checker *c, const struct update_strategy *update)
{
	if (!allow_update(c))
		return;
	checker_at_least(c, "Update.MaxParallel", update->max_parallel, 0);
	checker_at_least(c, "Update.Stagger", update->stagger_ns, 0);
	if (!c->group || update->max_parallel == 0) // the job's own block has only these two
		return;
	checker_one_of(c, "Update.HealthCheck", update->health_check, update_checks);
	checker_at_least(c, "Update.Canary", update->canary, 0);
	if (update->auto_promote.value && update->canary <= 0)
		checker_mistake(c, "Update.AutoPromote needs a Canary of at least 1");
	check_deadlines(c, update);
}

void check_migrate(struct checker *c, const struct migrate_strategy *migrate)
{
	if (!checker_allow_part(c, PART_MIGRATE, "Migrate is"))
		return;
	checker_at_least(c, "Migrate.MaxParallel", migrate->max_parallel, 0);
	checker_one_of(c, "Migrate.HealthCheck", migrate->health_check, migrate_checks);
	checker_at_least(c, "Migrate.MinHealthyTime", migrate->min_healthy_time_ns, 0);
	if (migrate->min_healthy_time_ns >= migrate->healthy_deadline_ns)
		checker_mistake(c,
			"Migrate.MinHealthyTime (%g s) must be less than HealthyDeadline (%g s)",
			seconds(migrate->min_healthy_time_ns),
			seconds(migrate->healthy_deadline_ns));
}

void check_restart(struct checker *c, const struct restart_policy *restart)
{
	bool modes = checker_one_of(c, "RestartPolicy.Mode", restart->mode, restart_modes);
	bool attempts = checker_at_least(c, "RestartPolicy.Attempts", restart->attempts, 0);
	bool delays = checker_at_least(c, "RestartPolicy.Delay", restart->delay_ns, 0);
	if (!modes || !attempts || !delays)
		return;
	if (restart->attempts == 0 && strcmp(restart->mode, "fail") == 0)
		return; // never restarted: the rest does not matter
	if (restart->interval_ns < RESTART_INTERVAL_LEAST)
		checker_mistake(c, "RestartPolicy.Interval is %g s but must be at least %g s",
			seconds(restart->interval_ns), seconds(RESTART_INTERVAL_LEAST));
	int64_t sum;
	if (__builtin_mul_overflow(restart->attempts, restart->delay_ns, &sum) ||
		sum > restart->interval_ns)
		checker_mistake(c,
			"RestartPolicy: %ld Attempts with a Delay of %g s do not fit into the "
			"Interval of %g s",
			(long)restart->attempts, seconds(restart->delay_ns),
			seconds(restart->interval_ns));
}

void check_reschedule(struct checker *c, const struct reschedule_policy *policy)
{
	if (!checker_allow_part(c, PART_RESCHEDULE, "ReschedulePolicy is"))
		return;
	checker_at_least(c, "ReschedulePolicy.Attempts", policy->attempts, 0);
	if (!policy->unlimited.value && policy->attempts <= 0)
		return; // never rescheduled
	bool known = checker_one_of(
		c, "ReschedulePolicy.DelayFunction", policy->delay_function, delay_functions);
	if (policy->delay_ns < RESCHEDULE_DELAY_LEAST)
		checker_mistake(c, "ReschedulePolicy.Delay is %g s but must be at least %g s",
			seconds(policy->delay_ns), seconds(RESCHEDULE_DELAY_LEAST));
	if (!policy->unlimited.value && policy->interval_ns < RESCHEDULE_INTERVAL_LEAST)
		checker_mistake(c, "ReschedulePolicy.Interval is %g s but must be at least %g s",
			seconds(policy->interval_ns), seconds(RESCHEDULE_INTERVAL_LEAST));
	if (known && strcmp(policy->delay_function, "constant") != 0 &&
		policy->max_delay_ns < policy->delay_ns)
		checker_mistake(c,
			"ReschedulePolicy.MaxDelay (%g s) must not be less than Delay (%g s)",
			seconds(policy->max_delay_ns), seconds(policy->delay_ns));
}

void check_disconnect(struct checker *c)
{
	const struct optional_i64 *stop = &c->group->stop_after_client_disconnect_ns;
	const struct optional_i64 *most = &c->group->max_client_disconnect_ns;
	if (c->group->shutdown_delay_ns.set)
		checker_at_least(c, "ShutdownDelay", c->group->shutdown_delay_ns.value, 0);
	bool stops = stop->set && stop->value != 0; // 0 is unset (row C13)
	if (stops &&
		checker_allow_part(c, PART_STOP_AFTER_DISCONNECT, "StopAfterClientDisconnect is"))
		checker_at_least(c, "StopAfterClientDisconnect", stop->value, 0);
	if (most->set && checker_allow_part(c, PART_MAX_DISCONNECT, "MaxClientDisconnect is"))
		checker_at_least(c, "MaxClientDisconnect", most->value, 0);
	if (stops && most->set)
		checker_mistake(
			c, "StopAfterClientDisconnect and MaxClientDisconnect exclude each other");
}

static void check_cron(struct checker *c, const char *field, const char *spec)
{
	struct cron cron;
	char why[160];

	if (!cron_parse(&cron, text_of(spec), why, sizeof why))
		checker_mistake(c, "%s \"%.64s\" is not a cron expression: %s", field, spec, why);
}

static void check_time_zone(struct checker *c, const char *name)
{
	struct cron_zone *zone = cron_zone_open(name);

	if (!zone)
		checker_mistake(c,
			"Periodic.TimeZone \"%.64s\" is no time zone that this machine knows",
			name);
	cron_zone_close(zone);
}

void check_periodic(struct checker *c, const struct periodic_config *periodic)
{
	if (!checker_allow_part(c, PART_PERIODIC, "Periodic is") || !periodic->enabled)
		return;
	checker_one_of(c, "Periodic.SpecType", periodic->spec_type, spec_types);
	bool one = periodic->spec && periodic->spec[0];
	if (one == (periodic->specs.count > 0))
		checker_mistake(c, one ? "Periodic may have Spec or Specs, not both"
				       : "Periodic.Spec is missing");
	if (one)
		check_cron(c, "Periodic.Spec", periodic->spec);
	uint32_t count =
		checker_at_most(c, "Periodic.Specs", periodic->specs.count, PERIODIC_SPECS_MAX);
	for (uint32_t i = 0; i < count; i++)
		check_cron(c, "Periodic.Specs:", *ARRAY_AT(&periodic->specs, char *, i));
	check_time_zone(c, periodic->time_zone);
}

void check_parameterized(struct checker *c, const struct parameterized_config *config)
{
	if (!checker_allow_part(c, PART_PERIODIC, "ParameterizedJob is"))
		return;
	checker_one_of(c, "ParameterizedJob.Payload", config->payload, payloads);
	const struct array *needed = &config->meta_required, *optional = &config->meta_optional;
	uint32_t needed_count = checker_at_most(c, "MetaRequired", needed->count, JOB_LIST_MAX);
	uint32_t optional_count = checker_at_most(c, "MetaOptional", optional->count, JOB_LIST_MAX);
	for (uint32_t i = 0; i < needed_count; i++) {
		struct text name = text_of(*ARRAY_AT(needed, char *, i));
		for (uint32_t k = 0; k < optional_count; k++)
			if (text_equal(name, text_of(*ARRAY_AT(optional, char *, k))))
				checker_mistake(c,
					"\"%.*s\" is in MetaRequired and in MetaOptional",
					name.size < 64 ? (int)name.size : 64,
					name.data ? name.data : "");
	}
}
