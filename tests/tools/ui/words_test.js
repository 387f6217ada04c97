import assert from "node:assert/strict";
import test from "node:test";
import * as words from "../../../tools/ui/core/words.js";

test("numbers and sizes", () => {
	assert.equal(words.count(1234567), "1,234,567");
	assert.equal(words.count(undefined), "0");
	assert.equal(words.plural(1, "node"), "1 node");
	assert.equal(words.plural(2, "node"), "2 nodes");
	assert.equal(words.plural(0, "entry", "entries"), "0 entries");
	assert.equal(words.percent(1, 3), 33);
	assert.equal(words.percent(1, 0), 0);
	assert.equal(words.megabytes(512), "512 MiB");
	assert.equal(words.megabytes(65536), "64 GiB");
	assert.equal(words.megabytes(20 * 1024 * 1024), "20 TiB");
});

test("durations are told in the largest unit that is not too coarse", () => {
	assert.equal(words.duration(0), "0 s");
	assert.equal(words.duration(-5), "0 s");
	assert.equal(words.duration(119000), "119 s");
	assert.equal(words.duration(121000), "2 min");
	assert.equal(words.duration(3 * 3600e3), "3 h");
	assert.equal(words.duration(3 * 86400e3), "3 d");
});

test("times as the API gives them: nanoseconds, seconds, texts, none", () => {
	const now = Date.parse("2026-01-01T00:01:00Z");
	assert.equal(words.ago((now - 5000) * 1e6, now), "5 s ago");
	assert.equal(words.ago(now / 1000 - 7, now), "7 s ago");
	assert.equal(words.ago("2026-01-01T00:00:50Z", now), "10 s ago");
	assert.equal(words.ago(0, now), "");
	assert.equal(words.ago("0001-01-01T00:00:00Z", now), "");
});

test("short spans", () => {
	assert.equal(words.seconds(0), "0");
	assert.equal(words.seconds(2.5), "2.50 s");
	assert.equal(words.seconds(0.0123), "12.3 ms");
	assert.equal(words.seconds(0.0000042), "4.20 µs");
});
