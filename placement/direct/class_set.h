// What one kind of group asks of node classes, kept from one decision to the next: which classes it takes, with which
// score, and how many nodes are refused or short of what. Whatever a class decides is the same for all its nodes, so a
// decision looks at these numbers and searches the fit tree for nodes.
#pragma once
#include "placement/direct/class_tallies.h"
#include "placement/direct/fit_index.h"

enum class_verdict_of_group {
	CLASS_UNJUDGED,
	CLASS_UNTARGETED, // of another datacenter or pool
	CLASS_REFUSED,
	CLASS_TAKEN,
};

struct class_judgement {
	enum class_verdict_of_group verdict;
	const char *refusal; // why it is refused; valid until the judge is called again
	bool by_job;         // refused by what the whole job asks
	double affinity;     // of a class that is taken
};

// Judges one class for the group.
typedef void class_judge(void *context, const struct node_class *, struct class_judgement *);

// FIT_SHORTAGES: of nothing. The node must be ready.
enum fit_shortage fit_shortage_of(const struct fit_node *, const struct resources *ask);

struct class_in_set {
	uint64_t since; // the class that was judged: fit_index_class_since()
	enum class_verdict_of_group verdict;
	bool by_job;
	double affinity;
	uint32_t group;                   // of a class that is taken; CLASS_GROUPS_MAX: none
	uint32_t available;               // its tallies
	uint32_t tally;                   // among those refused, or short
	uint32_t ready;                   // nodes
	uint32_t short_of[FIT_SHORTAGES]; // of those
};

// The classes of one affinity.
struct class_group {
	double affinity;
	uint64_t bits;     // as fit_query wants them
	uint64_t *classes; // bit map by class
};

// More different affinities than this are not worth a search each.
#define CLASS_GROUPS_MAX 16u

// To be read between class_sets_take() and class_sets_give().
struct class_set {
	uint64_t hash;
	void *key;
	uint32_t key_bytes;
	struct resources ask;
	uint32_t takers;
	uint64_t used_at;             // the set with the least goes first
	struct class_in_set *classes; // by id
	uint32_t class_count, class_room;
	struct class_tallies tallies;
	struct class_group groups[CLASS_GROUPS_MAX];
	uint32_t group_count;
	bool has_too_many_groups; // then groups say nothing
	uint64_t class_epoch;     // of the index, when classes were judged last
	uint64_t seen;            // changes of the index that are counted
	bool is_counted;
};

struct class_set *class_set_create(
	const void *key, uint32_t key_bytes, uint64_t hash, const struct resources *ask);
void class_set_destroy(struct class_set *);
// Brings the set up to the index.
void class_set_follow(struct class_set *, const struct fit_index *, class_judge *, void *context);
