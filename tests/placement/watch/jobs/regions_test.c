#include "placement/watch/jobs/regions.h"
#include "state/base/prng.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum {
	RUN = DEPLOYMENT_RUNNING,
	PAU = DEPLOYMENT_PAUSED,
	FAI = DEPLOYMENT_FAILED,
	SUC = DEPLOYMENT_SUCCESSFUL,
	CAN = DEPLOYMENT_CANCELLED,
	INI = DEPLOYMENT_INITIALIZING,
	PEN = DEPLOYMENT_PENDING,
	BLO = DEPLOYMENT_BLOCKED,
	UNB = DEPLOYMENT_UNBLOCKING,
	UNK = REGION_UNKNOWN,
	ABS = REGION_ABSENT,
};

struct row {
	int seen[3];
	int64_t max_parallel;
	const char *on_failure;
	enum region_step steps[3];
};

#define W REGION_WAIT
#define R REGION_RUN
#define U REGION_UNBLOCK
#define F REGION_FAIL

static const struct row rows[] = {
	// C37: no region begins before all have the job.
	{{PEN, PEN, ABS}, 0, "", {W, W, W}},
	{{PEN, PEN, INI}, 0, "", {W, W, W}},
	{{PEN, PEN, UNK}, 1, "", {W, W, W}},
	// C39: all regions begin, or the first.
	{{PEN, PEN, PEN}, 0, "", {R, R, R}},
	{{PEN, PEN, PEN}, 1, "", {R, W, W}},
	{{PEN, PEN, PEN}, 2, "", {R, R, W}},
	{{RUN, PEN, PEN}, 1, "", {W, W, W}},
	{{RUN, PEN, PEN}, 2, "", {W, R, W}},
	{{BLO, PEN, PEN}, 1, "", {W, R, W}},
	{{BLO, RUN, PEN}, 2, "", {W, W, R}},
	// A region that an operator paused counts as running, and is left alone.
	{{PAU, PEN, PEN}, 1, "", {W, W, W}},
	{{PAU, BLO, BLO}, 1, "", {W, W, W}},
	// C40: the last region unblocks all.
	{{BLO, BLO, RUN}, 1, "", {W, W, W}},
	{{BLO, BLO, BLO}, 1, "", {U, U, U}},
	{{SUC, UNB, BLO}, 1, "", {W, W, U}},
	{{BLO, BLO, UNK}, 1, "", {W, W, W}},
	{{BLO, CAN, BLO}, 1, "", {U, W, U}},
	// C41.
	{{BLO, FAI, PEN}, 1, "", {W, W, F}},
	{{BLO, FAI, PEN}, 1, NULL, {W, W, F}},
	{{BLO, FAI, FAI}, 1, "", {U, W, W}},
	{{RUN, FAI, RUN}, 0, "", {W, W, F}},
	{{BLO, FAI, PEN}, 1, "fail_all", {F, W, F}},
	{{SUC, FAI, RUN}, 1, "fail_all", {W, W, F}},
	{{BLO, FAI, PEN}, 1, "fail_local", {W, W, R}},
	{{BLO, FAI, BLO}, 1, "fail_local", {U, W, U}},
	{{FAI, PAU, INI}, 1, "", {W, W, F}},
	{{FAI, ABS, PEN}, 1, "", {W, W, F}},
};

static void every_row(void **state)
{
	for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct row *row = &rows[i];
		struct rollout r = {row->seen, 3, row->max_parallel, row->on_failure};
		for (uint32_t self = 0; self < 3; self++)
			if (row->seen[self] < DEPLOYMENT_STATUSES &&
				region_next_step(&r, self) != row->steps[self])
				fail_msg("row %u, region %u: %d", i, self,
					region_next_step(&r, self));
	}
}

// Regions that see each other late never run more at a time than allowed, and all end.
enum { REGIONS = 5, STEPS = 20000 };

struct world {
	int now[REGIONS];
	int seen[REGIONS][REGIONS]; // by whom, of whom: any earlier status
};

static void look(struct world *w, uint32_t self, uint32_t other)
{
	w->seen[self][other] = w->now[other];
}

static void step(struct world *w, struct prng *prng, int64_t max_parallel)
{
	uint32_t self = (uint32_t)prng_below(prng, REGIONS);

	look(w, self, (uint32_t)prng_below(prng, REGIONS));
	look(w, self, self);
	if (w->now[self] == RUN && prng_below(prng, 4) == 0)
		w->now[self] = BLO;
	if (w->now[self] == INI && prng_below(prng, 4) == 0)
		w->now[self] = PEN;
	look(w, self, self);
	struct rollout r = {w->seen[self], REGIONS, max_parallel, ""};
	enum region_step next = region_next_step(&r, self);
	if (next == REGION_RUN)
		w->now[self] = RUN;
	else if (next == REGION_UNBLOCK)
		w->now[self] = SUC;
	assert_int_not_equal(next, REGION_FAIL);
}

static void check(const struct world *w, int64_t max_parallel)
{
	uint32_t running = 0, begun = 0, waiting = 0, ended = 0;

	for (uint32_t i = 0; i < REGIONS; i++) {
		running += w->now[i] == RUN;
		begun += w->now[i] == RUN || w->now[i] == BLO || w->now[i] == SUC;
		waiting += w->now[i] == INI;
		ended += w->now[i] == SUC;
	}
	assert_true(max_parallel == 0 || running <= max_parallel);
	assert_true(begun == 0 || waiting == 0);
	assert_true(ended == 0 || begun == REGIONS);
	// They begin in order.
	for (uint32_t i = 1; max_parallel == 1 && i < REGIONS; i++)
		assert_true(w->now[i] == PEN || w->now[i] == INI ||
			    (w->now[i - 1] != PEN && w->now[i - 1] != INI));
}

static void late_news_do_no_harm(void **state)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct world w;
		struct prng prng;
		int64_t max_parallel = (int64_t)(seed % 4);
		prng_seed(&prng, seed);
		for (uint32_t i = 0; i < REGIONS; i++) {
			w.now[i] = INI;
			for (uint32_t n = 0; n < REGIONS; n++)
				w.seen[i][n] = n == i ? INI : ABS;
		}
		for (uint32_t i = 0; i < STEPS; i++) {
			step(&w, &prng, max_parallel);
			check(&w, max_parallel);
		}
		for (uint32_t i = 0; i < REGIONS; i++)
			assert_int_equal(w.now[i], SUC);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row),
		cmocka_unit_test(late_news_do_no_harm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
