// Virtual machines, and who runs them.
import {read} from "./core/api.js";
import {badge, link, m, table, unless} from "./core/dom.js";
import {href} from "./core/router.js";
import {Watch} from "./core/watch.js";
import {ago, megabytes} from "./core/words.js";

const SHOWN = 200;

export class MachinesPage {
	constructor() {
		this.title = "Machines";
		this.watch = new Watch(`/v1/vms?reverse=true&per_page=${SHOWN}`, async (machines, signal) => {
			this.workers = (await read(`/v1/workers?per_page=${SHOWN}`, {signal})).data;
			this.machines = machines;
		});
	}

	close() {
		this.watch.stop();
	}

	view() {
		return unless(this.watch, "Machines", "reading machines (vm { policy = \"read\" })", () => [
			m("h2", "Virtual machines"),
			table("Machines", [
				["machine", vm => vm.name], ["image", vm => m("span.mono", vm.image)], ["is", vm => badge(vm.status)],
				["power", vm => vm.powerState], ["worker", vm => vm.worker],
				["CPU", vm => vm.assignedCPU || vm.cpu, {numeric: true}],
				["memory", vm => megabytes(vm.assignedMemory || vm.memory), {numeric: true}],
				["started", vm => ago(vm.started_at)], ["restarts", vm => vm.restart_count, {numeric: true}],
				["says", vm => vm.status_message],
			], this.machines, vm => vm.name, "none was created"),
			table("Workers", [
				["worker", w => w.node ? link(href("node", w.node), w.name) : w.name], ["is", w => badge(w.status)],
				["machines", w => w.vms, {numeric: true}], ["paused", w => w.scheduling_paused ? "yes" : ""],
				["uses", w => resources(w.used, w.resources)], ["last heard", w => ago(w.last_seen)],
			], this.workers, w => w.name, "no node says that it runs machines"),
		]);
	}
}

function resources(used, whole) {
	return Object.entries(whole ?? {}).map(([name, n]) => `${name} ${used?.[name] ?? 0} of ${n}`).join(", ");
}
