// How unimportant victims are, from 0 to 1 (docs/spec/scoring.md, "Victims").
#pragma once
#include <stdint.h>

// Of a net priority: the greatest of the victims' priorities, and their sum divided by it.
double victim_score_of_net(double net);
// The most for so many victims or more, none of a priority below the least; exact for so many of that priority.
double victim_score_most(int64_t least, int64_t count);
