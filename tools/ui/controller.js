// What this controller is, how it and its cluster are, and how it is configured.
import {change, read} from "./core/api.js";
import {action, badge, facts, m, table} from "./core/dom.js";
import {Poll} from "./core/watch.js";
import {count, duration} from "./core/words.js";

const EVERY_MS = 3000;
const NS_PER_MS = 1e6;
const PATHS = {
	self: "/v1/agent/self", cluster: "/v1/berth/cluster", liveness: "/v1/berth/liveness", health: "/v1/agent/health",
};

export class ControllerPage {
	constructor() {
		this.title = "Controller";
		this.parts = {};
		this.refusals = {};
		this.poll = new Poll(EVERY_MS, signal => Promise.all(Object.keys(PATHS).map(name => this.load(name, signal))));
	}

	close() {
		this.poll.stop();
	}

	async load(name, signal) {
		try {
			this.parts[name] = (await read(PATHS[name], {signal})).data;
			delete this.refusals[name];
		} catch (refusal) {
			if (signal.aborted)
				throw refusal;
			delete this.parts[name];
			this.refusals[name] = refusal;
		}
	}

	view() {
		return [m("h2", "Controller"), this.selfView(), this.livenessView(), this.clusterView(), this.settingsView()];
	}

	// What there is instead of a part that cannot be shown.
	lack(name, what, right) {
		const refusal = this.refusals[name];
		if (!refusal)
			return m("p.loading", {role: "status"}, `${what} …`);
		return m("section.denied", {role: "alert"}, [m("h3", what), m("p", refusal.status === 403
			? `Permission denied. This wants a token with ${right}.` : refusal.message)]);
	}

	selfView() {
		const {self, health} = this.parts;
		if (!self)
			return this.lack("self", "About this controller", "reading agents (agent { policy = \"read\" })");
		return facts([
			["name", self.config.NodeName], ["region", self.config.Region], ["datacenter", self.config.Datacenter],
			["Berth", self.member.Tags.berth], ["index", self.stats.berth.index], ["term", self.stats.berth.term],
			["access control", self.config.ACL.Enabled ? "in force" : "off"],
			health && ["health", health.server?.ok ? "ok" : health.server?.message ?? "not well"],
		]);
	}

	livenessView() {
		const {liveness} = this.parts;
		if (!liveness)
			return this.lack("liveness", "Expiry of silent nodes", "reading operators' things (operator { policy = \"read\" })");
		return m("section", [
			m("h3", ["Expiry of silent nodes: ", badge(liveness.Expiry, liveness.Expiry === "held" ? "failed" : "ready")]),
			liveness.Reason && m("p", liveness.Reason),
			facts([["nodes heard", count(liveness.Nodes)], ["silent", count(liveness.Silent)], ["holds so far", count(liveness.Holds)],
				liveness.HeldFor > 0 && ["held for", duration(liveness.HeldFor / NS_PER_MS)]]),
			liveness.Expiry === "held" && m(".actions", action("Let them expire",
				() => change("PUT", "/v1/berth/liveness/release").then(() => this.poll.again()))),
		]);
	}

	clusterView() {
		const {cluster} = this.parts;
		if (!cluster)
			return this.refusals.cluster?.status === 404 ? m("p", "It stands alone: no cluster is configured.")
				: this.lack("cluster", "Cluster", "reading agents (agent { policy = \"read\" })");
		return [
			facts([
				["cluster", cluster.Name], ["this member", cluster.Role], ["leader", cluster.Leader?.Name ?? "none is known"],
				["term", cluster.Term], ["behind by", `${count(cluster.Lag)} entries`], ["takeovers", cluster.Takeovers],
				cluster.EtcdAway && ["etcd", "is away"], cluster.Trouble && ["trouble", cluster.Trouble],
			]),
			table("Members", [
				["member", member => member.Name], ["leads", member => member.Leader ? "yes" : ""],
				["lives", member => badge(member.Alive ? "alive" : "away", member.Alive ? "ready" : "down")],
				["stored up to", member => count(member.StoredIndex), {numeric: true}], ["HTTP", member => member.HTTP],
				["wire", member => member.Wire],
			], cluster.Members, member => member.ID),
		];
	}

	settingsView() {
		const settings = Object.entries(this.parts.self?.config.Berth ?? {});
		return settings.length > 0 && m("details", [m("summary", `${settings.length} settings`), table("Settings", [
			["setting", ([name]) => m("span.mono", name)], ["value", ([, value]) => m("span.mono", String(value))],
		], settings, ([name]) => name)]);
	}
}
