// The classes of a fleet by what is looked at of them: however many there are, those that say the same of all of that
// are of one kind. Kept by changes, for each list of looks that somebody has. One thread.
#pragma once
#include "placement/direct/classes/class_looks.h"
#include "placement/direct/fit_index.h"

#define KIND_NONE UINT32_MAX

// A number may come to mean another kind; since tells, as that of the index's classes.
struct class_kind {
	struct look_bytes seen; // of each of its classes
	uint64_t hash, since;
	uint64_t bits;  // bit (class mod 64) of each class that it had
	uint32_t first; // of its classes, counted from 1; 0: it has none, and its number is free
	uint32_t ready_classes; // those with ready nodes
	uint32_t next;          // of the same bucket, or free as well; counted from 1
};

// What is known of a class.
struct kind_of_class {
	uint64_t since;          // fit_index_class_since(); 0: it has no kind
	uint32_t next, previous; // of the same kind, counted from 1
	uint32_t
		speaker; // the ready node with the lowest slot, if networks are looked at; SPEAKER_NONE
	bool is_ready, is_stale; // it has ready nodes; it is to be seen again
};
#define SPEAKER_NONE UINT32_MAX

// The kinds of a slot before and behind a change of the index, KIND_NONE: nothing was there. Those between two changes
// of one slot may be told early.
struct kind_change {
	uint32_t before, after;
};

struct class_kinds {
	struct look_bytes key;
	struct class_looks looks;
	uint32_t takers;
	struct class_kind *kinds;
	uint32_t count, room, free;
	uint32_t *buckets, mask; // by hash, counted from 1
	uint32_t *of_class;      // kind, by class; KIND_NONE: the class has no nodes
	uint32_t *of_slot;       // and by slot
	struct kind_of_class *classes;
	uint32_t class_count, class_room, slots, slot_room;
	uint32_t *stale, stale_count, stale_room; // classes
	uint64_t seen, from; // changes of the index; the log holds those from there on
	uint64_t
		class_epoch; // grows with every class that gets its kind, and when somebody speaks for one
	struct kind_change *log; // of FIT_LOG_CHANGES
	struct look_bytes newest;
};

// Takes the key over: looks in order.
struct class_kinds *class_kinds_create(struct look_bytes key);
void class_kinds_destroy(struct class_kinds *);
// Adds what the slot's node says of networks; it speaks for its class.
typedef void kind_speech(void *context, uint32_t slot, struct look_bytes *seen);

// Brings the kinds up to the index. speech: NULL will do where nobody looks at networks.
void class_kinds_follow(
	struct class_kinds *, const struct fit_index *, kind_speech *, void *context);
// A node that speaks for one of the classes; SPEAKER_NONE: nobody looks at networks, or no node is ready.
uint32_t class_kinds_speaker(const struct class_kinds *, uint32_t kind);
// One of the classes; NULL: the kind has none. Alive as long as the index's.
const struct node_class *class_kinds_class(
	const struct class_kinds *, const struct fit_index *, uint32_t kind);
// Of a change that the log holds.
const struct kind_change *class_kinds_change(const struct class_kinds *, uint64_t number);
