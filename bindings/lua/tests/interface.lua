-- Everything that 3pt.json has is in the raw layer, and every function is reachable through the friendly one.
local ffi = require "ffi"
local tpt, support, decode_json, names = require "3pt", require "support", require "json", require "names"

local prefix = support.environment "LIB3PT_PREFIX"

local function installed(name) return support.read(prefix .. "/share/3pt/" .. name) end

local function interface() return decode_json(installed "3pt.json") end

local function where_is(path)
  local at = tpt
  for part in path:gmatch "[%w_]+" do at = type(at) == "table" and at[part] or nil end
  return at
end

local function check_struct(struct)
  for _, field in ipairs(struct.fields) do
    assert(ffi.offsetof(struct.name, field.name), struct.name .. "." .. field.name)
  end
end

return {
  {"declarations: those of the installed 3pt.cdef", function()
    local source = support.read(support.environment "LIB3PT_LUA" .. "/3pt.lua")
    support.equal(source:match "local DECLARATIONS = %[=%[\n(.-)%]=%]\n", installed "3pt.cdef", "3pt.lua")
  end},
  {"declarations: every function", function()
    local library = ffi.load(os.getenv "LIB3PT_LIBRARY")
    for _, f in ipairs(interface().functions) do
      local found = tostring(library[f.name])
      support.has(found, "cdata<")
    end
  end},
  {"declarations: every enum value", function()
    local seen = 0
    for _, enum in ipairs(interface().enums) do
      for _, value in ipairs(enum.values) do
        support.equal(ffi.C[value.name], value.value, value.name)
        seen = seen + 1
      end
    end
    assert(seen >= 20, "so few values: " .. seen)
  end},
  {"declarations: every struct and handle", function()
    local all = interface()
    for _, struct in ipairs(all.structs) do check_struct(struct) end
    for _, handle in ipairs(all.handles) do ffi.typeof(handle.name .. " *") end
    assert(#all.structs >= 4 and #all.handles >= 8)
  end},
  {"friendly layer: every function has its place", function()
    local functions = interface().functions
    for _, f in ipairs(functions) do
      local place = names[f.name] or error("no friendly name of " .. f.name, 0)
      if type(where_is(place)) ~= "function" then error(f.name .. ": there is no " .. place, 0) end
    end
    local count = 0
    for _ in pairs(names) do count = count + 1 end
    support.equal(count, #functions, "number of names")
  end},
  {"friendly layer: points and uses are those of the enums", function()
    for name, value in pairs(tpt.points) do support.equal(value, ffi.C["TPT_POINT_" .. name:upper()], name) end
    for name, value in pairs(tpt.memory_uses) do support.equal(value, ffi.C["TPT_MEMORY_" .. name:upper()], name) end
    for _, enum in ipairs(interface().enums) do
      for _, value in ipairs(enum.values) do
        local point, use = value.name:match "^TPT_POINT_(%u+)$", value.name:match "^TPT_MEMORY_(%u+)$"
        if point and point ~= "FORCE" then assert(tpt.points[point:lower()], value.name) end
        if use and use ~= "FORCE" then assert(tpt.memory_uses[use:lower()], value.name) end
      end
    end
  end},
}
