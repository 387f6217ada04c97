// How good the nodes of a fleet are for one kind of group that tells nodes of a class apart by more than their room:
// the score of each, and how many are short of what. Kept by changes. Holds for nodes that hold nothing of the job and
// that its plan does not touch.
#pragma once
#include "placement/direct/classes/bounds_best.h"
#include "placement/direct/classes/class_set.h"
#include "placement/direct/classes/score_trees.h"

// What a node may be short of, besides enum fit_shortage: devices, then cores come before those.
#define SHORT_OF_DEVICES FIT_SHORTAGES
#define SHORT_OF_CORES (FIT_SHORTAGES + 1u)
#define NODE_SHORTAGES (FIT_SHORTAGES + 2u)

// What the group asks of single nodes, always the same for one set.
struct rating_ask {
	// The affinity of a node, asked for again when the node is described anew; NULL: that of its class.
	double (*affinity)(void *context, uint32_t slot);
	// Whether so many free devices will do, and their score; NULL: devices have none.
	bool (*devices)(void *context, const struct node_class *,
		const uint8_t free[NODE_DEVICE_GROUPS_MAX], double *score);
	// What the node is asked for of cpu, because cores stand for it there, asked for again when the node is
	// described anew; NULL: as much as others.
	uint32_t (*cpu)(void *context, uint32_t slot);
	// Whether enough cores are free, asked for again when something changed there; NULL: none are wanted.
	bool (*cores)(void *context, uint32_t slot);
	// The rank of a node by what its last snapshot was, or NULL when it is not idle; NULL: nodes have none.
	uint8_t (*rank)(void *context, const char *snapshot);
	// Spreads come to the scores of nodes, of which not all in a group have equally many: no mean ranks them.
	bool by_sums;
	void *context;
};

struct rated_devices {
	uint64_t since; // fit_index_class_since(); 0: nothing was rated yet
	uint32_t node_class;
	uint8_t free[NODE_DEVICE_GROUPS_MAX];
	bool will_do;
	double score;
};

struct node_ratings {
	// Exact but for what is noticed when a node is tried.
	struct bounds_tree tree; // scores, unless by_sums
	struct score_trees
		sums; // if by_sums: of scores, by the group of the node's class, their number and the rank
	struct bounds_best best; // of the tree
	double *affinities;      // by slot; NULL: classes have them
	double *devices;         // by slot, their scores; NULL: they have none
	uint32_t *cpu_mhz;       // by slot, that is asked for; NULL: the same everywhere
	uint8_t *shortages;      // by slot; NODE_SHORTAGES: none
	uint32_t *classes;       // by slot: in which it is counted
	uint32_t (*of_tally)[NODE_SHORTAGES]; // nodes that are short, by tally of those of the set
	uint32_t (*of_class)[NODE_SHORTAGES]; // and by class
	uint32_t slots;
	uint64_t seen;   // changes of the index
	uint64_t judged; // classes by the set
	bool is_begun, by_sums;
	struct rated_devices newest;
};

// The group by which nodes of a class are in the trees of sums: trees of many would take much memory.
static inline uint32_t node_ratings_group(const struct class_set *s, uint32_t group)
{
	return s->group_count > CLASS_GROUPS_FEW ? 0 : group;
}

// The ratings that belong to a set, up to date with it and the index; valid until the set is given back.
struct node_ratings *node_ratings_of(
	struct class_set *, const struct fit_index *, const struct rating_ask *);
