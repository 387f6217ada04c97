import assert from "node:assert/strict";
import test from "node:test";
import {layOut, slotNear} from "../../../tools/ui/fleet/layout.js";
import {Fleet} from "../../../tools/ui/fleet/model.js";
import {row, whole} from "./fleet_rows.js";

function fleetOf(nodes, datacenters = 1) {
	const fleet = new Fleet();
	fleet.apply(whole(Array.from({length: nodes}, (_, i) => row(i, {datacenter: `dc${i % datacenters + 1}`}))));
	return fleet;
}

const alone = () => null;

test("each node has one cell, and each cell at most one node", () => {
	for (const [nodes, datacenters] of [[1, 1], [10, 3], [1000, 7], [20000, 2]]) {
		const fleet = fleetOf(nodes, datacenters);
		const layout = layOut(fleet, slot => fleet.word(slot, "datacenter"), 1200, 500);
		const seen = new Set();
		for (let slot = 0; slot < nodes; slot++) {
			assert.equal(layout.slotAt[layout.cellOf[slot]], slot);
			seen.add(layout.cellOf[slot]);
		}
		assert.equal(seen.size, nodes);
		assert.equal(layout.slotAt.filter(slot => slot >= 0).length, nodes);
	}
});

test("all of it fits into the view, and uses it", () => {
	for (const [nodes, groups] of [[300, 3], [5000, 1], [100000, 5]]) {
		const fleet = fleetOf(nodes, groups);
		const layout = layOut(fleet, slot => fleet.word(slot, "datacenter"), 1300, 460);
		assert.ok(layout.rows * layout.side <= 460.5, `${layout.rows} rows of ${layout.side}`);
		assert.ok(layout.columns * layout.side <= 1300.5);
		assert.ok(nodes * layout.side ** 2 > 0.25 * 1300 * 460 || layout.side > 20, `cells of ${layout.side}`);
	}
});

test("groups come in the order of their names, numbers as numbers, and do not share rows", () => {
	const fleet = fleetOf(220, 11);
	const {groups} = layOut(fleet, slot => fleet.word(slot, "datacenter"), 800, 600);
	assert.deepEqual(groups.map(group => group.name), Array.from({length: 11}, (_, i) => `dc${i + 1}`));
	for (let i = 1; i < groups.length; i++)
		assert.ok(groups[i].row > groups[i - 1].row + groups[i - 1].rows - 1 + 1, "a row for the name");
	assert.equal(groups.reduce((sum, group) => sum + group.count, 0), 220);
});

test("one group has no name and no row for it", () => {
	const layout = layOut(fleetOf(5), alone, 100, 100);
	assert.equal(layout.groups.length, 1);
	assert.equal(layout.groups[0].row, 0);
});

test("slots without a node have no cell", () => {
	const fleet = fleetOf(3);
	fleet.apply({Whole: false, Nodes: [[1]]});
	const layout = layOut(fleet, alone, 100, 100);
	assert.equal(layout.cellOf[1], -1);
	assert.equal(layout.cellOf[2], 1);
});

test("no nodes are a map without cells", () => {
	const layout = layOut(new Fleet(), alone, 100, 100);
	assert.deepEqual(layout.groups, []);
	assert.equal(slotNear(layout, 0, 0), -1);
});

test("a place between, outside and inside of cells", () => {
	const layout = layOut(fleetOf(10), alone, 100, 100);
	assert.equal(slotNear(layout, 0.99, 0.5), 0);
	assert.equal(slotNear(layout, 1.01, 0.5), 1);
	assert.equal(slotNear(layout, -0.1, 0.5), -1);
	assert.equal(slotNear(layout, layout.columns, 0), -1);
	assert.equal(slotNear(layout, 0, layout.rows), -1);
});
