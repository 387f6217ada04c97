import assert from "node:assert/strict";
import test from "node:test";
import {History, PLOTS} from "../../../tools/ui/metrics/history.js";

const heartbeats = PLOTS.findIndex(plot => plot.title.startsWith("Heartbeats"));
const text = n => `berth_heartbeats_accepted_total ${n}\nberth_nodes{status="ready"} 7\n`;

test("a rate is what grew by the time that passed", () => {
	const history = new History();
	history.add(text(100), 1000);
	assert.equal(history.points[heartbeats].length, 0);
	history.add(text(300), 3000);
	assert.deepEqual(history.points[heartbeats], [{time: 3000, values: {accepted: 100}}]);
});

test("a counter that began anew leaves a gap", () => {
	const history = new History();
	history.add(text(100), 1000);
	history.add(text(5), 2000);
	history.add(text(15), 3000);
	assert.deepEqual(history.points[heartbeats].map(point => point.values.accepted), [null, 10]);
});

test("a level is told as it is, a quantile of nothing not at all", () => {
	const history = new History();
	history.add(text(0), 1000);
	history.add(text(0), 2000);
	const of = title => history.points[PLOTS.findIndex(plot => plot.title === title)][0].values;
	assert.equal(of("Nodes").ready, 7);
	assert.equal(of("Time of a placement request").median, null);
});

test("what is older than a quarter of an hour is forgotten, and a clock that stands still adds nothing", () => {
	const history = new History();
	for (let minute = 0; minute <= 40; minute++)
		history.add(text(minute), minute * 60000);
	history.add(text(99), 40 * 60000);
	const points = history.points[heartbeats];
	assert.equal(points.at(-1).time, 40 * 60000);
	assert.equal(points[0].time, 25 * 60000);
});
