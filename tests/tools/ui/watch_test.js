// What follows a path, at a server of its own.
import assert from "node:assert/strict";
import {once} from "node:events";
import http from "node:http";
import test from "node:test";
import {Poll, Watch} from "../../../tools/ui/core/watch.js";

// Of the browser: whether somebody sees the page, and where the token is kept.
const page = new EventTarget();
page.hidden = false;
globalThis.document = page;
globalThis.sessionStorage = {getItem: () => "secret"};
globalThis.requestAnimationFrame = work => setImmediate(work);

function show(isSeen) {
	page.hidden = !isSeen;
	page.dispatchEvent(new Event("visibilitychange"));
}

// answer(request, response). Its requests come as events "asked".
async function serve(answer) {
	const server = http.createServer((request, response) => {
		answer(request, response);
		server.emit("asked", request);
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	return server;
}

const urlOf = server => `http://127.0.0.1:${server.address().port}/v1/things?prefix=a`;

function say(response, index, data) {
	response.setHeader("X-Nomad-Index", index);
	response.end(JSON.stringify(data));
}

function end(server, loop) {
	loop.stop();
	server.closeAllConnections();
	server.close();
}

test("a watch waits for what comes after the last answer, with the token", async () => {
	const asked = [], seen = [];
	const server = await serve((request, response) => {
		asked.push(request);
		if (asked.length === 1)
			say(response, 7, {n: 1});
	});
	const watch = new Watch(urlOf(server), data => seen.push(data.n));
	while (asked.length < 2)
		await once(server, "asked");
	assert.deepEqual(seen, [1]);
	assert.equal(watch.isLoaded, true);
	assert.equal(asked[0].url, "/v1/things?prefix=a");
	assert.equal(asked[1].url, "/v1/things?prefix=a&index=7&wait=60s");
	assert.equal(asked[0].headers["x-nomad-token"], "secret");
	end(server, watch);
});

test("a refusal is kept and what was loaded stays; then it is asked anew", async () => {
	let count = 0;
	const server = await serve((request, response) => {
		count++;
		if (count === 2) {
			response.statusCode = 403;
			response.end("Permission denied");
		} else if (count < 4) {
			say(response, count, {});
		}
	});
	const refusals = [];
	const watch = new Watch(urlOf(server), () => {});
	while (count < 4) {
		const [request] = await once(server, "asked");
		if (count === 3)
			refusals.push(watch.refusal, request.url);
	}
	assert.equal(refusals[0].status, 403);
	assert.equal(refusals[0].message, "Permission denied");
	assert.equal(refusals[1], "/v1/things?prefix=a", "from the beginning");
	assert.equal(watch.isLoaded, true);
	assert.equal(watch.refusal, null);
	end(server, watch);
});

test("a page that nobody sees gives its connection back, and asks again when it is seen", async () => {
	const server = await serve((request, response) => {
		if (!request.url.includes("index="))
			say(response, 3, {});
	});
	const watch = new Watch(urlOf(server), () => {});
	await once(server, "asked");
	const [waiting] = await once(server, "asked");
	const gone = once(waiting.socket, "close");
	show(false);
	await gone;
	show(true);
	const [again] = await once(server, "asked");
	assert.equal(again.url, "/v1/things?prefix=a");
	end(server, watch);
	show(false);
	show(true);
});

test("an answer that breaks off is a refusal, not an answer", async () => {
	const server = await serve((request, response) => {
		response.setHeader("Content-Length", 100);
		response.write("{\"n\":");
		setImmediate(() => response.destroy());
	});
	let isTaken = false;
	const watch = new Watch(urlOf(server), () => isTaken = true);
	await once(server, "asked");
	while (!watch.refusal)
		await new Promise(setImmediate);
	assert.equal(isTaken, false);
	assert.equal(watch.refusal.status, 0);
	assert.match(watch.refusal.message, /broke off/);
	end(server, watch);
});

test("a poll works until it is stopped, and not again then", async () => {
	let works = 0;
	const poll = new Poll(1, async () => works++);
	while (works < 3)
		await new Promise(setImmediate);
	poll.stop();
	await new Promise(setImmediate);
	const before = works;
	for (let i = 0; i < 20; i++)
		await new Promise(resolve => setTimeout(resolve, 1));
	assert.equal(works, before);
});
