import assert from "node:assert/strict";
import test from "node:test";
import {css, MODES, ramp, STATE_COLOURS} from "../../../tools/ui/fleet/colours.js";
import {Fleet, STATES} from "../../../tools/ui/fleet/model.js";
import {row, whole} from "./fleet_rows.js";

function someFleet() {
	const fleet = new Fleet();
	fleet.apply(whole([
		row(0, {cpuUsed: 100, nodeClass: "gpu"}), row(1, {cpuUsed: 990, status: "down"}), row(2, {cpu: 0}),
		row(3, {datacenter: "dc2", isEligible: false}),
	]));
	return fleet;
}

test("each state has a colour of its own", () => {
	assert.equal(STATE_COLOURS.length, STATES.length);
	assert.equal(new Set(STATE_COLOURS).size, STATES.length);
});

test("colours are written as the browser wants them", () => {
	assert.equal(css(0x00000a), "#00000a");
	assert.equal(css(0xd62839), "#d62839");
});

test("the ramp goes from one end to the other, and not beyond", () => {
	assert.equal(ramp(-1), ramp(0));
	assert.equal(ramp(2), ramp(1));
	assert.notEqual(ramp(0), ramp(1));
	assert.notEqual(ramp(0.4), ramp(0.5));
});

test("every way of colouring has a colour for each node, and a legend that counts them all", () => {
	const fleet = someFleet();
	for (const mode of Object.values(MODES)) {
		for (let slot = 0; slot < fleet.size; slot++)
			assert.ok(mode.colour(fleet, slot) >= 0 && mode.colour(fleet, slot) <= 0xffffff, mode.label);
		assert.equal(mode.legend(fleet).reduce((sum, line) => sum + line.count, 0), 4, mode.label);
	}
});

test("a legend tells what there is", () => {
	const fleet = someFleet();
	assert.deepEqual(MODES.status.legend(fleet).map(line => line.label), ["ready", "ineligible", "down"]);
	assert.deepEqual(MODES.class.legend(fleet).map(line => line.label), ["gpu", "(none)"]);
	assert.deepEqual(MODES.cpu.legend(fleet).map(line => line.count), [3, 0, 0, 1]);
});
