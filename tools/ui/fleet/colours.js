// What a cell's colour says. Colours are numbers 0xRRGGBB; those of states differ in lightness, too.
import {STATES} from "./model.js";

export const STATE_COLOURS = [0x2a9d8f, 0xe9c46a, 0xa06cd5, 0x8d99ae, 0xf28c28, 0xd62839];
// Okabe and Ito's, which people tell apart however they see colours.
const SET = [0x56b4e9, 0xe69f00, 0x009e73, 0xcc79a7, 0x0072b2, 0xd55e00, 0xf0e442, 0x9a9a9a];
// From nothing used to everything used.
const RAMP = [0x2b3a67, 0x2a6f97, 0x2a9d8f, 0x8ab17d, 0xe9c46a, 0xf4a261, 0xd62839];

export const css = colour => "#" + colour.toString(16).padStart(6, "0");

function mix(a, b, part) {
	const of = shift => {
		const from = a >> shift & 255, to = b >> shift & 255;
		return Math.round(from + (to - from) * part) << shift;
	};
	return of(16) | of(8) | of(0);
}

export function ramp(part) {
	const at = Math.min(1, Math.max(0, part)) * (RAMP.length - 1);
	const low = Math.min(RAMP.length - 2, Math.floor(at));
	return mix(RAMP[low], RAMP[low + 1], at - low);
}

function wordColour(place) {
	return SET[place % SET.length];
}

function byWord(label, column) {
	return {
		label, colour: (fleet, slot) => wordColour(fleet[column][slot]),
		legend: fleet => wordLegend(fleet, column),
	};
}

function wordLegend(fleet, column) {
	const counts = new Map();
	for (let slot = 0; slot < fleet.size; slot++)
		if (fleet.state[slot] >= 0)
			counts.set(fleet[column][slot], (counts.get(fleet[column][slot]) ?? 0) + 1);
	return [...counts].map(([place, count]) =>
		({colour: wordColour(place), label: fleet.words[column].all[place] || "(none)", count}));
}

function byUse(label, used, whole) {
	const part = (fleet, slot) => fleet[whole][slot] ? fleet[used][slot] / fleet[whole][slot] : 0;
	return {
		label, colour: (fleet, slot) => ramp(part(fleet, slot)),
		legend: fleet => {
			const counts = [0, 0, 0, 0];
			for (let slot = 0; slot < fleet.size; slot++)
				if (fleet.state[slot] >= 0)
					counts[Math.min(3, Math.floor(part(fleet, slot) * 4))]++;
			return counts.map((count, i) => ({colour: ramp(i / 4 + 0.125), label: `${i * 25} to ${i * 25 + 25} %`, count}));
		},
	};
}

export const MODES = {
	status: {
		label: "status", colour: (fleet, slot) => STATE_COLOURS[fleet.state[slot]],
		legend: fleet => fleet.counts().map((count, i) => ({colour: STATE_COLOURS[i], label: STATES[i], count}))
			.filter(row => row.count > 0),
	},
	cpu: byUse("CPU in use", "cpuUsed", "cpu"),
	memory: byUse("memory in use", "memoryUsed", "memory"),
	class: byWord("class", "nodeClass"),
	datacenter: byWord("datacenter", "datacenter"),
	pool: byWord("pool", "pool"),
};
