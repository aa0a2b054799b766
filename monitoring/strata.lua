-- Shows the packets of `strata record` in Wireshark: docs/recordings.md describes them.
--   wireshark -X lua_script:strata.lua FILE

local strata = Proto("strata", "Strata bus")
local names = { "kind", "from", "to", "callee", "name", "object", "code", "url" }
local fields = { id = ProtoField.string("strata.id", "id") }
for _, name in ipairs(names) do fields[name] = ProtoField.string("strata." .. name, name) end
for _, field in pairs(fields) do table.insert(strata.fields, field) end
local json = Dissector.get("json")

-- Returns a member's text. The broker writes the members of a frame before its body, and this looks for the first of
-- each name there.
local function member(head, name)
    local _, start = head:find('"' .. name .. '":"', 1, true)
    if not start then return nil end
    local text, at = "", start + 1
    while at <= #head and head:sub(at, at) ~= '"' do
        if head:sub(at, at) == "\\" then at = at + 1 end
        text, at = text .. head:sub(at, at), at + 1
    end
    return text
end

function strata.dissector(buffer, packet, tree)
    local text = buffer():string()
    local head = text:match('^(.-),"body":') or text
    local branch = tree:add(strata, buffer())
    local found = { id = head:match('"id":(%d+)') }
    for _, name in ipairs(names) do found[name] = member(head, name) end
    for name, value in pairs(found) do branch:add(fields[name], buffer(), value) end
    json:call(buffer, packet, branch)
    packet.cols.protocol = "STRATA"
    packet.cols.src = found.from or ""
    packet.cols.dst = found.callee or found.to or ""
    local info = { found.kind or "", found.to or "", found.name or "", found.code or "", found.id and "#" .. found.id or "" }
    local words = {}
    for _, word in ipairs(info) do if word ~= "" then table.insert(words, word) end end
    packet.cols.info = table.concat(words, "  ")
end

-- LINKTYPE_USER0
DissectorTable.get("wtap_encap"):add(wtap.USER0, strata)
