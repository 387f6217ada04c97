// What one kind of group asks of node classes, kept from one decision to the next: which classes it takes, with which
// score, and how many nodes are refused or short of what. Whatever a class decides is the same for all its nodes, so a
// decision looks at these numbers and searches the fit tree for nodes.
#pragma once
#include "placement/direct/classes/class_kinds.h"
#include "placement/direct/classes/class_tallies.h"
#include "placement/direct/classes/class_values.h"
#include "placement/direct/classes/own_refusals.h"
#include "placement/direct/fit_index.h"
#include "state/base/limits.h"

enum class_verdict_of_group {
	CLASS_UNJUDGED,
	CLASS_UNTARGETED, // of another datacenter or pool
	CLASS_REFUSED,
	CLASS_TAKEN,
};

// Properties whose values tell the classes of a group apart (spreads, distinct properties): as many as a job may have.
#define CLASS_VALUES_MAX (JOB_RANKINGS_MAX + JOB_CONSTRAINTS_MAX)
// The classes of a property with at most so many values are grouped by value, unless that makes too many groups.
#define CLASS_VALUES_FEW 16u

struct class_judgement {
	enum class_verdict_of_group verdict;
	const char *refusal; // why it is refused; valid until the judge is called again
	bool by_job;         // refused by what the whole job asks
	// Of a class that is taken.
	double affinity;
	// By property, as many as the ask says.
	const char *values[CLASS_VALUES_MAX]; // NULL: it has none; valid as the refusal
	uint32_t marks[CLASS_VALUES_MAX];     // what the group sees in values that are not few
};

// What a set is about, besides its key.
struct class_ask {
	struct resources room;
	uint32_t values;     // properties
	bool rates_nodes;    // each by itself, affinity included: that makes no groups of classes
	uint32_t by_first;   // 1: a class's first node speaks for all of them
	node_judge *by_node; // nodes of a class may differ; NULL: but for their room they do not
	// What the judge looks at of classes, in order: the set knows kinds of them instead. The caller frees. NULL:
	// nobody knows, or nodes decide, too.
	struct look_bytes (*looks)(void *context);
	kind_speech *speech; // if networks are among the looks; NULL: they are not
};

#define CLASS_WITHOUT_NODES UINT32_MAX

// Judges one class for the group, which may stand for others of its kind. first: its ready node with the lowest slot,
// if the ask is by_first or has a speech; CLASS_WITHOUT_NODES: all of them are refused before what the class says
// matters.
typedef void class_judge(
	void *context, const struct node_class *, uint32_t first, struct class_judgement *);

// FIT_SHORTAGES: of nothing. The node must be ready.
enum fit_shortage fit_shortage_of(const struct fit_node *, const struct resources *room);

// A class of the fleet, or all of one kind.
struct class_in_set {
	uint64_t since; // what was judged: fit_index_class_since(), or that of the kind
	enum class_verdict_of_group verdict;
	bool by_job;
	double affinity;
	uint32_t group;                       // of a class that is taken; CLASS_GROUPS_MAX: none
	uint32_t available;                   // its tallies
	uint32_t tally;                       // among those refused, or short
	uint32_t ready;                       // nodes
	uint32_t ready_classes;               // those of a kind that have some
	uint32_t refused_first, refused_last; // of those, refused for what is their own
	uint32_t short_of[FIT_SHORTAGES];     // of those that are not
	uint32_t aside;                       // the first of its asides, counted from 1; 0: none
	uint32_t
		first; // the lowest slot that may speak, if the ask is by_first; CLASS_WITHOUT_NODES
	bool is_stale; // another node speaks for it, or the same speaks otherwise
};

// Nodes of one class that are refused for what is their own, for one reason.
struct class_aside {
	uint32_t reason, nodes, tally;
	uint32_t next; // of the class, counted from 1; 0: none
};

// Ready nodes for which the verdict on the class holds.
static inline uint32_t class_in_set_nodes(const struct class_in_set *c)
{
	return c->ready - (c->by_job ? 0 : c->refused_first) -
	       (c->verdict == CLASS_TAKEN ? c->refused_last : 0);
}

// The classes of one affinity, unless nodes are rated by themselves, and of one value or mark of each property.
struct class_group {
	double affinity;         // 0 where its classes have several
	uint32_t *marks;         // by property
	uint64_t bits;           // as fit_query wants them
	uint64_t *classes;       // bit map, as the set's classes
	uint32_t ready;          // nodes that are not refused for what is their own
	struct class_best *best; // what class_set_best() keeps; NULL: nobody asked for it
};

// More groups than these few are made only where nothing makes them fewer: each may take a search.
#define CLASS_GROUPS_FEW 64u
#define CLASS_GROUPS_MAX 1024u

// To be read between class_sets_take() and class_sets_give().
struct class_set {
	uint64_t hash;
	void *key;
	uint32_t key_bytes;
	struct class_ask ask;
	uint32_t takers;
	uint64_t used_at;             // the set with the least goes first
	struct class_kinds *kinds;    // NULL: each class is by itself
	struct class_in_set *classes; // by kind, or by id
	uint32_t class_count, class_room;
	struct class_tallies tallies;
	struct own_refusals own; // if the ask is by_node
	struct class_aside *asides;
	uint32_t aside_count, aside_room;
	struct class_values *values; // by property
	uint32_t *marks;             // by class and property
	uint32_t *sought;            // marks of the group that is looked for
	uint32_t few_most;           // values of a property that are few
	bool *are_few;               // by property: those are the marks of its groups
	struct class_group *groups;
	uint32_t group_count, group_room;
	uint32_t groups_most;     // that are made
	bool mixes_affinities;    // groups are of any affinity, because it would make too many
	bool has_too_many_groups; // then groups say nothing
	uint64_t class_epoch;     // of the index or its kinds, when classes were judged last
	uint64_t judged;          // how often a class was
	uint64_t seen;            // changes of the index that are counted
	bool is_counted;
	bool has_stale, has_lost_first; // classes
	void *attached;                 // what somebody keeps with the set; NULL: nothing
	void (*release_attached)(void *);
};

// kinds: NULL: each class is by itself.
struct class_set *class_set_create(const void *key, uint32_t key_bytes, uint64_t hash,
	const struct class_ask *, struct class_kinds *kinds);
void class_set_destroy(struct class_set *); // without groups
// The number of a slot's node among the set's classes, and that of a class that has nodes.
static inline uint32_t class_set_number(
	const struct class_set *s, uint32_t slot, const struct fit_node *n)
{
	return s->kinds ? s->kinds->of_slot[slot] : n->node_class;
}
static inline uint32_t class_set_number_of_class(const struct class_set *s, uint32_t id)
{
	return s->kinds ? s->kinds->of_class[id] : id;
}
static inline const struct class_in_set *class_set_of(
	const struct class_set *s, uint32_t slot, const struct fit_node *n)
{
	return &s->classes[class_set_number(s, slot, n)];
}
// What the group sees in the values of a class, by property.
static inline uint32_t *class_set_marks(const struct class_set *s, uint32_t number)
{
	return &s->marks[(size_t)number * s->ask.values];
}
// The record of one of the fleet's classes, or of any of a kind; NULL: no node is in it.
const struct node_class *class_set_class(
	const struct class_set *, const struct fit_index *, uint32_t number);
// Goes through the fleet's classes that one of the set stands for.
#define CLASS_NONE UINT32_MAX
static inline uint32_t class_set_first(const struct class_set *s, uint32_t number)
{
	return s->kinds ? s->kinds->kinds[number].first - 1 : number;
}
static inline uint32_t class_set_next(const struct class_set *s, uint32_t id)
{
	return s->kinds ? s->kinds->classes[id].next - 1 : CLASS_NONE;
}
// Bit (class mod 64) of each class.
static inline uint64_t class_set_bits(const struct class_set *s, uint32_t number)
{
	return s->kinds ? s->kinds->kinds[number].bits : 1ull << number % 64;
}
// Whether a ready node is not refused for what is its own.
static inline bool class_set_passes(const struct class_set *s, uint32_t slot)
{
	return !s->ask.by_node || !s->own.of[slot];
}
// Brings the set up to the index. Returns whether its classes are to be put in groups again (class_groups.h).
bool class_set_follow(struct class_set *, const struct fit_index *, class_judge *, void *context);
