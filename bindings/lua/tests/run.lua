-- luajit run.lua OUT [PART]: runs the tests (those whose name has PART in it), one line a test to OUT.
package.path = arg[0]:match "^(.*)/" .. "/?.lua;" .. package.path

local FILES = {"interface", "conformance", "programs", "values", "generate", "lifetimes", "callbacks", "library", "reached"}

local function line_of(name, fine, why)
  if fine then return "pass " .. name end
  if type(why) == "table" and why.skip then return "skip " .. name .. ": " .. why.skip end
  return "fail " .. name .. ": " .. tostring(why):gsub("%s*\n%s*", " | ")
end

local function trace(why)
  if type(why) == "string" then return debug.traceback(why, 2) end
  return why.skip and why or debug.traceback(tostring(why), 2)
end

local out = assert(io.open(arg[1], "w"))
for _, file in ipairs(FILES) do
  for _, test in ipairs(require(file)) do
    if not arg[2] or test[1]:find(arg[2], 1, true) then
      local line = line_of(test[1], xpcall(test[2], trace))
      print(line)
      out:write(line, "\n")
      out:flush()
    end
  end
end
out:close()
