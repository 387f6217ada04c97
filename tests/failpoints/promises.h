// What a controller with an agent promises, and can break alone (P1 to P10 of docs/security.md): looked at while
// failpoints are walked, and one by one afterwards.
#pragma once
#include "tests/failpoints/live.h"

// Starts both programs and gives them what is looked at: a job that runs, one that fills the node, and a few writes.
void promises_begin(struct live *);
void promises_measure(void); // the memory that both take, before the walk
// Asks for one thing more, of another kind each time; whoever got an answer may rely on it.
void promise_one_more(void);
// What holds at any time, cheap. may_go_down: the node was kept from being heard.
void promises_look(bool may_go_down);

// As cases of cmocka, in an order that the walk says.
void what_was_acknowledged_is_kept(void **);
void no_slot_is_taken_twice_and_no_task_ran_twice(void **);
void no_node_is_overcommitted(void **);
void a_live_node_is_never_down(void **);
void a_frame_that_is_not_authentic_changes_a_counter_alone(void **);
void the_state_after_a_start_is_the_state_before(void **);
void a_crowd_of_clients_leaves_heartbeats_alone(void **);
void indexes_never_go_back(void **);
void memory_is_bounded(void **);
