// Where one shows a token.
import {Refusal, read} from "./core/api.js";
import {m, redraw} from "./core/dom.js";
import {keepToken, token} from "./core/session.js";
import {forget} from "./fleet/store.js";

export class LoginPage {
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

	drop() {
		keepToken("");
		forget();
		this.said = "The token is forgotten.";
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
				token() && m("button#logout[type=button]", {onclick: () => this.drop()}, "Forget it"),
			]),
			m("p#said", {role: "status"}, this.said),
		];
	}
}
