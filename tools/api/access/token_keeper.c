#include "tools/api/access/token_keeper.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/acl_token.h"
#include "state/records/allocation.h"
#include "state/tables/state.h"
#include "tools/api/access/acl_secret.h"
#include "tools/api/access/policy_set.h"
#include "tools/keyring/task_token.h"
#include <pthread.h>
#include <sodium.h>
#include <stddef.h>
#include <stdlib.h>

// Tokens that are in use at the same time: one may be in any place of its set, and takes that of another when all are
// taken. With 10,000 of them hardly a set is full, and a set is two cache lines: between two requests everything else
// wants the caches, so each line that is looked at costs.
#define SETS 16384u
#define PLACES_PER_SET 4u
// Sets of policies that are merged at the same time, beside those that tokens above hold.
#define MERGED 1024u

// A secret under a key that only this process knows (SipHash): sooner made than the hash by which its token is found,
// and of no use to whoever reads it.
struct secret_key {
	uint64_t words[2]; // zero: no token
};

struct place {
	struct secret_key key;
	uint64_t index;        // of the tables, when the records were looked at
	struct access *access; // NULL: empty
};

// What a request shows.
struct shown {
	enum { SHOWN_NOTHING, SHOWN_TOKEN, SHOWN_TASK } kind;
	struct uuid secret;     // of a token
	struct task_token task; // of a task
};

struct token_keeper {
	const struct state *state;
	struct keyring *keyring; // NULL: no task has a token
	uint8_t key[crypto_shorthash_siphashx24_KEYBYTES];
	_Atomic bool is_on;   // which it stays
	pthread_mutex_t lock; // guards what follows
	struct place places[SETS][PLACES_PER_SET];
	uint32_t next_victim;
	struct merged_policies *merged[MERGED];
};

struct token_keeper *token_keeper_create(
	const struct state *state, struct keyring *keyring, bool is_forced)
{
	struct token_keeper *keeper = memory_take(sizeof *keeper);
	keeper->state = state;
	keeper->keyring = keyring;
	atomic_init(&keeper->is_on, is_forced);
	randombytes_buf(keeper->key, sizeof keeper->key);
	pthread_mutex_init(&keeper->lock, NULL);
	return keeper;
}

void token_keeper_destroy(struct token_keeper *keeper)
{
	for (uint32_t i = 0; i < SETS * PLACES_PER_SET; i++)
		access_release(keeper->places[i / PLACES_PER_SET][i % PLACES_PER_SET].access);
	for (uint32_t i = 0; i < MERGED; i++)
		merged_policies_release(keeper->merged[i]);
	pthread_mutex_destroy(&keeper->lock);
	free(keeper);
}

struct access *access_hold(struct access *access)
{
	if (access)
		CHECK(atomic_fetch_add(&access->holders, 1) > 0);
	return access;
}

void access_release(struct access *access)
{
	if (!access || atomic_fetch_sub(&access->holders, 1) > 1)
		return;
	merged_policies_release(access->merged);
	free(access);
}

// The index of the newest change to tokens, roles or policies, before the records are looked at, so that no change
// meanwhile is missed. False while changes of this index are being published: there may be more of them.
static bool tables_index(const struct state *state, uint64_t *newest)
{
	static const enum state_table tables[] = {
		STATE_ACL_TOKENS, STATE_ACL_ROLES, STATE_ACL_POLICIES};
	*newest = 0;
	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
		uint64_t index = state_table_index(state, tables[i]);
		*newest = index > *newest ? index : *newest;
	}
	bool is_settled = state_index(state) >= *newest;
	atomic_thread_fence(memory_order_acquire);
	return is_settled;
}

static bool fingerprints_equal(
	const struct policy_fingerprint *a, const struct policy_fingerprint *b)
{
	return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

static uint32_t first_bytes(const void *hash)
{
	uint32_t first;
	memcpy(&first, hash, sizeof first);
	return first;
}

// What the set allows; merged anew when nobody did before. Under read lock.
static struct merged_policies *find_merged(struct token_keeper *keeper,
	const struct policy_set *set, const struct policy_fingerprint *fingerprint)
{
	struct merged_policies **at = &keeper->merged[first_bytes(fingerprint) % MERGED];
	pthread_mutex_lock(&keeper->lock);
	bool is_there = *at && fingerprints_equal(&(*at)->fingerprint, fingerprint);
	struct merged_policies *found = is_there ? merged_policies_hold(*at) : NULL;
	pthread_mutex_unlock(&keeper->lock);
	if (found)
		return found;
	found = policy_set_merge(set, fingerprint);
	pthread_mutex_lock(&keeper->lock);
	struct merged_policies *before = *at;
	*at = merged_policies_hold(found);
	pthread_mutex_unlock(&keeper->lock);
	merged_policies_release(before);
	return found;
}

static struct access *make_access(const struct acl_token *token, struct merged_policies *merged)
{
	struct access *access = memory_take(sizeof *access);
	access->merged = merged;
	access->acl = merged ? merged->acl : acl_of_management();
	if (token) {
		access->accessor = token->accessor;
		access->expiration_time_ns = token->expiration_time_ns;
		access->token_index = token->record.modify_index;
	}
	atomic_store(&access->holders, 1);
	return access;
}

// What the token (NULL: whoever shows none) allows by its policies; what was found before, when nothing of it changed.
// Under read lock.
static struct access *look_at_policies(
	struct token_keeper *keeper, const struct acl_token *token, struct access *before)
{
	struct policy_set set = {0};
	struct policy_fingerprint fingerprint;
	policy_set_collect(&set, keeper->state, token);
	policy_set_fingerprint(&set, &fingerprint);
	bool is_same = before && before->merged &&
		       before->token_index == (token ? token->record.modify_index : 0) &&
		       fingerprints_equal(&before->merged->fingerprint, &fingerprint);
	struct access *access =
		is_same ? access_hold(before)
			: make_access(token, find_merged(keeper, &set, &fingerprint));
	policy_set_free(&set);
	return access;
}

// NULL: there is no such token. Under read lock.
static struct access *look_up_token(
	struct token_keeper *keeper, const struct uuid *secret, struct access *before)
{
	struct acl_secret_hash hash;
	acl_secret_hash_of(secret, &hash);
	const struct acl_token *token = state_acl_token_by_secret(keeper->state, &hash);
	if (!token)
		return NULL;
	return token->type == ACL_MANAGEMENT ? make_access(token, NULL)
					     : look_at_policies(keeper, token, before);
}

// The task of the allocation's group that the token was made for; NULL: there is none.
static const struct task *find_task(struct token_keeper *keeper,
	const struct allocation *allocation, const struct task_token *token)
{
	const struct array *tasks = &allocation_group(allocation)->tasks;
	for (uint32_t i = 0; i < tasks->count; i++) {
		const struct task *task = ARRAY_AT(tasks, struct task, i);
		if (task_token_is_of(keeper->keyring, token, task->name))
			return task;
	}
	return NULL;
}

// What a job launched, be it by a schedule or a dispatch, reads as that job does.
static struct acl_task task_of(const struct allocation *allocation, const struct task *task)
{
	const struct job *job = allocation->job;
	return (struct acl_task){.namespace_name = job->namespace_name,
		.job = job->parent_id && *job->parent_id ? job->parent_id : job->id,
		.group = allocation_group(allocation)->name,
		.task = task->name};
}

// Under read lock.
static struct access *access_of_task(struct token_keeper *keeper,
	const struct allocation *allocation, const struct task *task, uint64_t changes)
{
	struct policy_set set = {0};
	struct policy_fingerprint fingerprint;
	const struct acl_task of = task_of(allocation, task);
	policy_set_collect_of_task(&set, keeper->state, &of);
	policy_set_fingerprint(&set, &fingerprint);
	struct access *access = make_access(NULL, find_merged(keeper, &set, &fingerprint));
	access->accessor = allocation->id;
	access->token_index = changes;
	access->is_of_task = true;
	policy_set_free(&set);
	return access;
}

// NULL: there is no such task. Under read lock.
static struct access *look_up_task(struct token_keeper *keeper, const struct task_token *token)
{
	const struct allocation *allocation = state_allocation(keeper->state, &token->allocation);
	if (!keeper->keyring || !allocation || allocation_has_ended(allocation))
		return NULL;
	uint64_t changes = keyring_changes(keeper->keyring); // before its keys are asked
	const struct task *task = find_task(keeper, allocation, token);
	return task ? access_of_task(keeper, allocation, task, changes) : NULL;
}

static const struct task *task_named(const struct allocation *allocation, const char *name)
{
	const struct array *tasks = &allocation_group(allocation)->tasks;
	for (uint32_t i = 0; i < tasks->count; i++) {
		const struct task *task = ARRAY_AT(tasks, struct task, i);
		if (strcmp(task->name, name) == 0)
			return task;
	}
	return NULL;
}

struct access *token_keeper_of_task(struct token_keeper *keeper, const struct uuid *node,
	const struct uuid *allocation_id, const char *name)
{
	struct access *access = NULL;
	state_read_begin();
	const struct allocation *a = state_allocation(keeper->state, allocation_id);
	if (a && !allocation_has_ended(a) && uuid_equal(&a->node_id, node)) {
		const struct task *task = task_named(a, name);
		access = task ? access_of_task(keeper, a, task, 0) : NULL;
	}
	state_read_end();
	return access;
}

// What the state says of it now. NULL: there is no such token or task.
static struct access *look_up(
	struct token_keeper *keeper, const struct shown *shown, struct access *before)
{
	struct access *access;
	state_read_begin();
	switch (shown->kind) {
	case SHOWN_TOKEN: access = look_up_token(keeper, &shown->secret, before); break;
	case SHOWN_TASK: access = look_up_task(keeper, &shown->task); break;
	case SHOWN_NOTHING:
	default: access = look_at_policies(keeper, NULL, before);
	}
	state_read_end();
	return access;
}

// A token's secret is as long as no task's, so no two of them are the same bytes.
static struct secret_key key_of(const struct token_keeper *keeper, const struct shown *shown)
{
	struct secret_key key = {{0}};
	if (shown->kind != SHOWN_NOTHING)
		crypto_shorthash_siphashx24((uint8_t *)key.words,
			shown->kind == SHOWN_TASK ? (const void *)&shown->task : &shown->secret,
			shown->kind == SHOWN_TASK ? sizeof shown->task : sizeof shown->secret,
			keeper->key);
	return key;
}

// It takes as long wherever they differ.
static bool keys_equal(const struct secret_key *a, const struct secret_key *b)
{
	return ((a->words[0] ^ b->words[0]) | (a->words[1] ^ b->words[1])) == 0;
}

// The place of a secret, or an empty one, or that of another. Under the lock.
static struct place *place_of(struct token_keeper *keeper, const struct secret_key *key)
{
	struct place *set = keeper->places[key->words[0] % SETS], *empty = NULL;
	for (uint32_t i = 0; i < PLACES_PER_SET; i++) {
		if (!set[i].access)
			empty = &set[i];
		else if (keys_equal(&set[i].key, key))
			return &set[i];
	}
	return empty ? empty : &set[keeper->next_victim++ % PLACES_PER_SET];
}

// Finds what is kept of the secret; *index is when it was looked at. NULL: nothing.
static struct access *take_kept(
	struct token_keeper *keeper, const struct secret_key *key, uint64_t *index)
{
	struct access *access = NULL;
	pthread_mutex_lock(&keeper->lock);
	const struct place *place = place_of(keeper, key);
	if (place->access && keys_equal(&place->key, key)) {
		access = access_hold(place->access);
		*index = place->index;
	}
	pthread_mutex_unlock(&keeper->lock);
	return access;
}

static void keep_access(struct token_keeper *keeper, const struct secret_key *key, uint64_t index,
	struct access *access)
{
	pthread_mutex_lock(&keeper->lock);
	struct place *place = place_of(keeper, key);
	struct access *before = place->access;
	*place = (struct place){*key, index, access_hold(access)};
	pthread_mutex_unlock(&keeper->lock);
	access_release(before);
}

// Allocations change all the time: of what is kept of a task it is asked each time whether its own still runs, and
// whether keys came or went, since that of its token may be gone.
static bool is_over(const struct token_keeper *keeper, const struct access *access)
{
	if (!access->is_of_task)
		return false;
	if (access->token_index != keyring_changes(keeper->keyring))
		return true;
	state_read_begin();
	bool is_alive = access_is_alive(keeper->state, access);
	state_read_end();
	return !is_alive;
}

static struct access *find_access(struct token_keeper *keeper, const struct shown *shown)
{
	uint64_t index, kept_index = 0;
	bool is_settled = tables_index(keeper->state, &index);
	const struct secret_key key = key_of(keeper, shown);
	struct access *kept = take_kept(keeper, &key, &kept_index);
	if (kept && kept_index == index && !is_over(keeper, kept))
		return kept;
	struct access *access = look_up(keeper, shown, kept);
	access_release(kept);
	if (access && is_settled)
		keep_access(keeper, &key, index, access);
	return access;
}

static bool is_on(struct token_keeper *keeper)
{
	if (atomic_load_explicit(&keeper->is_on, memory_order_relaxed))
		return true;
	state_read_begin();
	bool is_bootstrapped = state_acl_is_bootstrapped(keeper->state);
	state_read_end();
	if (is_bootstrapped)
		atomic_store_explicit(&keeper->is_on, true, memory_order_relaxed);
	return is_bootstrapped;
}

static bool shown_read(const char *text, struct shown *shown)
{
	shown->kind = SHOWN_NOTHING;
	if (!text)
		return true;
	if (uuid_parse(text, &shown->secret))
		shown->kind = SHOWN_TOKEN;
	else if (task_token_read(text, &shown->task))
		shown->kind = SHOWN_TASK;
	return shown->kind != SHOWN_NOTHING;
}

bool access_is_alive(const struct state *state, const struct access *access)
{
	if (!access->is_of_task)
		return uuid_is_zero(&access->accessor) || state_acl_token(state, &access->accessor);
	const struct allocation *allocation = state_allocation(state, &access->accessor);
	return allocation && !allocation_has_ended(allocation);
}

enum token_verdict token_keeper_find(
	struct token_keeper *keeper, const char *text, int64_t now_ns, struct access **access)
{
	struct shown shown;
	*access = NULL;
	if (!is_on(keeper))
		return TOKEN_NOT_ASKED;
	if (!shown_read(text, &shown))
		return TOKEN_MALFORMED;
	*access = find_access(keeper, &shown);
	sodium_memzero(
		&shown, shown.kind == SHOWN_TASK ? sizeof shown : offsetof(struct shown, task));
	if (!*access)
		return TOKEN_UNKNOWN;
	int64_t end_ns = (*access)->expiration_time_ns;
	return end_ns == 0 || end_ns > now_ns ? TOKEN_GOOD : TOKEN_EXPIRED;
}
