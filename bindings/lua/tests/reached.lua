-- The last file: the tests before it have called every function of the interface through the friendly layer.
local tpt, names = require "3pt", require "names"

return {
  {"friendly layer: every function was called by a test", function()
    local missing = {}
    for name in pairs(names) do
      if rawget(tpt.C, name) == nil then missing[#missing + 1] = name end
    end
    if #missing > 0 then error("never called: " .. table.concat(missing, ", "), 0) end
  end},
}
