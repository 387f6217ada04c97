// Requests to the controller that served the page.
import {token} from "./session.js";

// What the controller says when it does not do what it was asked. Status 0: it did not answer.
export class Refusal extends Error {
	constructor(status, sentence) {
		super(sentence);
		this.status = status;
	}
}

export function headers() {
	const secret = token();
	return secret ? {"X-Nomad-Token": secret} : {};
}

async function refusalOf(response) {
	const text = (await response.text()).trim();
	return new Refusal(response.status, text || `the controller answered ${response.status} ${response.statusText}`);
}

// The response itself; throws a Refusal, or the signal's reason.
export async function request(path, {method = "GET", body, signal} = {}) {
	let response;
	try {
		response = await fetch(path, {
			method, signal, headers: headers(), body: body === undefined ? undefined : JSON.stringify(body),
			cache: "no-store", redirect: "error", credentials: "same-origin",
		});
	} catch (error) {
		if (signal?.aborted)
			throw error;
		throw new Refusal(0, "the controller does not answer");
	}
	if (!response.ok)
		throw await refusalOf(response);
	return response;
}

// What of an answer is still to come; throws a Refusal when it breaks off.
export async function rest(work, signal) {
	try {
		return await work;
	} catch (error) {
		if (signal?.aborted || error instanceof Refusal)
			throw error;
		throw new Refusal(0, "the controller's answer broke off");
	}
}

// {data, index}
export async function read(path, options) {
	const response = await request(path, options);
	const data = await rest(response.json(), options?.signal);
	return {data, index: Number(response.headers.get("X-Nomad-Index") ?? 0)};
}

// The answer of a change, or null when it has none.
export async function change(method, path, body) {
	const text = await (await request(path, {method, body})).text();
	return text ? JSON.parse(text) : null;
}

// A path with its parts encoded: path`/v1/job/${id}`.
export function path(parts, ...values) {
	return parts.reduce((all, part, i) => all + encodeURIComponent(values[i - 1]) + part);
}
