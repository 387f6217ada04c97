-- Wireshark dissector of Berth's wire protocol, version 1 (docs/wire.md).
--
-- Copy it to the personal Lua plugins folder (Help > About > Folders), or: tshark -X lua_script:berth.lua
-- Frames are found on UDP port 4647, and on any other port by their magic, version and length. What does not
-- parse is marked with the expert item berth.malformed.

local berth = Proto("berth", "Berth")

local types = {
	[2] = "HEARTBEAT", [3] = "HEARTBEAT_ACK", [4] = "REGISTER", [5] = "REGISTERED",
	[6] = "GOODBYE", [7] = "GOODBYE_ACK", [8] = "PLACE", [9] = "PLACED",
	[10] = "RELEASE", [11] = "RELEASED", [12] = "STATUS", [13] = "STATUS_REPLY",
	[15] = "REFUSED", [16] = "ALLOC_UPDATE", [17] = "ALLOC_UPDATED", [18] = "ALLOCS",
	[19] = "ALLOCS_REPLY", [20] = "ALLOC_SPEC", [21] = "ALLOC_SPEC_REPLY",
	[22] = "READINESS", [23] = "READINESS_TAKEN", [24] = "VMS", [25] = "VMS_REPLY",
	[27] = "NOTIFY",
}
local refusals = {
	[1] = "stale-generation", [2] = "stale-registration", [3] = "bad-request", [4] = "unknown-job",
	[5] = "unknown-group", [6] = "not-direct", [7] = "job-stopped", [8] = "no-node", [9] = "too-old",
	[10] = "overloaded", [11] = "table-full", [12] = "store-full", [13] = "stopping",
	[14] = "bad-description", [15] = "not-allowed", [16] = "unknown-allocation",
	[17] = "conflict", [18] = "not-admitted", [19] = "client-not-allowed", [20] = "not-sealed",
	[21] = "quota-exhausted", [22] = "quarantined", [23] = "not-leader",
}
local pair_kinds = {
	[0] = "attribute", [1] = "meta", [2] = "driver", [3] = "volume", [4] = "network", [5] = "address",
	[6] = "setting", [7] = "device",
}
local release_results = { [0] = "done", [1] = "already", [2] = "unknown" }
local desired = { [0] = "run", [1] = "stop", [2] = "evict" }
local client_status = {
	[0] = "pending", [1] = "running", [2] = "complete", [3] = "failed", [4] = "lost", [5] = "unknown",
}
local healthy = { [0] = "not said", [1] = "yes", [2] = "no" }
local task_states = { [0] = "pending", [1] = "running", [2] = "dead" }
local power_states = { [0] = "running", [1] = "stopped", [2] = "suspended" }
local status_modes = { [0] = "by id", [1] = "changes" }

-- One row a field: key, constructor, name in filters, what it is, more arguments of the constructor.
local fields = {}
local function field(key, kind, title, ...)
	fields[key] = ProtoField[kind]("berth." .. key, title, ...)
end
field("magic", "uint16", "Magic", base.HEX)
field("version", "uint8", "Version")
field("type", "uint8", "Type", base.DEC, types)
field("length", "uint16", "Length")
field("key_id", "uint8", "Key id")
field("flags", "uint8", "Flags", base.HEX)
field("slot", "uint32", "Slot")
field("generation", "uint32", "Generation")
field("sequence", "uint64", "Sequence")
field("tag", "bytes", "Tag")
field("reserved", "bytes", "Reserved")
field("padding", "bytes", "Padding")
field("term", "uint64", "Term")
field("alloc_index", "uint64", "Allocation index")
field("load_permille", "uint32", "Load (permille)")
field("ttl_ms", "uint32", "Time to live (ms)")
field("directives", "uint16", "Directives", base.HEX)
field("directive_resync", "bool", "Resync", 16, nil, 1)
field("directive_register", "bool", "Register", 16, nil, 2)
field("directive_drain", "bool", "Drain", 16, nil, 4)
field("directive_probe", "bool", "Probe", 16, nil, 8)
field("directive_call", "bool", "Call", 16, nil, 16)
field("line_port", "uint16", "Line's TCP port")
field("call_port", "uint16", "Dial TCP port")
field("node", "string", "Node")
field("part", "uint8", "Part")
field("parts", "uint8", "Parts")
field("cpu_mhz", "uint32", "CPU (MHz)")
field("memory_mb", "uint32", "Memory (MB)")
field("disk_mb", "uint32", "Disk (MB)")
field("reserved_cpu_mhz", "uint32", "Reserved CPU (MHz)")
field("reserved_memory_mb", "uint32", "Reserved memory (MB)")
field("reserved_disk_mb", "uint32", "Reserved disk (MB)")
field("name", "string", "Name")
field("datacenter", "string", "Datacenter")
field("class", "string", "Class")
field("pool", "string", "Pool")
field("address", "string", "Address")
field("agent_version", "string", "Agent version")
field("device_groups", "uint8", "Device groups")
field("device_vendor", "string", "Vendor")
field("device_type", "string", "Type")
field("device_name", "string", "Name")
field("device_instances", "uint8", "Instances")
field("pairs", "uint16", "Pairs")
field("pair_kind", "uint8", "Kind", base.DEC, pair_kinds)
field("pair_name", "string", "Name")
field("pair_value", "string", "Value")
field("client", "string", "Client")
field("issued_ms", "uint64", "Issued (unix ms)")
field("request", "uint64", "Request")
field("count", "uint8", "Count")
field("namespace", "string", "Namespace")
field("job", "string", "Job")
field("group", "string", "Group")
field("index", "uint64", "Index")
field("requested", "uint8", "Requested")
field("nodes_feasible", "uint32", "Nodes feasible")
field("allocation", "string", "Allocation")
field("score", "double", "Score")
field("result", "uint8", "Result", base.DEC, release_results)
field("mode", "uint8", "Mode", base.DEC, status_modes)
field("since", "uint64", "Since index")
field("more", "uint8", "More")
field("modify_index", "uint64", "Modify index")
field("desired", "uint8", "Desired status", base.DEC, desired)
field("client_status", "uint8", "Client status", base.DEC, client_status)
field("known", "uint8", "Known")
field("node_slot", "uint32", "Node slot")
field("request_type", "uint8", "Request type", base.DEC, types)
field("reason", "uint8", "Reason", base.DEC, refusals)
field("filters", "uint16", "Filters")
field("retry_after_ms", "uint32", "Retry after (ms)")
field("value", "uint64", "Value")
field("leader_port", "uint16", "Leader's port")
field("leader_address", "ipv6", "Leader's address")
field("nodes_seen", "uint32", "Nodes seen")
field("nodes_not_ready", "uint32", "Nodes not ready")
field("filtered_datacenter", "uint32", "Filtered by datacenter")
field("filtered_class", "uint32", "Filtered by class or pool")
field("filtered_device", "uint32", "Filtered by device")
field("exhausted_cpu", "uint32", "Exhausted CPU")
field("exhausted_memory", "uint32", "Exhausted memory")
field("exhausted_disk", "uint32", "Exhausted disk")
field("exhausted_device", "uint32", "Exhausted devices")
field("filtered_constraint", "uint32", "Filtered by constraint")
field("healthy", "uint8", "Healthy", base.DEC, healthy)
field("update_flags", "uint8", "Flags (1 by its node's infrastructure, 2 the node is not ready any more)")
field("tasks", "uint8", "Tasks")
field("description", "string", "Description")
field("task_name", "string", "Name")
field("task_state", "uint8", "State", base.DEC, task_states)
field("task_flags", "uint8", "Flags")
field("task_restarts", "uint16", "Restarts")
field("task_started", "int64", "Started (unix ns)")
field("task_finished", "int64", "Finished (unix ns)")
field("task_last_restart", "int64", "Last restart (unix ns)")
field("handle_version", "uint32", "Version of the handle")
field("handle_bytes", "uint16", "Bytes of the handle")
field("handle", "bytes", "Handle")
field("events", "uint8", "Events")
field("event_type", "string", "Type")
field("event_message", "string", "Message")
field("event_time", "int64", "Time (unix ns)")
field("event_exit_code", "int32", "Exit code")
field("job_index", "uint64", "Job index")
field("group_index", "uint16", "Group")
field("alloc_flags", "uint16", "Flags (1 in a deployment, 2 health known)")
field("spec_version", "uint64", "Version of the specification")
field("total", "uint32", "Bytes of the whole")
field("offset", "uint32", "Offset")
field("bytes", "uint16", "Bytes")
field("data", "string", "Data")
field("seal", "uint16", "Seal", base.DEC, { [0] = "none", [1] = "XChaCha20-Poly1305" })
field("nonce", "bytes", "Nonce")
field("sealed", "bytes", "Sealed data")
field("seal_tag", "bytes", "Tag of the sealed data")
field("ready", "uint8", "Ready")
field("backoff_ms", "uint32", "Asked again after (ms)")
field("list_version", "uint64", "Version of the list")
field("from", "uint16", "From")
field("instance", "string", "Instance")
field("machine_version", "uint64", "Version of the machine")
field("power", "uint8", "Power", base.DEC, power_states)
berth.fields = fields

local malformed = ProtoExpert.new(
	"berth.malformed", "Malformed Berth frame", expert.group.MALFORMED, expert.severity.ERROR)
local unusual = ProtoExpert.new(
	"berth.refused", "Berth request refused", expert.group.RESPONSE_CODE, expert.severity.NOTE)
berth.experts = { malformed, unusual }

-- Reads the body field by field. After the first mistake every further step does nothing.
local Reader = {}
Reader.__index = Reader

local function reader(body, tree, flags)
	return setmetatable({ body = body, tree = tree, flags = flags, at = 0, bad = nil }, Reader)
end

function Reader:left()
	return self.body:len() - self.at
end

function Reader:fail(why)
	self.bad = self.bad or why
end

-- The next size bytes, or nil.
function Reader:take(size, what)
	if self.bad then
		return nil
	end
	if size > self:left() then
		self:fail("cut off in " .. what)
		return nil
	end
	local range = size > 0 and self.body(self.at, size) or nil
	self.at = self.at + size
	return range
end

-- A little-endian number; returns it (a UInt64 for 8 bytes), or 0 after a mistake.
function Reader:number(key, size, tree)
	local range = self:take(size, key)
	if not range then
		return 0
	end
	(tree or self.tree):add_le(fields[key], range)
	return size == 8 and range:le_uint64() or range:le_uint()
end

function Reader:real(key, tree)
	local range = self:take(8, key)
	if range then
		(tree or self.tree):add_le(fields[key], range)
	end
end

function Reader:text(key, length_size, tree)
	local length = self:take(length_size, key)
	if not length then
		return ""
	end
	local size = length:le_uint()
	local range = self:take(size, key)
	local value = range and range:string(ENC_UTF_8) or ""
	if not self.bad then
		(tree or self.tree):add(fields[key], range or length, value)
	end
	return value
end

function Reader:uuid(key, tree)
	local range = self:take(16, key)
	if not range then
		return ""
	end
	local hex = range:bytes():tohex(true)
	local value = hex:sub(1, 8) .. "-" .. hex:sub(9, 12) .. "-" .. hex:sub(13, 16) .. "-"
		.. hex:sub(17, 20) .. "-" .. hex:sub(21, 32);
	(tree or self.tree):add(fields[key], range, value)
	return value
end

local function all_zero(range)
	return range:bytes():tohex():find("[^0]") == nil
end

function Reader:zeros(size, what)
	local range = self:take(size, what)
	if range and not all_zero(range) then
		self.tree:add(fields.reserved, range)
		self:fail(what .. " is not zero")
	end
end

function Reader:count(least, most)
	local count = self:number("count", 1)
	if count < least or count > most then
		self:fail("count out of range")
		return 0
	end
	return count
end

-- Only zeros may follow.
function Reader:finish()
	if self.bad or self:left() == 0 then
		return
	end
	local range = self:take(self:left(), "padding")
	self.tree:add(fields.padding, range)
	if not all_zero(range) then
		self:fail("padding is not zero")
	end
end

local function subtree(r, title)
	return r.tree:add(berth, r.body(math.min(r.at, r.body:len() - 1), 1), title)
end

-- A number that is at most so much.
local function limited(r, key, size, most, tree)
	local number = r:number(key, size, tree)
	if number > most then
		r:fail(key .. " out of range")
	end
	return number
end

-- Bytes as they are.
local function shown(r, size, key)
	local range = r:take(size, key)
	if range then
		r.tree:add(fields[key], range)
	end
end

-- So many of a kind, each with a tree of its own that says which it is.
local function items(r, count, title, read)
	for i = 1, count do
		if r.bad then
			return
		end
		read(subtree(r, title .. " " .. i))
	end
end

-- With flag 1 an answer about what a node runs ends with the controller's term.
local function term(r)
	if r.flags % 2 == 1 then
		r:number("term", 8)
	end
end

local bodies = {}

bodies[2] = function(r)
	r:number("term", 8)
	r:number("alloc_index", 8)
	r:number("load_permille", 4)
	r:zeros(4, "reserved")
end

local function acknowledgement(r)
	r:number("term", 8)
	r:number("alloc_index", 8)
	r:number("ttl_ms", 4)
	local range = r:take(2, "directives")
	if range then
		local tree = r.tree:add_le(fields.directives, range)
		tree:add_le(fields.directive_resync, range)
		tree:add_le(fields.directive_register, range)
		tree:add_le(fields.directive_drain, range)
		tree:add_le(fields.directive_probe, range)
		tree:add_le(fields.directive_call, range)
	end
	r:number("line_port", 2)
end
bodies[3] = acknowledgement
bodies[5] = acknowledgement

local function description(r)
	for _, key in ipairs({ "cpu_mhz", "memory_mb", "disk_mb", "reserved_cpu_mhz", "reserved_memory_mb",
		"reserved_disk_mb" }) do
		r:number(key, 4)
	end
	for _, key in ipairs({ "name", "datacenter", "class", "pool", "address", "agent_version" }) do
		r:text(key, 1)
	end
	local groups = limited(r, "device_groups", 1, 4)
	items(r, groups, "Device group", function(tree)
		r:text("device_vendor", 1, tree)
		r:text("device_type", 1, tree)
		r:text("device_name", 1, tree)
		r:number("device_instances", 1, tree)
	end)
end

bodies[4] = function(r)
	r:uuid("node")
	local part = r:number("part", 1)
	local parts = r:number("parts", 1)
	if parts > 8 or part >= parts then
		r:fail("part " .. part .. " of " .. parts)
	end
	r:zeros(2, "reserved")
	if part == 0 then
		description(r)
	end
	local pairs_count = r:number("pairs", 2)
	if pairs_count > 256 then
		r:fail("more than 256 pairs")
	end
	for _ = 1, pairs_count do
		if r.bad then
			return
		end
		local tree = subtree(r, "Pair")
		local kind = r:number("pair_kind", 1, tree)
		if not pair_kinds[kind] then
			r:fail("unknown kind of pair")
		end
		local name = r:text("pair_name", 1, tree)
		local value = r:text("pair_value", 2, tree)
		tree:set_text((pair_kinds[kind] or "?") .. " " .. name .. " = " .. value)
	end
end

bodies[6] = function(r)
	r:zeros(24, "body")
end
bodies[7] = bodies[6]

local function client_name(r)
	local name = r:text("client", 1)
	if #name == 0 or #name > 64 then
		r:fail("client name of " .. #name .. " bytes")
	end
end

bodies[8] = function(r)
	client_name(r)
	r:number("issued_ms", 8)
	r:number("request", 8)
	r:count(1, 32)
	r:text("namespace", 1)
	r:text("job", 1)
	r:text("group", 1)
end

bodies[9] = function(r)
	r:number("index", 8)
	local count = r:count(1, 32)
	if r:number("requested", 1) < count then
		r:fail("more placed than requested")
	end
	r:zeros(2, "reserved")
	r:number("nodes_feasible", 4)
	items(r, count, "Instance", function(tree)
		r:uuid("allocation", tree)
		r:uuid("node", tree)
		r:real("score", tree)
	end)
end

local function allocations(r, count)
	for _ = 1, count do
		r:uuid("allocation")
	end
end

bodies[10] = function(r)
	client_name(r)
	allocations(r, r:count(1, 32))
end

bodies[11] = function(r)
	r:number("index", 8)
	for _ = 1, r:count(1, 32) do
		if r:number("result", 1) > 2 then
			r:fail("unknown result")
		end
	end
end

bodies[12] = function(r)
	client_name(r)
	local mode = r:number("mode", 1)
	local count = r:count(1, 32)
	if mode == 0 then
		allocations(r, count)
	elseif mode == 1 then
		r:number("since", 8)
	else
		r:fail("unknown mode")
	end
end

bodies[13] = function(r)
	r:number("index", 8)
	local count = r:count(0, 32)
	limited(r, "more", 1, 1)
	r:zeros(2, "reserved")
	items(r, count, "Allocation", function(tree)
		r:uuid("allocation", tree)
		r:number("modify_index", 8, tree)
		r:number("desired", 1, tree)
		r:number("client_status", 1, tree)
		limited(r, "known", 1, 1, tree)
		r:zeros(1, "reserved")
		r:number("node_slot", 4, tree)
	end)
end

local function not_leader(r)
	local port = r:number("leader_port", 2)
	r:number("retry_after_ms", 4)
	if port == 0 then
		return r:zeros(8, "address of no leader")
	end
	shown(r, 16, "leader_address")
end

bodies[15] = function(r, info)
	r:number("request_type", 1)
	local reason = r:number("reason", 1)
	info.text = refusals[reason] or ("reason " .. reason)
	if reason == 23 then
		return not_leader(r)
	end
	local filters = r:number("filters", 2)
	if filters > 64 then
		r:fail("more than 64 filters")
	end
	r:number("retry_after_ms", 4)
	r:number("value", 8)
	for _, key in ipairs({ "nodes_seen", "nodes_not_ready", "filtered_datacenter", "filtered_class",
		"filtered_device", "exhausted_cpu", "exhausted_memory", "exhausted_disk", "exhausted_device" }) do
		if r:left() > 0 then -- a refusal may be cut to its request's length
			r:number(key, 4)
		end
	end
	for _ = 1, filters do
		r:number("filtered_constraint", 4)
	end
end

local function task(r, parent)
	local tree = parent:add(berth, r.body(math.min(r.at, r.body:len() - 1), 1), "Task")
	tree:set_text("Task " .. r:text("task_name", 1, tree))
	limited(r, "task_state", 1, 2, tree)
	local flags = limited(r, "task_flags", 1, 3, tree)
	r:number("task_restarts", 2, tree)
	r:number("task_started", 8, tree)
	r:number("task_finished", 8, tree)
	r:number("task_last_restart", 8, tree)
	if flags >= 2 then
		r:number("handle_version", 4, tree)
		local size = limited(r, "handle_bytes", 2, 512, tree)
		local range = r:take(size, "handle")
		if range then
			tree:add(fields.handle, range)
		end
	end
	for _ = 1, r:number("events", 1, tree) do
		if r.bad then
			return
		end
		r:text("event_type", 1, tree)
		r:text("event_message", 1, tree)
		r:number("event_time", 8, tree)
		r:number("event_exit_code", 4, tree)
	end
end

bodies[16] = function(r)
	local count = r:count(1, 16)
	r:zeros(3, "reserved")
	items(r, count, "Allocation", function(tree)
		r:uuid("allocation", tree)
		limited(r, "client_status", 1, 3, tree)
		limited(r, "healthy", 1, 2, tree)
		limited(r, "update_flags", 1, 3, tree)
		local tasks = r:number("tasks", 1, tree)
		r:text("description", 1, tree)
		for _ = 1, tasks do
			if r.bad then
				return
			end
			task(r, tree)
		end
	end)
end

bodies[17] = function(r)
	r:number("index", 8)
	for _ = 1, r:count(1, 16) do
		limited(r, "known", 1, 1)
	end
end

bodies[18] = function(r)
	r:number("since", 8)
	r:count(1, 32)
end

bodies[19] = function(r)
	r:number("index", 8)
	local count = r:count(0, 32)
	limited(r, "more", 1, 1)
	r:zeros(2, "reserved")
	items(r, count, "Allocation", function(tree)
		r:uuid("allocation", tree)
		r:number("spec_version", 8, tree)
		r:number("job_index", 8, tree)
		r:number("desired", 1, tree)
		r:number("client_status", 1, tree)
		r:number("group_index", 2, tree)
		limited(r, "alloc_flags", 2, 3, tree)
		r:zeros(2, "reserved")
	end)
	term(r)
end

bodies[20] = function(r)
	r:uuid("allocation")
	r:number("offset", 4)
	local bytes = r:number("bytes", 2)
	if bytes < 1 or bytes > 1392 then
		r:fail("bytes out of range")
	end
	r:zeros(2, "reserved")
end

bodies[21] = function(r)
	r:number("spec_version", 8)
	local total = r:number("total", 4)
	local offset = r:number("offset", 4)
	local size = r:number("bytes", 2)
	local seal = limited(r, "seal", 2, 1)
	if offset + size > total then
		r:fail("behind the end")
	end
	if seal == 1 then
		shown(r, 24, "nonce")
		shown(r, size, "sealed")
		shown(r, 16, "seal_tag")
	else
		local range = r:take(size, "data")
		if range then
			r.tree:add(fields.data, range, range:string(ENC_UTF_8))
		end
	end
	term(r)
end

bodies[22] = function(r)
	limited(r, "ready", 1, 1)
	r:zeros(3, "reserved")
	r:number("backoff_ms", 4)
	r:zeros(16, "body")
end

bodies[23] = function(r)
	r:number("index", 8)
	r:zeros(16, "body")
end

bodies[24] = function(r)
	r:number("list_version", 8)
	r:number("from", 2)
	r:count(1, 32)
end

bodies[25] = function(r)
	r:number("list_version", 8)
	r:number("from", 2)
	local count = r:count(0, 32)
	limited(r, "more", 1, 1)
	items(r, count, "Virtual machine", function(tree)
		r:uuid("instance", tree)
		r:number("machine_version", 8, tree)
		limited(r, "power", 1, 2, tree)
		r:zeros(7, "reserved")
	end)
	term(r)
end

bodies[27] = function(r)
	r:number("term", 8)
	r:number("alloc_index", 8)
	r:number("call_port", 2)
	r:zeros(6, "body")
end

-- Lengths that are fixed, or at least so much.
local fixed = { [2] = 64, [3] = 64, [5] = 64, [6] = 64, [7] = 64, [22] = 64, [23] = 64, [27] = 64 }
local least = { [4] = 96, [15] = 56 }

local function header(buffer, tree)
	local widths = {
		{ "magic", 0, 2 }, { "version", 2, 1 }, { "type", 3, 1 }, { "length", 4, 2 }, { "key_id", 6, 1 },
		{ "flags", 7, 1 }, { "slot", 8, 4 }, { "generation", 12, 4 }, { "sequence", 16, 8 },
	}
	for _, w in ipairs(widths) do
		tree:add_le(fields[w[1]], buffer(w[2], w[3]))
	end
end

-- What is wrong with the fixed part, or nil.
local function header_mistake(buffer)
	if buffer:len() < 40 then
		return "shorter than a header and a tag"
	elseif buffer(0, 2):le_uint() ~= 0x4242 then
		return "bad magic"
	elseif buffer(2, 1):uint() ~= 1 then
		return "unknown version"
	elseif buffer(4, 2):le_uint() ~= buffer:len() then
		return "length field is not the payload's"
	elseif not types[buffer(3, 1):uint()] then
		return "unknown type"
	end
	return nil
end

function berth.dissector(buffer, pinfo, root)
	local tree = root:add(berth, buffer())
	pinfo.cols.protocol = "Berth"
	local bad = header_mistake(buffer)
	if buffer:len() >= 24 then
		header(buffer, tree)
	end
	if bad then
		tree:add_proto_expert_info(malformed, "Malformed: " .. bad)
		pinfo.cols.info = "Malformed: " .. bad
		return
	end
	local kind, length, info = buffer(3, 1):uint(), buffer:len(), {}
	local r = reader(length > 40 and buffer(24, length - 40):tvb() or ByteArray.new():tvb("empty"), tree,
		buffer(7, 1):uint())
	if (fixed[kind] and length ~= fixed[kind]) or (least[kind] and length < least[kind]) then
		r:fail("a length of " .. length)
	end
	bodies[kind](r, info)
	r:finish()
	tree:add(fields.tag, buffer(length - 16, 16))
	local text = types[kind] .. " sequence " .. tostring(buffer(16, 8):le_uint64())
	local slot = buffer(8, 4):le_uint()
	if slot ~= 0xffffffff then
		text = text .. " slot " .. slot .. "/" .. buffer(12, 4):le_uint()
	end
	if info.text then
		text = text .. " " .. info.text
		tree:add_proto_expert_info(unusual, "Refused: " .. info.text)
	end
	if r.bad then
		text = text .. " [malformed: " .. r.bad .. "]"
		tree:add_proto_expert_info(malformed, "Malformed: " .. r.bad)
	end
	tree:append_text(", " .. text)
	pinfo.cols.info = text
end

local function is_berth(buffer, pinfo, root)
	if header_mistake(buffer) then
		return false
	end
	berth.dissector(buffer, pinfo, root)
	return true
end

berth:register_heuristic("udp", is_berth)
DissectorTable.get("udp.port"):add(4647, berth)
