// Lists of allocations that were chosen by their ids.
#pragma once
#include "tools/api/lists/id_list.h"

// Answers with the allocations collected, in their long form when the list is detailed. Frees the list.
void allocation_list_answer(struct id_list *, uint64_t index, struct request *, struct reply *);
