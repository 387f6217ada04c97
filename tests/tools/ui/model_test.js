import assert from "node:assert/strict";
import test from "node:test";
import {Fleet, stateOf, STATES} from "../../../tools/ui/fleet/model.js";
import {changes, row, whole} from "./fleet_rows.js";

const count = (fleet, state) => fleet.counts()[STATES.indexOf(state)];

test("a whole answer fills the columns", () => {
	const fleet = new Fleet();
	fleet.apply(whole([row(0), row(2, {datacenter: "dc2", cpuUsed: 250, memoryUsed: 512, allocations: 3})]));
	assert.equal(fleet.nodes, 2);
	assert.equal(fleet.size, 3);
	assert.equal(fleet.state[1], -1);
	assert.equal(fleet.word(2, "datacenter"), "dc2");
	assert.deepEqual(fleet.sums(), {cpu: 2000, cpuUsed: 250, memory: 4096, memoryUsed: 512, allocations: 3});
});

test("changes are of their nodes alone", () => {
	const fleet = new Fleet();
	fleet.apply(whole([row(0), row(1)]));
	const version = fleet.version;
	const changed = fleet.apply(changes([row(1, {status: "down"})]));
	assert.deepEqual([...changed], [1]);
	assert.equal(count(fleet, "ready"), 1);
	assert.equal(count(fleet, "down"), 1);
	assert.equal(fleet.version, version, "no node came, went or moved");
});

test("what is found of all nodes is found anew after a change", () => {
	const fleet = new Fleet();
	fleet.apply(whole([row(0, {cpuUsed: 1})]));
	assert.equal(fleet.sums().cpuUsed, 1);
	assert.equal(fleet.sums(), fleet.sums());
	fleet.apply(changes([row(0, {cpuUsed: 5})]));
	assert.equal(fleet.sums().cpuUsed, 5);
});

test("a slot without a node is a node less", () => {
	const fleet = new Fleet();
	fleet.apply(whole([row(0), row(1)]));
	const version = fleet.version;
	fleet.apply(changes([[1]]));
	assert.equal(fleet.nodes, 1);
	assert.notEqual(fleet.version, version);
	fleet.apply(changes([[1]]));
	assert.equal(fleet.nodes, 1);
});

test("a whole answer forgets what was there", () => {
	const fleet = new Fleet();
	fleet.apply(whole([row(0), row(1), row(2)]));
	fleet.apply(whole([row(1)]));
	assert.equal(fleet.nodes, 1);
	assert.equal(fleet.state[0], -1);
	assert.deepEqual(fleet.find("node-0", 5), []);
});

test("it grows, and what was there stays", () => {
	const fleet = new Fleet();
	fleet.apply(whole([row(1, {cpuUsed: 7, datacenter: "dc7"})]));
	fleet.apply(changes([row(5000, {datacenter: "dc9"})]));
	assert.equal(fleet.cpuUsed[1], 7);
	assert.equal(fleet.word(1, "datacenter"), "dc7");
	assert.equal(fleet.word(5000, "datacenter"), "dc9");
	assert.equal(fleet.state[4999], -1);
	assert.equal(fleet.nodes, 2);
});

test("a node that moves to another group changes the version", () => {
	const fleet = new Fleet();
	fleet.apply(whole([row(0)]));
	const version = fleet.version;
	fleet.apply(changes([row(0, {pool: "other"})]));
	assert.notEqual(fleet.version, version);
});

test("nodes are found by the beginning of their id and by part of their name", () => {
	const fleet = new Fleet();
	fleet.apply(whole([row(0, {id: "abcd", name: "rack1-web"}), row(1, {id: "beef", name: "rack2-web"}), row(2, {id: "0abc"})]));
	assert.deepEqual(fleet.find("abc", 9), [0]);
	assert.deepEqual(fleet.find("web", 9), [0, 1]);
	assert.deepEqual(fleet.find("web", 1), [0]);
});

test("what keeps work off a node is its state before its eligibility", () => {
	assert.equal(STATES[stateOf("ready", true, false)], "ready");
	assert.equal(STATES[stateOf("ready", false, false)], "ineligible");
	assert.equal(STATES[stateOf("ready", false, true)], "draining");
	assert.equal(STATES[stateOf("down", false, true)], "down");
	assert.equal(STATES[stateOf("disconnected", true, false)], "disconnected");
});
