// Which differences from the recorded answers are meant, and which recorded shapes nothing of ours shows.
#pragma once
#include "tests/nomad/recorded.h"

// Fails unless what was found is what is meant, and the other way round, and the documentation says so.
void expect_only_meant(const struct recorded *);
// Fails unless every shape was shown but those that are meant not to be.
void expect_all_shown(const struct recorded *);
