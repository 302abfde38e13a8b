rockspec_format = "3.0"
package = "3pt"
version = "1.0.0-1"
source = {url = "file://3pt.lua"}
description = {
  summary = "Train and run Three-Phase Transformers with lib3pt, for LuaJIT 2.1",
  license = "MIT",
}
supported_platforms = {"unix"}
dependencies = {"lua == 5.1"}
build = {type = "builtin", modules = {["3pt"] = "3pt.lua"}}
