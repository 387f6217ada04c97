// What several entries and snapshots store in the same way.
#pragma once
#include "state/log/coder.h"
#include "state/records/alloc_details.h"
#include "state/records/nodes/drain_meta.h"
#include "state/records/resources.h"

coder_function device_set_code;
void resources_code(struct coder *, struct resources *);
void code_report(struct coder *, struct alloc_report **);
void drain_meta_code(struct coder *, struct drain_meta *);
