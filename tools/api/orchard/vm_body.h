// Reads bodies of requests about virtual machines: records in Orchard's JSON, without the members that clients may not
// set.
#pragma once
#include "state/records/nodes/vm.h"
#include "tools/api/server/request.h"
#include "tools/json/json_reader.h"

// False when the report has errors; the reply names every wrong value.
bool report_is_clean(const struct json_report *, struct reply *);
// False when a name or a text of the record is too long; the reply says which.
bool texts_are_fit(
	const struct record_type *, const void *record, const char *path, struct reply *);

// Reads a machine without the members that only the controller sets. NULL with a reply.
struct vm *vm_body_read(json_t *body, struct json_report *, struct reply *);
// The first member in the body that differs from the machine, or NULL; the power state may differ. said: the body as a
// machine.
const char *vm_body_differs(json_t *body, const struct vm *said, const struct vm *vm);

// Reads a worker that an operator keeps. NULL with a reply.
struct vm_worker *vm_worker_body_read(json_t *body, struct json_report *, struct reply *);
