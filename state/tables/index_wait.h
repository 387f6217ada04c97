// Waiting for a newer state. For state/ only.
#pragma once

struct index_wait;

struct index_wait *index_wait_create(void);
void index_wait_destroy(struct index_wait *);
void index_wait_wake(struct index_wait *);
