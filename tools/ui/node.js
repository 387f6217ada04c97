// One node: what it is, what runs there, and whether it takes more.
import {change, path, read} from "./core/api.js";
import {action, badge, facts, link, m, table, unless} from "./core/dom.js";
import {href} from "./core/router.js";
import {Watch} from "./core/watch.js";
import {ago, count, megabytes, percent, shortId} from "./core/words.js";
import {stateOf, STATES} from "./fleet/model.js";

const DRAIN_DEADLINE_NS = 3600e9;
const RIGHT = "reading nodes (node { policy = \"read\" })";

export class NodePage {
	constructor([id]) {
		this.id = id;
		this.title = "Node";
		this.allocations = [];
		this.watch = new Watch(path`/v1/node/${id}`, node => this.take(node));
		// What runs there changes without the node's record, and with it what is used.
		this.runs = new Watch(path`/v1/node/${id}/allocations`, async (allocations, signal) => {
			this.take((await read(path`/v1/node/${id}`, {signal})).data);
			this.allocations = allocations.sort((a, b) => b.CreateIndex - a.CreateIndex);
		});
	}

	take(node) {
		this.node = node;
		this.title = `Node ${node.Name}`;
	}

	close() {
		this.watch.stop();
		this.runs.stop();
	}

	view() {
		return unless(this.watch, "The node", RIGHT, () => [
			m("h2", [this.node.Name, " ", badge(this.state())]),
			this.actions(), this.about(), this.allocationsView(), this.events(), this.attributes(),
		]);
	}

	state() {
		const {Status, SchedulingEligibility, DrainStrategy} = this.node;
		return STATES[stateOf(Status, SchedulingEligibility === "eligible", DrainStrategy !== null)];
	}

	actions() {
		const isEligible = this.node.SchedulingEligibility === "eligible";
		const set = (what, body) => change("PUT", path`/v1/node/${this.id}/` + what, body).then(() => this.watch.again());
		return m(".actions", [
			this.node.DrainStrategy
				? action("Stop draining", () => set("drain", {DrainSpec: null, MarkEligible: true}))
				: action("Drain", () => set("drain", {DrainSpec: {Deadline: DRAIN_DEADLINE_NS, IgnoreSystemJobs: false}}),
					{title: "moves what runs here to other nodes, within an hour"}),
			!this.node.DrainStrategy && action(isEligible ? "Take no new work" : "Take new work",
				() => set("eligibility", {Eligibility: isEligible ? "ineligible" : "eligible"})),
		]);
	}

	about() {
		const {Berth, NodeResources} = this.node;
		const cpu = NodeResources.Cpu.CpuShares, memory = NodeResources.Memory.MemoryMB;
		return facts([
			["id", m("span.mono", this.node.ID)],
			["status", this.node.StatusDescription ? `${this.node.Status}: ${this.node.StatusDescription}` : this.node.Status],
			["standing", Berth.Lifecycle.Standing],
			["datacenter", this.node.Datacenter], ["class", this.node.NodeClass || "–"], ["pool", this.node.NodePool],
			["CPU", `${count(Berth.Used.CPU)} of ${count(cpu)} MHz (${percent(Berth.Used.CPU, cpu)} %)`],
			["memory", `${megabytes(Berth.Used.MemoryMB)} of ${megabytes(memory)} (${percent(Berth.Used.MemoryMB, memory)} %)`],
			["agent", Berth.AgentVersion],
			["registered", ago(Berth.RegisteredAt)],
		]);
	}

	allocationsView() {
		return table("Allocations", [
			["allocation", a => link(href("allocation", a.ID), shortId(a.ID))],
			["job", a => link(href("job", a.Namespace, a.JobID), a.Name)],
			["is", a => badge(a.ClientStatus)],
			["wanted", a => a.DesiredStatus],
			["since", a => ago(a.CreateTime)],
		], this.allocations, a => a.ID, "nothing runs here");
	}

	events() {
		return table("What happened to it", [
			["when", e => ago(e.Timestamp)], ["by", e => e.Subsystem], ["what", e => e.Message],
		], [...this.node.Events].reverse(), e => e.CreateIndex + e.Message);
	}

	attributes() {
		const pairs = Object.entries({...this.node.Attributes, ...this.node.Meta}).sort(([a], [b]) => a < b ? -1 : 1);
		return m("details", [m("summary", `${pairs.length} attributes`), table("Attributes", [
			["name", ([name]) => m("span.mono", name)], ["value", ([, value]) => m("span.mono", value)],
		], pairs, ([name]) => name)]);
	}
}
