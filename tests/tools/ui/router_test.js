import assert from "node:assert/strict";
import test from "node:test";
import {href, parse} from "../../../tools/ui/core/router.js";

test("an address names a page and its parts", () => {
	assert.deepEqual(parse("#/node/abc").parts, ["abc"]);
	assert.equal(parse("#/node/abc").name, "node");
	assert.equal(parse("").name, "fleet");
	assert.equal(parse("#/").name, "fleet");
	assert.equal(parse("#/jobs?namespace=team").query.get("namespace"), "team");
});

test("ids with slashes and other characters go there and back", () => {
	for (const id of ["a/b", "a b%", "é?#&"]) {
		const {name, parts} = parse(href("job", "default", id));
		assert.equal(name, "job");
		assert.deepEqual(parts, ["default", id]);
	}
});

test("a broken escape is taken as it is", () => {
	assert.deepEqual(parse("#/node/%zz").parts, ["%zz"]);
});
