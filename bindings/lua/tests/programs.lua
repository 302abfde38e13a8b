-- The five programs print what those in C print.
local support = require "support"

local tests = {}
for _, name in ipairs {"train_tiny", "continue_text", "stream_text", "inspect_geometry", "handle_error"} do
  table.insert(tests, {"program: " .. name, function()
    local said, fine = support.run("luajit '" .. support.environment "LIB3PT_SOURCE" .. "/examples/" .. name .. ".lua'")
    support.equal(said, support.read(support.environment "LIB3PT_PROGRAMS" .. "/" .. name .. ".txt"), name)
    assert(fine, name .. " did not end with 0")
  end})
end

table.insert(tests, {"program: the first one of README.md", function()
  local readme, path = support.read(support.environment "LIB3PT_SOURCE" .. "/README.md"), support.scratch "first.lua"
  support.write(path, readme:match "```lua\n(.-)```")
  local said, fine = support.run("luajit '" .. path .. "'")
  assert(fine, said)
  support.has(readme, "It prints `" .. said:match "^(.-)\n$" .. "`.")
end})

return tests
