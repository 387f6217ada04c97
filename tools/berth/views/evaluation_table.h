// Lists of evaluations.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

// Newest first.
void evaluation_table_print(json_t *evaluations, bool whole_ids, uint32_t indent);
