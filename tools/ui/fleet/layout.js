// Where each node has its cell: groups below each other, each a block of whole rows, nodes in the order of their slots,
// so that a cell stays where it is.
const LABEL_PX = 18; // height of the line above a group, when all is seen
const LABELS_MAX = 40;
const CELL_PX_MAX = 28;

// groupOf(slot): a text, or null for one group without a name. Returns {columns, rows, slotAt (-1: none), cellOf,
// groups: [{name, row, rows, count}]}; a cell is row * columns + column.
export function layOut(fleet, groupOf, width, height) {
	const groups = gather(fleet, groupOf);
	const labelPx = groups.length > 1 && groups.length <= LABELS_MAX ? LABEL_PX : 0;
	const side = cellSide(groups, width, height, labelPx);
	const columns = columnsOf(width, side);
	let row = 0;
	for (const group of groups) {
		group.row = row + gapOf(labelPx, side);
		group.rows = Math.ceil(group.slots.length / columns);
		row = group.row + group.rows;
	}
	return place(fleet, groups, columns, Math.max(1, row), side);
}

const columnsOf = (width, side) => Math.max(1, Math.floor(width / side));

// Rows above a group that are left to its name.
const gapOf = (labelPx, side) => Math.ceil(labelPx / side);

function gather(fleet, groupOf) {
	const byName = new Map();
	for (let slot = 0; slot < fleet.size; slot++) {
		if (fleet.state[slot] < 0)
			continue;
		const name = groupOf(slot);
		let group = byName.get(name);
		if (!group)
			byName.set(name, group = {name, slots: []});
		group.slots.push(slot);
	}
	return [...byName.values()].sort((a, b) => String(a.name).localeCompare(String(b.name), "en", {numeric: true}));
}

// The largest side of a cell, in pixels, at which all groups fit.
function cellSide(groups, width, height, labelPx) {
	let low = 0.25, high = CELL_PX_MAX;
	const fits = side => {
		const columns = columnsOf(width, side), gap = gapOf(labelPx, side);
		return groups.reduce((rows, g) => rows + gap + Math.ceil(g.slots.length / columns), 0) * side <= height;
	};
	for (let i = 0; i < 20; i++) {
		const side = (low + high) / 2;
		if (fits(side))
			low = side;
		else
			high = side;
	}
	return low;
}

function place(fleet, groups, columns, rows, side) {
	const slotAt = new Int32Array(columns * rows).fill(-1);
	const cellOf = new Int32Array(fleet.size).fill(-1);
	for (const group of groups) {
		group.slots.forEach((slot, i) => {
			const cell = group.row * columns + i;
			slotAt[cell] = slot;
			cellOf[slot] = cell;
		});
		group.count = group.slots.length;
		delete group.slots;
	}
	return {columns, rows, side, slotAt, cellOf, groups};
}

// The slot at a place of the map, in cells; -1: none.
export function slotNear(layout, x, y) {
	const column = Math.floor(x), row = Math.floor(y);
	if (column < 0 || row < 0 || column >= layout.columns || row >= layout.rows)
		return -1;
	return layout.slotAt[row * layout.columns + column];
}
