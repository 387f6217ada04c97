// One allocation: where it is, what its tasks say, and why it is as it is.
import {change, path, read} from "../core/api.js";
import {action, badge, facts, link, m, table, unless} from "../core/dom.js";
import {href} from "../core/router.js";
import {Watch} from "../core/watch.js";
import {ago, megabytes, count} from "../core/words.js";
import {explanationView} from "./why_view.js";

export class AllocationPage {
	constructor([id]) {
		this.id = id;
		this.title = "Allocation";
		this.watch = new Watch(path`/v1/allocation/${id}`, async (allocation, signal) => {
			this.explained = (await read(path`/v1/berth/explain/allocation/${id}`, {signal})).data;
			this.allocation = allocation;
			this.title = `Allocation ${allocation.Name}`;
		});
	}

	close() {
		this.watch.stop();
	}

	view() {
		return unless(this.watch, "The allocation", "read-job in its namespace", () => {
			const a = this.allocation;
			return [
				m("h2", [a.Name, " ", badge(a.ClientStatus)]),
				facts([
					["id", m("span.mono", a.ID)], ["job", link(href("job", a.Namespace, a.JobID), a.JobID)],
					["node", link(href("node", a.NodeID), a.NodeName || a.NodeID)], ["wanted", a.DesiredStatus],
					["placed", ago(a.CreateTime)],
					a.EvalID && ["by", link(href("evaluation", a.EvalID), "its evaluation")],
				]),
				a.DesiredStatus === "run" && m(".actions", action("Stop and replace",
					() => change("PUT", path`/v1/allocation/${this.id}/stop`, {}).then(() => this.watch.again()))),
				this.tasks(), explanationView(this.explained),
			];
		});
	}

	tasks() {
		const resources = this.allocation.AllocatedResources?.Tasks ?? {};
		return Object.entries(this.allocation.TaskStates ?? {}).map(([name, task]) => m("section", {key: name}, [
			m("h3", [name, " ", badge(task.Failed ? "failed" : task.State), ` restarted ${task.Restarts} times`]),
			resources[name] && m("p", `${count(resources[name].Cpu.CpuShares)} MHz, ` +
				megabytes(resources[name].Memory.MemoryMB)),
			table(`Events of ${name}`, [
				["when", e => ago(e.Time)], ["what", e => e.Type], ["says", e => e.DisplayMessage],
			], [...(task.Events ?? [])].reverse(), (e) => `${e.Time} ${e.Type}`),
		]));
	}
}
