// Virtual machines and workers of tests, and what is asked for of them.
#pragma once
#include "state/records/nodes/vm.h"
#include "tests/state/plans.h"

struct vm *build_vm(const char *name, int64_t cores); // asks for these; the caller's until created
struct vm_worker *build_worker(const char *name, const char *machine_id, int64_t cores);

enum command_outcome create_vm(struct controller *, struct vm *); // frees what is refused
enum command_outcome delete_vm(struct controller *, const char *name);
enum command_outcome set_power(struct controller *, const char *name, enum vm_power);
// uid NULL: that of the machine that is there.
enum command_outcome report_vm(
	struct controller *, const char *name, const char *uid, struct command_vm_report *);
uint32_t judge_vm(struct controller *, const char *name); // how many changed
// A copy of what is published, or NULL; the caller frees.
struct vm *published_vm(const struct controller *, const char *name);
// By the version of the worker that is there; with the machine's own uid.
enum vm_assign_result assign_vm(struct controller *, const char *name, const char *worker);
enum vm_assign_result assign_chosen(
	struct controller *, const char *name, const char *worker, uint64_t worker_modify_index);

// Whether shares of machines take room of their workers (row D16); they do until this says otherwise.
void count_assigned(struct controller *, bool counts);

enum command_outcome put_worker(struct controller *, struct vm_worker *); // frees what is refused
enum command_outcome see_worker(struct controller *, const char *name);
enum command_outcome pause_worker(struct controller *, const char *name, bool paused);
enum command_outcome delete_worker(struct controller *, const char *name);
uint64_t worker_index(
	const struct controller *, const char *name); // of its newest version; 0: none
void settle(struct controller *);                     // what is gone is buried

// Settings of a registration, until one without a name; those that do not begin with "vm." are attributes.
struct worker_setting {
	const char *name, *value;
};
// The node of that number under another name and with these settings; what was made of it is in result, which may be
// NULL.
enum command_outcome register_worker(struct controller *, uint32_t number, const char *name,
	const struct worker_setting *, struct node_registration *result);
// A copy of what is published, or NULL; the caller frees.
struct vm_worker *published_worker(const struct controller *, const char *name);
