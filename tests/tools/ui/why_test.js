import assert from "node:assert/strict";
import test from "node:test";
import {whyNot, whyNowhere} from "../../../tools/ui/jobs/why.js";

const metrics = more => ({
	NodesEvaluated: 5, NodesFiltered: 0, NodesExhausted: 0, NodesAvailable: {dc1: 5}, ConstraintFiltered: null,
	ClassFiltered: null, DimensionExhausted: {}, ClassExhausted: null, QuotaExhausted: null, CoalescedFailures: 0, ...more,
});

test("what is short is named, the most frequent first", () => {
	const said = whyNot(metrics({NodesExhausted: 5, DimensionExhausted: {memory: 1, cpu: 4}, CoalescedFailures: 2}));
	assert.deepEqual(said, [
		"3 instances could not be placed.",
		"5 nodes are in its datacenters and pool and take work; 5 of them were looked at.",
		"5 nodes have too little room left.", "4 nodes lack CPU.", "1 node lacks memory.",
	]);
});

test("what may not run is told by its constraint", () => {
	const said = whyNot(metrics({
		NodesFiltered: 5, ConstraintFiltered: {"${node.class} = gpu": 1, "computed class ineligible": 4},
		ClassFiltered: {new: 1, old: 4},
	}), 1);
	assert.equal(said[0], "1 instance could not be placed.");
	assert.deepEqual(said.slice(2), [
		"5 nodes may not run it at all (4 of class “old”, 1 of class “new”).",
		"4 nodes are just like a node that was found unfit before.", "1 node does not meet “${node.class} = gpu”.",
	]);
});

test("a datacenter without nodes is named", () => {
	const said = whyNot(metrics({NodesEvaluated: 0, NodesAvailable: {mars: 0}}), 1);
	assert.deepEqual(said.slice(1), ["No node that takes work is in the datacenters of the job: mars."]);
});

test("without any node that is said", () => {
	assert.equal(whyNot(metrics({NodesEvaluated: 0, NodesAvailable: {}}), 1)[1], "No node was there to look at.");
});

test("a quota is named", () => {
	assert.match(whyNot(metrics({QuotaExhausted: ["cpu"]}), 1).at(-1), /quota .*: cpu\./);
});

test("an unknown dimension is told as it comes", () => {
	assert.equal(whyNot(metrics({DimensionExhausted: {"network: port": 2}}), 1).at(-1), "2 nodes lack network: port.");
});

test("an explanation of a group names who comes nearest", () => {
	const said = whyNowhere({Nodes: 4, NodesRunning: 1, NodesFitting: 0, Reasons: [
		{Kind: "exhausted", Reason: "memory", Nodes: 3, Nearest: {NodeName: "n1", Lack: 100, Unit: "MiB"}},
		{Kind: "node", Reason: "it is down", Nodes: 1, Nearest: null},
	]});
	assert.deepEqual(said, [
		"Of 4 nodes, 1 runs it and 0 could take one more now.",
		"Too little left, 3 nodes: memory (nearest: n1, which lacks 100 MiB).",
		"Takes nothing new, 1 node: it is down.",
	]);
});
