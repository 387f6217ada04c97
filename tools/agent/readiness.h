// Reports the answers of the node's probe to the controller. The agent runs the probe when the controller asks, and
// after each allocation that ends here: the report of the end waits for the answer and says whether the node is ready.
// A node that was not ready registers again once it is.
#pragma once
#include "dataplane/wire/wire.h"
#include "tools/agent/runner.h"
#include "tools/agent/task/probe.h"

struct readiness {
	struct probe probe;
	struct runner *runner;
	bool is_wanted;  // the controller's newest answer asks for it
	bool is_held;    // a report waits for the probe
	bool is_unready; // a report said that the node is not ready
	bool has_news;   // the controller does not know the probe's newest answer
	bool is_on_way;  // that answer has been sent
};

void readiness_open(struct readiness *, struct runner *, const struct probe_settings *);
void readiness_close(struct readiness *);
// Takes the directives of a heartbeat's answer.
void readiness_heard(struct readiness *, uint32_t directives, uint64_t now_ns);
// Call after runner_step(). True: the agent registers the node again.
bool readiness_step(struct readiness *, uint64_t now_ns);
// When to step it again if nothing happens before.
static inline uint64_t readiness_due_ns(const struct readiness *r)
{
	return probe_due_ns(&r->probe);
}
// The readiness to send now.
struct wire_readiness readiness_tell(struct readiness *);
// The controller has acknowledged the readiness that was sent.
void readiness_told(struct readiness *);
