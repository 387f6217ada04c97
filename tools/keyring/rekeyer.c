#include "tools/keyring/rekeyer.h"
#include "state/base/check.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/records/variable.h"
#include "tools/keyring/variable_items.h"
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

// Between two looks, which cost nothing when there is nothing new.
#define LOOK_EVERY_S 1
#define VARIABLES_PER_SECTION 1024u

struct rekeyer {
	struct rekeyer_settings settings;
	pthread_t thread;
	sem_t done; // the command that is under way
	pthread_mutex_t lock;
	pthread_cond_t stop;
	bool stops;
	// The thread's own: after a whole look, what it has seen.
	uint64_t seen_index;
	struct uuid seen_newest;
	uint64_t rekeyed;
};

struct keys {
	struct keyring_entry entries[KEYRING_KEYS_MAX];
	uint32_t count;
};

static bool is_retired(const struct keys *keys, const struct uuid *id)
{
	for (uint32_t i = 0; i < keys->count; i++)
		if (keys->entries[i].is_retired && uuid_equal(&keys->entries[i].id, id))
			return true;
	return false;
}

static bool has_retired(const struct keys *keys)
{
	for (uint32_t i = 0; i < keys->count; i++)
		if (keys->entries[i].is_retired)
			return true;
	return false;
}

// A copy of the next variable that a retired key encrypts (caller frees); NULL: there are no more.
static struct variable *next_variable(
	const struct rekeyer *r, const struct keys *keys, uint64_t *cursor)
{
	const struct variable *variable;
	struct variable *copy = NULL;
	do {
		state_read_begin();
		for (uint32_t i = 0; i < VARIABLES_PER_SECTION && !copy; i++) {
			variable = state_next(r->settings.state, STATE_VARIABLES, cursor);
			if (!variable)
				break;
			if (!is_retired(keys, &variable->key))
				continue;
			copy = record_duplicate(&variable_description, variable);
			copy->record.modify_index = variable->record.modify_index;
		}
		state_read_end();
	} while (variable && !copy);
	return copy;
}

static void command_done(struct command *command)
{
	const struct rekeyer *r = command->context;
	CHECK(sem_post((sem_t *)&r->done) == 0);
}

// Stores the variable unless somebody changed it meanwhile: then it has the newest key, or the next look finds it.
// False: not now.
static bool store_variable(struct rekeyer *r, struct variable *variable)
{
	struct command_variable ask = {
		.variable = variable, .cas = true, .modify_index = variable->record.modify_index};
	struct command command = {
		.type = COMMAND_VARIABLE, .variable = &ask, .done = command_done, .context = r};
	if (command_queue_push(r->settings.queue, COMMAND_PRODUCER_SHARED, &command))
		while (sem_wait(&r->done) != 0)
			CHECK(errno == EINTR);
	else
		command.outcome = OUTCOME_STORE_FULL;
	record_free(&variable_description, ask.variable);
	r->rekeyed += command.outcome == OUTCOME_DONE;
	return command.outcome == OUTCOME_DONE || command.outcome == OUTCOME_CONFLICT;
}

// Takes the variable. The newest key is held until the variable is stored, so that nobody removes it in between.
static bool rekey(struct rekeyer *r, struct variable *variable)
{
	struct keyring *keyring = r->settings.keyring;
	struct variable_items items;
	bool done = true;
	if (variable_unseal(keyring, variable, &items) != KEYRING_OPENED) {
		log_error("variable-not-rekeyed",
			"name=%s meaning=\"it is not what its key encrypted under this name: put "
			"it anew or purge it\"",
			variable->name);
		record_free(&variable_description, variable);
	} else if (variable_seal(keyring, variable, &items) &&
		   keyring_hold(keyring, &variable->key)) {
		done = store_variable(r, variable);
		keyring_hold(keyring, NULL);
	} else { // the key went in that moment
		record_free(&variable_description, variable);
		done = false;
	}
	variable_items_release(&items);
	return done;
}

static bool is_stopping(struct rekeyer *r)
{
	pthread_mutex_lock(&r->lock);
	bool stops = r->stops;
	pthread_mutex_unlock(&r->lock);
	return stops;
}

// A look at all variables, unless nothing has changed since the last one.
static void rekey_all(struct rekeyer *r)
{
	struct keys keys;
	struct variable *variable = NULL;
	uint64_t cursor = 0, before = r->rekeyed;
	uint64_t index = state_table_index(r->settings.state, STATE_VARIABLES);
	bool whole = true;
	keys.count = keyring_list(r->settings.keyring, keys.entries);
	if (!has_retired(&keys) ||
		(index == r->seen_index && uuid_equal(&keys.entries[0].id, &r->seen_newest)))
		return;
	while (whole && !is_stopping(r) && (variable = next_variable(r, &keys, &cursor)))
		whole = rekey(r, variable);
	if (r->rekeyed > before)
		log_info("rekeyed", "variables=%lu", (unsigned long)(r->rekeyed - before));
	if (!whole)
		return;
	r->seen_index = index;
	r->seen_newest = keys.entries[0].id;
}

// False: it stops.
static bool rest_rekeyer(struct rekeyer *r)
{
	struct timespec until;
	int waited = 0;
	CHECK(clock_gettime(CLOCK_MONOTONIC, &until) == 0);
	until.tv_sec += LOOK_EVERY_S;
	pthread_mutex_lock(&r->lock);
	while (!r->stops && waited == 0)
		waited = pthread_cond_timedwait(&r->stop, &r->lock, &until);
	bool goes_on = !r->stops;
	pthread_mutex_unlock(&r->lock);
	return goes_on;
}

static void *rekeyer_main(void *argument)
{
	do
		rekey_all(argument);
	while (rest_rekeyer(argument));
	return NULL;
}

static struct rekeyer *create_rekeyer(const struct rekeyer_settings *settings)
{
	struct rekeyer *r = memory_take(sizeof *r);
	pthread_condattr_t monotonic;
	r->settings = *settings;
	CHECK(sem_init(&r->done, 0, 0) == 0);
	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&r->stop, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return r;
}

static void destroy_rekeyer(struct rekeyer *r)
{
	pthread_cond_destroy(&r->stop);
	pthread_mutex_destroy(&r->lock);
	sem_destroy(&r->done);
	free(r);
}

struct rekeyer *rekeyer_start(const struct rekeyer_settings *settings)
{
	struct rekeyer *r = create_rekeyer(settings);
	if (pthread_create(&r->thread, NULL, rekeyer_main, r) == 0) {
		(void)pthread_setname_np(r->thread, "rekeyer");
		return r;
	}
	destroy_rekeyer(r);
	return NULL;
}

void rekeyer_stop(struct rekeyer *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->stops = true;
	pthread_cond_signal(&r->stop);
	pthread_mutex_unlock(&r->lock);
	pthread_join(r->thread, NULL);
	destroy_rekeyer(r);
}
