// All nodes in columns, by their slot: a hundred thousand of them are a few megabytes, and one that changes is a few
// numbers. What many nodes share (their datacenter, class, pool) is kept once.
export const STATES = ["ready", "ineligible", "draining", "initializing", "disconnected", "down"];

const NUMBERS = ["cpu", "cpuUsed", "memory", "memoryUsed", "allocations"];

class Words {
	constructor() {
		this.all = [];
		this.places = new Map();
	}

	place(word) {
		let place = this.places.get(word);
		if (place === undefined) {
			place = this.all.push(word) - 1;
			this.places.set(word, place);
		}
		return place;
	}
}

export class Fleet {
	constructor() {
		this.size = 0; // slots, those without a node included
		this.nodes = 0;
		this.room = 0;
		this.found = new Map(); // see kept()
		this.version = 0; // changes when nodes come or go, or move between groups
		this.ids = [];
		this.names = [];
		this.words = {datacenter: new Words(), nodeClass: new Words(), pool: new Words()};
		this.grow(1024);
	}

	grow(slots) {
		const room = Math.max(slots, this.room * 2);
		const longer = (old, type) => {
			const array = new type(room);
			if (old)
				array.set(old);
			return array;
		};
		this.state = longer(this.state, Int8Array); // -1: no node
		this.state.fill(-1, this.room);
		for (const name of Object.keys(this.words))
			this[name] = longer(this[name], Uint16Array);
		for (const name of NUMBERS)
			this[name] = longer(this[name], Uint32Array);
		this.room = room;
	}

	// Takes an answer of /v1/berth/fleet. Returns the slots that changed.
	apply(answer) {
		this.found.clear();
		if (answer.Whole) {
			this.state.fill(-1);
			this.size = this.nodes = 0;
			this.version++;
		}
		const changed = new Uint32Array(answer.Nodes.length);
		answer.Nodes.forEach((row, i) => {
			changed[i] = row[0];
			this.put(row);
		});
		return changed;
	}

	put([slot, id, name, datacenter, nodeClass, pool, status, isEligible, isDraining, ...numbers]) {
		if (slot >= this.room)
			this.grow(slot + 1);
		if (slot >= this.size)
			this.size = slot + 1;
		const was = this.state[slot];
		const is = id ? stateOf(status, isEligible, isDraining) : -1;
		this.nodes += (is >= 0) - (was >= 0);
		this.state[slot] = is;
		if ((was < 0) !== (is < 0))
			this.version++;
		if (is < 0)
			return;
		this.ids[slot] = id;
		this.names[slot] = name;
		this.putWord(slot, "datacenter", datacenter);
		this.putWord(slot, "nodeClass", nodeClass);
		this.putWord(slot, "pool", pool);
		NUMBERS.forEach((column, i) => this[column][slot] = numbers[i]);
	}

	putWord(slot, column, word) {
		const place = this.words[column].place(word);
		if (this[column][slot] !== place)
			this.version++;
		this[column][slot] = place;
	}

	word(slot, column) {
		return this.words[column].all[this[column][slot]];
	}

	// How many nodes are in each state.
	counts() {
		return this.kept("counts", () => {
			const counts = new Array(STATES.length).fill(0);
			for (let slot = 0; slot < this.size; slot++)
				if (this.state[slot] >= 0)
					counts[this.state[slot]]++;
			return counts;
		});
	}

	// Used of all, by nodes that are there: {cpu, cpuUsed, memory, memoryUsed, allocations}
	sums() {
		return this.kept("sums", () => {
			const sums = Object.fromEntries(NUMBERS.map(name => [name, 0]));
			for (let slot = 0; slot < this.size; slot++)
				if (this.state[slot] >= 0)
					for (const name of NUMBERS)
						sums[name] += this[name][slot];
			return sums;
		});
	}

	// What work() finds of all nodes, which is found once until one of them changes.
	kept(name, work) {
		if (!this.found.has(name))
			this.found.set(name, work());
		return this.found.get(name);
	}

	// Slots whose id begins with the text, or whose name contains it; at most `most`. state: of these alone; -1: all.
	find(text, most, state = -1) {
		const found = [];
		for (let slot = 0; slot < this.size && found.length < most; slot++)
			if (this.state[slot] >= 0 && (state < 0 || this.state[slot] === state) &&
				(this.ids[slot].startsWith(text) || this.names[slot].includes(text)))
				found.push(slot);
		return found;
	}
}

export function stateOf(status, isEligible, isDraining) {
	if (status !== "ready")
		return STATES.indexOf(status);
	if (isDraining)
		return STATES.indexOf("draining");
	return STATES.indexOf(isEligible ? "ready" : "ineligible");
}
