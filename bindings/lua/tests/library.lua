-- How the library is found, and what is said where it is not; each in a process of its own.
local support = require "support"
local equal, has = support.equal, support.has

local library = support.environment "LIB3PT_LIBRARY"

local function luajit(environment, code)
  return support.run("env " .. environment .. " luajit -e '" .. code .. "'")
end

local VERSION = 'print(require("3pt").version())'

return {
  {"library: LIB3PT_LIBRARY names it", function()
    local said, fine = luajit("LIB3PT_LIBRARY=" .. library, VERSION)
    assert(fine, said)
    has(said, "1.")
  end},
  {"library: load() comes before LIB3PT_LIBRARY", function()
    local said, fine = luajit("LIB3PT_LIBRARY=/nowhere/lib3pt.so.1",
      ('local tpt = require "3pt"; tpt.load("%s"); tpt.load("%s"); tpt.load(); print(tpt.version())'):format(library, library))
    assert(fine, said)
    has(said, "1.")
  end},
  {"library: load() of another one afterwards is an error", function()
    local said, fine = luajit("LIB3PT_LIBRARY=" .. library, 'local tpt = require "3pt"; tpt.version(); tpt.load "other.so"')
    assert(not fine)
    has(said, "TPT_E_STATE: lib3pt is loaded already, from " .. library)
  end},
  {"library: without a path the system finds the soname", function()
    local said, fine = luajit("-u LIB3PT_LIBRARY LD_LIBRARY_PATH=" .. library:match "^(.*)/", VERSION)
    assert(fine, said)
    said, fine = luajit("LIB3PT_LIBRARY= LD_LIBRARY_PATH=" .. library:match "^(.*)/", VERSION)
    assert(fine, said)
  end},
  {"library: not found says where it was looked for and how to install it", function()
    local said, fine = luajit("LIB3PT_LIBRARY=/nowhere/lib3pt.so.1", VERSION)
    assert(not fine)
    has(said, "TPT_E_IO: cannot load lib3pt from /nowhere/lib3pt.so.1")
    has(said, "install lib3pt 1.x, or give the path of its file to load() or in LIB3PT_LIBRARY")
  end},
  {"library: another library is refused", function()
    local said, fine = luajit("LIB3PT_LIBRARY=libc.so.6", VERSION)
    assert(not fine)
    has(said, "TPT_E_UNSUPPORTED: libc.so.6 is no lib3pt")
  end},
  {"library: one that is too old is refused with both versions", function()
    local source = support.read(support.environment "LIB3PT_LUA" .. "/3pt.lua")
    local newer, count = source:gsub("TPT_VERSION_MINOR = 0", "TPT_VERSION_MINOR = 77")
    equal(count, 1)
    support.write(support.scratch "newer.lua", newer)
    local said, fine = support.run("luajit -e 'print(dofile(\"" .. support.scratch "newer.lua" .. "\").version())'")
    assert(not fine)
    has(said, "TPT_E_UNSUPPORTED")
    has(said, "1.77.0")
    has(said, "1.0.0")
  end},
}
