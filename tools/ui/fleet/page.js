// The fleet as a map: what is where, and how it is.
import {facts, link, m, redraw, unless} from "../core/dom.js";
import {href} from "../core/router.js";
import {count, megabytes, percent, plural, shortId} from "../core/words.js";
import {css, MODES} from "./colours.js";
import {FleetMap} from "./map.js";
import {STATES} from "./model.js";
import {enter, fleet, leave} from "./store.js";

const GROUPS = {
	none: {label: "nothing", of: () => null},
	datacenter: {label: "datacenter", of: slot => fleet.word(slot, "datacenter")},
	pool: {label: "pool", of: slot => fleet.word(slot, "pool")},
	class: {label: "class", of: slot => fleet.word(slot, "nodeClass")},
};
const FOUND_MAX = 12;
const LEGEND_MAX = 24;

export class FleetPage {
	constructor() {
		this.title = "Fleet";
		this.mode = sessionStorage.getItem("berth-mode") in MODES ? sessionStorage.getItem("berth-mode") : "status";
		this.group = "datacenter";
		this.tip = null;
		this.search = "";
		this.changed = slots => this.map?.changed(slots);
		this.watch = enter(this.changed);
	}

	close() {
		this.map?.end();
		leave(this.changed);
	}

	begin(canvas) {
		this.map = new FleetMap(canvas, fleet, {
			hover: (slot, x, y) => {
				this.tip = slot >= 0 ? {slot, x, y} : null;
				redraw();
			},
			open: slot => location.hash = href("node", fleet.ids[slot]),
		});
		this.map.show(this.mode, GROUPS[this.group].of);
	}

	choose(mode, group) {
		this.mode = mode;
		this.group = group;
		sessionStorage.setItem("berth-mode", mode);
		this.map?.show(mode, GROUPS[group].of);
		redraw();
	}

	view() {
		return unless(this.watch, "The fleet", "reading nodes (node { policy = \"read\" })", () => [
			this.totals(), this.controls(),
			m(".map", [
				m("canvas", {
					tabindex: 0, role: "application", "aria-describedby": "map-help",
					"aria-label": `Map of ${plural(fleet.nodes, "node")} by ${MODES[this.mode].label}`,
					oncreate: vnode => this.begin(vnode.dom),
				}),
				this.tip && this.tipView(),
			]),
			m("p.hint#map-help", "Drag to move, turn the wheel to zoom, click a node to open it. With the keyboard: " +
				"arrows go from node to node, Enter opens, + and − zoom, 0 shows all."),
			m("p.spoken", {"aria-live": "polite"}, this.tip ? this.sentence(this.tip.slot) : ""),
		]);
	}

	totals() {
		const sums = fleet.sums(), counts = fleet.counts();
		return facts([
			["nodes", count(fleet.nodes)],
			["ready", count(counts[STATES.indexOf("ready")])],
			["down", count(counts[STATES.indexOf("down")])],
			["CPU in use", `${percent(sums.cpuUsed, sums.cpu)} %`],
			["memory in use", `${percent(sums.memoryUsed, sums.memory)} % of ${megabytes(sums.memory)}`],
			["allocations", count(sums.allocations)],
		]);
	}

	controls() {
		return m(".controls", [
			m("label", ["colour by ", m("select#colour", {
				onchange: e => this.choose(e.target.value, this.group),
			}, Object.entries(MODES).map(([name, mode]) =>
				m("option", {value: name, selected: name === this.mode}, mode.label)))]),
			m("label", ["group by ", m("select#group", {
				onchange: e => this.choose(this.mode, e.target.value),
			}, Object.entries(GROUPS).map(([name, group]) =>
				m("option", {value: name, selected: name === this.group}, group.label)))]),
			m("button", {type: "button", onclick: () => this.map?.reset()}, "show all"),
			m("label", ["find ", m("input#find[type=search]", {
				placeholder: "name or id", value: this.search, oninput: e => {
					this.search = e.target.value;
					redraw();
				},
			})]),
			m("ul.legend", {"aria-label": "what colours mean"}, this.legend().slice(0, LEGEND_MAX).map(row =>
				m("li", [m("span.swatch", {style: {background: css(row.colour)}}), `${row.label} ${count(row.count)}`]))),
			this.search && this.found(),
		]);
	}

	legend() {
		return fleet.kept(`legend ${this.mode}`, () => MODES[this.mode].legend(fleet));
	}

	found() {
		const slots = fleet.find(this.search, FOUND_MAX);
		return m("ul.found", {"aria-label": "nodes found"}, slots.length === 0 ? m("li", "no node has such a name or id")
			: slots.map(slot => m("li", {key: slot}, [
				link(href("node", fleet.ids[slot]), fleet.names[slot]), ` ${shortId(fleet.ids[slot])} ${STATES[fleet.state[slot]]}`,
			])));
	}

	sentence(slot) {
		return `${fleet.names[slot]}, ${STATES[fleet.state[slot]]}, ${fleet.word(slot, "datacenter")}, ` +
			`CPU ${percent(fleet.cpuUsed[slot], fleet.cpu[slot])} %, memory ` +
			`${percent(fleet.memoryUsed[slot], fleet.memory[slot])} %, ${plural(fleet.allocations[slot], "allocation")}`;
	}

	tipView() {
		const {slot, x, y} = this.tip;
		const words = [fleet.word(slot, "datacenter"), fleet.word(slot, "pool"), fleet.word(slot, "nodeClass")];
		const isRight = x > (this.map?.width ?? 0) - 260;
		return m(".tip", {style: {left: `${isRight ? x - 250 : x + 14}px`, top: `${y + 14}px`}}, [
			m("strong", fleet.names[slot]), m("span.mono", ` ${shortId(fleet.ids[slot])}`),
			m("div", STATES[fleet.state[slot]]), m("div", words.filter(word => word).join(" · ")),
			m("div", `CPU ${percent(fleet.cpuUsed[slot], fleet.cpu[slot])} % of ${count(fleet.cpu[slot])} MHz`),
			m("div", `memory ${percent(fleet.memoryUsed[slot], fleet.memory[slot])} % of ${megabytes(fleet.memory[slot])}`),
			m("div", plural(fleet.allocations[slot], "living allocation")),
		]);
	}
}
