// Drawing: pages return trees of what is to be seen, and one place writes them into the document.
import m from "mithril/hyperscript";
import renderer from "mithril/render";
import {drawWith, redraw} from "./frame.js";

// view(): the tree of the whole page.
export function drawInto(element, view) {
	drawWith(() => renderer.render(element, view()));
}

export {m, redraw};

export const link = (href, text, more) => m("a", {href, ...more}, text);

export const badge = (word, kind) => m("span.badge", {class: kind ?? word}, word);

// A button that does something, and says what became of it.
export function action(label, work, more = {}) {
	return m("button", {
		type: "button", ...more, onclick: async event => {
			const button = event.currentTarget;
			button.disabled = true;
			try {
				await work();
			} catch (error) {
				notice(isDenied(error) ? `Permission denied: ${label} wants a token with that right` : error.message);
			} finally {
				button.disabled = false;
				redraw();
			}
		},
	}, label);
}

let said = "";
let saidTimer = 0;

// One sentence for the user, which screen readers hear, too.
export function notice(sentence) {
	said = sentence;
	clearTimeout(saidTimer);
	saidTimer = setTimeout(() => {
		said = "";
		redraw();
	}, 10000);
	redraw();
}

export const noticeView = () => m("p.notice", {role: "status", "aria-live": "polite"}, said);

// columns: [title, row => cell, {numeric}]. Rows without a key are told apart by their place.
export function table(caption, columns, rows, keyOf, empty = "none") {
	if (rows.length === 0)
		return m("p.empty", `${caption}: ${empty}`);
	return m(".scroll", {tabindex: 0, role: "region", "aria-label": caption}, m("table", [
		m("caption", caption),
		m("thead", m("tr", columns.map(([title, , more]) =>
			m("th", {scope: "col", class: more?.numeric ? "number" : ""}, title)))),
		m("tbody", rows.map(row => m("tr", {key: keyOf(row)}, columns.map(([, cell, more]) =>
			m("td", {class: more?.numeric ? "number" : ""}, cell(row)))))),
	]));
}

export function facts(pairs) {
	return m("dl.facts", pairs.filter(pair => pair).map(([name, value]) => m("div", [m("dt", name), m("dd", value)])));
}

// A stream says it with another status.
const isDenied = refusal => refusal?.status === 403 || refusal?.message.startsWith("Permission denied");

// What is to be seen of something that is loading, or that may not be seen.
export function unless(watch, what, right, view) {
	if (isDenied(watch.refusal))
		return m("section.denied", {role: "alert"}, [
			m("h2", what), m("p", `Permission denied. This wants a token with ${right}.`),
			m("p", link("#/login", "Show a token")),
		]);
	if (watch.refusal && !watch.isLoaded)
		return m("section.denied", {role: "alert"}, [m("h2", what), m("p", watch.refusal.message)]);
	if (!watch.isLoaded)
		return m("p.loading", {role: "status"}, `${what} …`);
	return [watch.refusal && m("p.stale", {role: "alert"}, `As it was before: ${watch.refusal.message}`), view()];
}
