// The canvas: a picture of one pixel a node, which is drawn as large as the view wants it. So a frame costs the same
// whether it shows a hundred nodes or a hundred thousand, and a node that changes is one pixel.
import {event, select} from "d3-selection";
import {zoom, zoomIdentity} from "d3-zoom";
import {MODES} from "./colours.js";
import {layOut, slotNear} from "./layout.js";

const GRID_PX_MIN = 5; // cells that are smaller touch each other
const SCALE_MAX = 60;
const OPAQUE = 0xff000000;

// The picture's pixels are little-endian: red is the lowest byte.
const pixel = colour => (OPAQUE | (colour & 255) << 16 | (colour & 0xff00) | colour >> 16) >>> 0;

export class FleetMap {
	// hover(slot, x, y): slot -1 when there is none there. open(slot).
	constructor(canvas, fleet, {hover, open}) {
		this.canvas = canvas;
		this.context = canvas.getContext("2d", {alpha: false});
		this.picture = document.createElement("canvas");
		this.fleet = fleet;
		this.hover = hover;
		this.open = open;
		this.mode = "status";
		this.groupOf = () => null;
		this.view = zoomIdentity;
		this.cursor = -1;
		this.isAsked = false;
		this.zoom = zoom().scaleExtent([1, SCALE_MAX]).on("zoom", () => {
			this.view = event.transform;
			this.ask();
		});
		select(canvas).call(this.zoom).on("dblclick.zoom", null);
		canvas.addEventListener("mousemove", e => this.point(e));
		canvas.addEventListener("mouseleave", () => this.hover(-1));
		canvas.addEventListener("click", e => this.click(e));
		canvas.addEventListener("keydown", e => this.key(e));
		this.sizes = new ResizeObserver(() => this.resize());
		this.sizes.observe(canvas);
		this.theme = matchMedia("(prefers-color-scheme: dark)");
		this.themed = () => this.ask();
		this.theme.addEventListener("change", this.themed);
	}

	end() {
		this.sizes.disconnect();
		this.theme.removeEventListener("change", this.themed);
	}

	show(mode, groupOf) {
		this.mode = mode;
		this.groupOf = groupOf;
		this.arrange();
	}

	// After an answer: the layout anew when nodes came, went or moved, else only their pixels.
	changed(slots) {
		if (!this.layout || this.version !== this.fleet.version) {
			this.arrange();
			return;
		}
		const {columns, cellOf} = this.layout;
		let top = Infinity, bottom = -1;
		for (const slot of slots) {
			const cell = cellOf[slot];
			if (cell < 0)
				continue;
			this.paint(slot, cell);
			const row = Math.floor(cell / columns);
			top = Math.min(top, row);
			bottom = Math.max(bottom, row);
		}
		if (bottom >= 0)
			this.put(top, bottom - top + 1);
		this.ask();
	}

	resize() {
		const ratio = devicePixelRatio || 1;
		this.width = this.canvas.clientWidth;
		this.height = this.canvas.clientHeight;
		this.canvas.width = Math.round(this.width * ratio);
		this.canvas.height = Math.round(this.height * ratio);
		this.zoom.extent([[0, 0], [this.width, this.height]])
			.translateExtent([[0, 0], [this.width, this.height]]);
		this.arrange();
	}

	arrange() {
		if (!this.width || !this.height)
			return;
		this.version = this.fleet.version;
		this.layout = layOut(this.fleet, this.groupOf, this.width, this.height);
		const {columns, rows, slotAt} = this.layout;
		this.picture.width = columns;
		this.picture.height = rows;
		this.image = new ImageData(columns, rows);
		this.pixels = new Uint32Array(this.image.data.buffer);
		for (let cell = 0; cell < slotAt.length; cell++)
			if (slotAt[cell] >= 0)
				this.paint(slotAt[cell], cell);
		this.put(0, rows);
		this.ask();
	}

	paint(slot, cell) {
		this.pixels[cell] = pixel(MODES[this.mode].colour(this.fleet, slot));
	}

	put(top, rows) {
		this.picture.getContext("2d").putImageData(this.image, 0, 0, 0, top, this.layout.columns, rows);
	}

	ask() {
		if (this.isAsked)
			return;
		this.isAsked = true;
		requestAnimationFrame(() => {
			this.isAsked = false;
			this.draw();
		});
	}

	// Pixels of the view that a cell takes.
	get side() {
		return this.layout.side * this.view.k;
	}

	draw() {
		if (!this.layout)
			return;
		const {context, layout, view, side} = this;
		const ratio = this.canvas.width / this.width;
		const style = getComputedStyle(this.canvas);
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.fillStyle = style.backgroundColor;
		context.fillRect(0, 0, this.width, this.height);
		context.imageSmoothingEnabled = side < 1;
		context.drawImage(this.picture, view.x, view.y, layout.columns * side, layout.rows * side);
		if (side >= GRID_PX_MIN)
			this.drawGrid();
		this.drawLabels(style.color);
		this.drawCursor(style.color);
	}

	drawGrid() {
		const {context, layout, view, side} = this;
		const line = Math.max(1, side / 12);
		const right = Math.min(this.width, view.x + layout.columns * side);
		const bottom = Math.min(this.height, view.y + layout.rows * side);
		for (let i = Math.max(0, Math.ceil(-view.x / side)); i <= layout.columns && view.x + i * side <= right; i++)
			context.fillRect(view.x + i * side - line / 2, 0, line, bottom);
		for (let i = Math.max(0, Math.ceil(-view.y / side)); i <= layout.rows && view.y + i * side <= bottom; i++)
			context.fillRect(0, view.y + i * side - line / 2, right, line);
	}

	drawLabels(colour) {
		const {context, layout, view, side} = this;
		if (layout.groups.length < 2 || layout.groups[0].row === 0)
			return;
		context.fillStyle = colour;
		context.font = "12px system-ui, sans-serif";
		context.textBaseline = "alphabetic";
		for (const group of layout.groups) {
			const y = view.y + group.row * side - 4;
			if (y > 0 && y < this.height + 12)
				context.fillText(`${group.name || "(none)"} · ${group.count}`, Math.max(2, view.x + 2), y);
		}
	}

	drawCursor(colour) {
		const {context, layout, view, side} = this;
		const cell = this.cursor >= 0 ? layout.cellOf[this.cursor] : -1;
		if (!(cell >= 0))
			return;
		context.strokeStyle = colour;
		context.lineWidth = 2;
		const box = Math.max(side, 8);
		const x = view.x + (cell % layout.columns + 0.5) * side, y = view.y + (Math.floor(cell / layout.columns) + 0.5) * side;
		context.strokeRect(x - box / 2 - 1, y - box / 2 - 1, box + 2, box + 2);
	}

	slotOf(e) {
		if (!this.layout)
			return -1;
		return slotNear(this.layout, (e.offsetX - this.view.x) / this.side, (e.offsetY - this.view.y) / this.side);
	}

	point(e) {
		const slot = e.buttons ? -1 : this.slotOf(e);
		this.moveCursor(slot);
		this.hover(slot, e.offsetX, e.offsetY);
	}

	click(e) {
		const slot = this.slotOf(e);
		if (slot >= 0)
			this.open(slot);
	}

	moveCursor(slot) {
		if (slot === this.cursor)
			return;
		this.cursor = slot;
		this.ask();
	}

	// Where a node is in the view, in pixels; null: nowhere.
	placeOf(slot) {
		const cell = this.layout?.cellOf[slot] ?? -1;
		if (cell < 0)
			return null;
		return {
			x: this.view.x + (cell % this.layout.columns + 0.5) * this.side,
			y: this.view.y + (Math.floor(cell / this.layout.columns) + 0.5) * this.side,
		};
	}

	key(e) {
		const steps = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -(this.layout?.columns ?? 0), ArrowDown: this.layout?.columns ?? 0};
		if (e.key in steps)
			this.step(steps[e.key]);
		else if (e.key === "Enter" && this.cursor >= 0)
			this.open(this.cursor);
		else if (e.key === "+" || e.key === "-")
			select(this.canvas).call(this.zoom.scaleBy, e.key === "+" ? 1.5 : 1 / 1.5);
		else if (e.key === "0")
			this.reset();
		else
			return;
		e.preventDefault();
	}

	reset() {
		select(this.canvas).call(this.zoom.transform, zoomIdentity);
	}

	// Moves the cursor to the next cell that way that has a node, and the view with it.
	step(by) {
		const {slotAt, cellOf} = this.layout;
		let cell = this.cursor >= 0 ? cellOf[this.cursor] + by : slotAt.findIndex(slot => slot >= 0);
		while (cell >= 0 && cell < slotAt.length && slotAt[cell] < 0)
			cell += by;
		if (!(cell >= 0 && cell < slotAt.length))
			return;
		this.moveCursor(slotAt[cell]);
		const at = this.placeOf(this.cursor);
		if (at.x < 0 || at.y < 0 || at.x > this.width || at.y > this.height)
			select(this.canvas).call(this.zoom.translateBy,
				(this.width / 2 - at.x) / this.view.k, (this.height / 2 - at.y) / this.view.k);
		const seen = this.placeOf(this.cursor);
		this.hover(this.cursor, seen.x, seen.y);
	}
}
