-- Reads JSON as the vectors and 3pt.json have it. null becomes nil.
local ESCAPES = {['"'] = '"', ["\\"] = "\\", ["/"] = "/", n = "\n", t = "\t", r = "\r"}
local WORDS = {{"true", true}, {"false", false}, {"null", nil}}

local function decode(source)
  local at, value = 1, nil

  local function wrong(what) error(("JSON: byte %d: %s"):format(at, what), 0) end
  local function skip_space() at = source:find("%S", at) or #source + 1 end
  local function take(pattern)
    local found = source:match("^" .. pattern, at)
    if found then at = at + #found end
    return found
  end

  local function text()
    local parts = {}
    at = at + 1
    while true do
      parts[#parts + 1] = take '[^"\\]+'
      if take '"' then return table.concat(parts) end
      local escape = take "\\." or wrong "no end of a text"
      parts[#parts + 1] = ESCAPES[escape:sub(2)] or wrong("escape " .. escape)
    end
  end

  -- Calls item() between commas, up to the closing bracket.
  local function items(closing, item)
    at = at + 1
    skip_space()
    if take(closing) then return end
    repeat
      skip_space()
      item()
      skip_space()
    until not take ","
    if not take(closing) then wrong("no " .. closing) end
  end

  local function array()
    local list = {}
    items("%]", function() list[#list + 1] = value() end)
    return list
  end

  local function object()
    local map = {}
    items("}", function()
      local key = text()
      skip_space()
      if not take ":" then wrong "no :" end
      map[key] = value()
    end)
    return map
  end

  function value()
    skip_space()
    local first = source:sub(at, at)
    if first == "{" then return object() end
    if first == "[" then return array() end
    if first == '"' then return text() end
    for _, word in ipairs(WORDS) do
      if take(word[1]) then return word[2] end
    end
    return tonumber(take "-?[%d.eE+-]+" or wrong "no value")
  end

  return value()
end

return decode
