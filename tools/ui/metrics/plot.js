// A plot over time, as a drawing that a screen reader tells in a sentence.
import {scaleLinear, scaleTime} from "d3-scale";
import {line} from "d3-shape";
import {m} from "../core/dom.js";
import {count, seconds} from "../core/words.js";

const WIDTH = 560, HEIGHT = 190;
const EDGE = {left: 62, right: 10, top: 8, bottom: 22};
const SPAN_MS = 60 * 1000; // at least

const units = {count: value => count(Math.round(value * 10) / 10), seconds};

export function plotView({title, unit, lines}, points) {
	const names = Object.keys(lines), tell = units[unit];
	const last = points.at(-1);
	const now = name => last?.values[name] ?? null;
	const words = names.map(name => `${name} ${now(name) === null ? "–" : tell(now(name))}`);
	return m("figure.plot", [
		m("figcaption", [m("strong", title), names.map((name, i) =>
			m("span.line-name", {class: `line-${i}`}, ` ${words[i]}`))]),
		m("svg", {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title}: ${words.join(", ")}`},
			points.length < 2 ? m("text", {x: EDGE.left, y: HEIGHT / 2}, "two looks make a line …") : drawing(names, points, tell)),
	]);
}

function drawing(names, points, tell) {
	const end = points.at(-1).time, begin = Math.min(points[0].time, end - SPAN_MS);
	const most = Math.max(...points.flatMap(point => names.map(name => point.values[name] ?? 0)));
	const x = scaleTime().domain([begin, end]).range([EDGE.left, WIDTH - EDGE.right]);
	const y = scaleLinear().domain([0, most || 1]).nice(4).range([HEIGHT - EDGE.bottom, EDGE.top]);
	return [
		y.ticks(4).map(value => m("g", [
			m("line.grid", {x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y(value), y2: y(value)}),
			m("text", {x: EDGE.left - 6, y: y(value) + 4, "text-anchor": "end"}, tell(value)),
		])),
		x.ticks(5).map(time => m("text", {x: x(time), y: HEIGHT - 5, "text-anchor": "middle"}, x.tickFormat(5)(time))),
		names.map((name, i) => m("path.curve", {
			class: `line-${i}`, d: line().defined(point => point.values[name] !== null)
				.x(point => x(point.time)).y(point => y(point.values[name]))(points) ?? "",
		})),
	];
}
