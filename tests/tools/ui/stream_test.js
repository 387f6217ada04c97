import assert from "node:assert/strict";
import test from "node:test";
import {follow, Lines} from "../../../tools/ui/core/stream.js";

test("lines are told when they are whole, however they are cut", () => {
	const lines = new Lines();
	assert.deepEqual(lines.take("{\"a\":"), []);
	assert.deepEqual(lines.take("1}\n{}\n{\"b\""), [{a: 1}, {}]);
	assert.deepEqual(lines.take(":2}\n\n"), [{b: 2}]);
});

test("a response is followed to its end, characters in two pieces included", async () => {
	const bytes = new TextEncoder().encode("{\"name\":\"é\"}\n{\"last\":true}\n");
	const cut = bytes.indexOf(0xa9);
	const response = new Response(new ReadableStream({
		start(controller) {
			controller.enqueue(bytes.slice(0, cut));
			controller.enqueue(bytes.slice(cut));
			controller.close();
		},
	}));
	const seen = [];
	await follow(response, line => seen.push(line));
	assert.deepEqual(seen, [{name: "é"}, {last: true}]);
});
