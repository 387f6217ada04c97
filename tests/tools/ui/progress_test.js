import assert from "node:assert/strict";
import test from "node:test";
import {progress} from "../../../tools/ui/jobs/progress.js";

const group = more => ({DesiredTotal: 4, DesiredCanaries: 0, PlacedAllocs: 0, HealthyAllocs: 0, UnhealthyAllocs: 0, ...more});

test("a rollout's parts are parts of what is wanted", () => {
	assert.deepEqual(progress(group({PlacedAllocs: 3, HealthyAllocs: 2, UnhealthyAllocs: 1})),
		{healthy: 50, unhealthy: 25, placed: 0});
	assert.deepEqual(progress(group({PlacedAllocs: 4, HealthyAllocs: 1})), {healthy: 25, unhealthy: 0, placed: 75});
});

test("more than all is all", () => {
	const parts = progress(group({PlacedAllocs: 9, HealthyAllocs: 8}));
	assert.equal(parts.healthy, 100);
	assert.equal(parts.placed, 0);
});

test("nothing wanted is nothing done", () => {
	assert.deepEqual(progress(group({DesiredTotal: 0})), {healthy: 0, unhealthy: 0, placed: 0});
});
