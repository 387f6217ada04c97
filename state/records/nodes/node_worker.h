// What the settings of a registration say of the node as a worker of virtual machines (rows D10, D11, D28).
// docs/wire.md is the public form of this page.
//
//	name                value
//	"vm.worker"         "1": the node is a worker; "0" or nothing: it is none, and the other settings do not count
//	"vm.machine_id"     of the machine, whatever its node's id; without it the node's id
//	"vm.arch"           any text, as the next one
//	"vm.runtime"
//	"vm.default_cpu"    a number: cpus of a machine that does not say how many
//	"vm.default_memory" the same, MiB
//	"vm.resource.KEY"   a number: how much it has of KEY
//	"vm.label.KEY"      any text
//
// The worker's name is the node's, so one of an empty name cannot be a worker.
#pragma once
#include "state/records/nodes/node_registration.h"

struct vm_worker;

bool node_is_worker(const struct node_registration *);
// Whether each setting of a worker has its form, and all of them are sound together.
bool node_worker_is_sound(const struct node_registration *);
// The worker that a sound description describes, without indexes, never seen; NULL: the node is no worker.
// Caller frees.
struct vm_worker *node_worker(const struct node_registration *);
