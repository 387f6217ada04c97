import assert from "node:assert/strict";
import test from "node:test";
import {parse, quantileBetween, sum} from "../../../tools/ui/metrics/exposition.js";

const TEXT = `# HELP a_total Something.
# TYPE a_total counter
a_total{method="GET",route="/v1/x{y}"} 3
a_total{method="PUT",route="say \\"so\\", then"} 4
b 1.5e-05
nothing
c NaN
`;

test("families, labels and values are read; comments and what is none are not", () => {
	const families = parse(TEXT);
	assert.deepEqual([...families.keys()], ["a_total", "b", "c"]);
	assert.equal(families.get("a_total")[0].labels.route, "/v1/x{y}");
	assert.equal(families.get("b")[0].value, 1.5e-5);
});

test("sums are of the series that fit", () => {
	const families = parse(TEXT);
	assert.equal(sum(families, "a_total"), 7);
	assert.equal(sum(families, "a_total", {method: "PUT"}), 4);
	assert.equal(sum(families, "absent"), 0);
});

const histogram = (...counts) => parse([0.001, 0.002, 0.004, "+Inf"].map((le, i) => `h_bucket{le="${le}"} ${counts[i]}`).join("\n"));

test("a quantile is of what came between two looks", () => {
	const before = histogram(100, 100, 100, 100);
	assert.equal(quantileBetween(before, histogram(100, 110, 110, 110), "h", 0.5), 0.002);
	assert.equal(quantileBetween(before, histogram(199, 199, 200, 200), "h", 0.99), 0.001);
	assert.equal(quantileBetween(before, histogram(198, 198, 200, 200), "h", 0.99), 0.004);
	assert.equal(quantileBetween(before, histogram(100, 100, 100, 105), "h", 0.5), 0.004);
	assert.equal(quantileBetween(before, before, "h", 0.5), null);
	assert.equal(quantileBetween(before, parse(""), "h", 0.5), null);
});
