// Rules of what nodes may claim to be when they register, and nodes that were refused by them.
#pragma once
#include "state/base/limits.h"
#include "state/base/schema.h"
#include "state/base/text.h"
#include "state/base/uuid.h"
#include "state/records/record.h"

// Whom a rule is about: the id of a node, a name, or a glob that either fits. Names are the nodes' own word, ids are
// not: a key is good for one id.
struct admit_rule {
	struct record record; // first
	char *pattern;
	struct array pools, datacenters, classes; // char *, globs; none: any
	// The most that the node may have; not set: as much as it says.
	struct optional_i64 cpu_mhz, memory_mb, disk_mb, devices;
};

extern const struct record_type admit_rule_description;

bool admit_rule_is_sound(const struct admit_rule *);
bool admit_rule_is_glob(const struct admit_rule *);
// The rule that stands first counts: the one with more characters beside '*', then the one whose pattern is less.
int admit_rule_order(const struct admit_rule *, const struct admit_rule *);

// What a node says of itself, as far as rules are about it.
struct admit_claim {
	struct uuid id;
	const char *name, *pool, *datacenter, *class_name;
	int64_t cpu_mhz, memory_mb, disk_mb, devices; // devices: instances of all groups together
};

// What of a claim goes too far. Stored, and on the wire in `value` of REFUSED: numbers are never given again.
enum admission {
	ADMIT,
	ADMIT_UNKNOWN,
	ADMIT_POOL,
	ADMIT_DATACENTER,
	ADMIT_CLASS,
	ADMIT_CPU,
	ADMIT_MEMORY,
	ADMIT_DISK,
	ADMIT_DEVICES,
	ADMIT_CLONE, // by no rule: another agent has its id and key. Not in REFUSED not-admitted
	ADMISSIONS
};
extern const char *const admission_names[]; // "admitted" "unknown" "pool" … NULL

bool admit_rule_fits(const struct admit_rule *, const struct admit_claim *);
enum admission admit_rule_judge(const struct admit_rule *, const struct admit_claim *);

// A node that wanted to register and was not admitted; or, ADMIT_CLONE, an agent that is the clone of another one. Such
// a note stays until an operator clears it.
struct refused_node {
	struct record record; // first
	struct uuid id;
	char *name, *address, *pool, *datacenter, *class_name; // as it said
	int claim;                                             // enum admission
	char *pattern;                                         // of the rule; "": none
	int64_t first_ns, newest_ns;
	// Of a clone; its `address` is where it sends from.
	char *beside; // where the agent that keeps the node sends from
	char *boot;   // of the clone, in hexadecimal digits; "": it does not say
};

extern const struct record_type refused_node_description;
