// What is around every page: where one can go, who one is, and what was said last.
import {Refusal, read} from "./core/api.js";
import {link, m, noticeView, redraw} from "./core/dom.js";
import {parse} from "./core/router.js";
import {keepToken, token} from "./core/session.js";
import {FleetPage} from "./fleet/page.js";
import {forget} from "./fleet/store.js";
import {NodePage} from "./node.js";

const PAGES = {
	fleet: FleetPage,
	node: NodePage,
	login: class {
		constructor() {
			this.title = "Token";
			this.said = "";
		}

		close() {}

		async show(secret) {
			keepToken(secret);
			forget();
			try {
				const {data} = await read("/v1/acl/token/self");
				this.said = `This is the token ${data.Name || data.AccessorID} (${data.Type}).`;
			} catch (refusal) {
				if (!(refusal instanceof Refusal))
					throw refusal;
				const isOff = refusal.message.startsWith("ACL support disabled");
				this.said = isOff ? "Tokens are not in use here: everybody may do everything." : `Refused: ${refusal.message}`;
			}
			redraw();
		}

		view() {
			return [
				m("h2", "Token"),
				m("p", "The secret of a token is kept in this tab until it is closed, and nowhere else."),
				m("form.login", {
					onsubmit: e => {
						e.preventDefault();
						this.show(e.target.elements.secret.value.trim());
					},
				}, [
					m("label", ["secret ", m("input#secret[type=password]", {
						name: "secret", autocomplete: "off", spellcheck: false, required: true,
					})]),
					m("button#login[type=submit]", "Show it"),
					token() && m("button", {
						type: "button", onclick: () => {
							keepToken("");
							forget();
							this.said = "The token is forgotten.";
							redraw();
						},
					}, "Forget it"),
				]),
				m("p", {role: "status"}, this.said),
			];
		}
	},
};
const MENU = [["fleet", "Fleet"]];

let page = null, at = "";

function open() {
	const {name, parts, query} = parse(location.hash);
	page?.close();
	at = name;
	page = new (PAGES[name] ?? PAGES.fleet)(parts, query);
	window.scrollTo(0, 0);
	redraw();
}

// A page that was left is taken apart before the next one is put together: its canvas is its own.
export function view() {
	document.title = page ? `${page.title} · Berth` : "Berth";
	return [
		m("a.skip", {href: "#main", onclick: skip}, "to the contents"),
		m("header", [
			m("a.brand", {href: "#/fleet"}, [m("img", {src: "mark.svg", alt: "", width: 22, height: 22}), "Berth"]),
			m("nav", {"aria-label": "pages"}, MENU.map(([name, label]) =>
				link(`#/${name}`, label, {"aria-current": name === at ? "page" : undefined}))),
			link("#/login", token() ? "token shown" : "token", {class: "token", "aria-current": at === "login" ? "page" : undefined}),
		]),
		m("main#main", {tabindex: -1}, [m(".page", {key: location.hash}, [m("h1.spoken", page?.title), page?.view()])]),
		noticeView(),
		m("footer", [link("licenses.txt", "licences"), " ", link("/v1/openapi.json", "API")]),
	];
}

function skip(e) {
	e.preventDefault();
	document.getElementById("main").focus();
}

export function start() {
	addEventListener("hashchange", open);
	open();
}
