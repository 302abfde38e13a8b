use lib3pt::{Config, MemoryUse};
use serde_json::json;

use super::values::{self, Json, Scratch};

pub fn run(inputs: &Json) -> Json {
    results(inputs).unwrap()
}

fn preset(name: &str) -> lib3pt::Result<Json> {
    let config = Config::preset(name)?;
    Ok(json!({
        "name": name,
        "parameter_count": config.parameter_count()?,
        "inference": config.memory(MemoryUse::from_code(0))?,
        "training": config.memory(MemoryUse::from_code(1))?,
    }))
}

fn set(config: &mut Config, change: &Json) -> lib3pt::Result<()> {
    config.set(values::text(change, "key"), values::text(change, "value"))
}

fn status(result: &lib3pt::Result<()>) -> u32 {
    result.as_ref().err().map_or(0, |e| e.status().code())
}

fn results(inputs: &Json) -> lib3pt::Result<Json> {
    let mut config: Config = values::text(inputs, "yaml").parse()?;
    for change in values::list(inputs, "set") {
        set(&mut config, change)?;
    }
    let format = config.format()?;
    let path = Scratch::new("config.yaml");
    std::fs::write(&path.0, &format).expect("the file is written");
    let mut broken = config.copy()?;
    set(&mut broken, &inputs["break"])?;
    let broken = broken.check();
    let keys = values::texts(inputs, "get").into_iter();
    Ok(json!({
        "presets": Config::preset_names().map(preset).collect::<lib3pt::Result<Json>>()?,
        "get": keys.map(|key| config.get(key)).collect::<lib3pt::Result<Vec<_>>>()?,
        "parsed": Config::parse(&format)?.format()?,
        "loaded": Config::load(&path.0)?.format()?,
        "format": format,
        "check": status(&config.check()),
        "broken": {
            "status": status(&broken),
            "message": broken.expect_err("it is broken").message(),
        },
        "unbroken": status(&config.check()),
    }))
}
