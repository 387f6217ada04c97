// Bodies of requests about virtual machines: records in Orchard's JSON, as far as clients may say them.
#pragma once
#include "state/records/nodes/vm.h"
#include "tools/api/server/request.h"
#include "tools/json/json_reader.h"

// False when the report has errors; the reply names every value that is wrong.
bool report_is_clean(const struct json_report *, struct reply *);
// False when a name or a text of the record is too long; the reply says which.
bool texts_are_fit(
	const struct record_type *, const void *record, const char *path, struct reply *);

// What a client may say of a machine: without what only the controller says. NULL with a reply.
struct vm *vm_body_read(json_t *body, struct json_report *, struct reply *);
// The first member that the body gives and that differs from the machine, or NULL; the power state may differ.
// said: the body, read.
const char *vm_body_differs(json_t *body, const struct vm *said, const struct vm *vm);

// A worker that is kept by hand. NULL with a reply.
struct vm_worker *vm_worker_body_read(json_t *body, struct json_report *, struct reply *);
