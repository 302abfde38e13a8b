package threept

// #include "shim.h"
import "C"

import (
	"strconv"
	"unsafe"
)

// Config is a description: the keys of the YAML file (3pt.yaml(5)), each with a default. A value is checked for type and
// range when it is set, the rules between keys by Check, LoadConfig, ParseConfig, and by whatever takes the description.
type Config struct{ *handle }

var configKind = &kind{"description", func(p unsafe.Pointer) { C.tpt_config_destroy((*C.tpt_config)(p)) }}

// c is NULL where there is no description.
func (c *Config) c() *C.tpt_config {
	if c == nil {
		return nil
	}
	return (*C.tpt_config)(c.p)
}

func (c *Config) use() use {
	if c == nil {
		return use{}
	}
	return use{c.handle, shared, true}
}

func newConfig(f func(out **C.tpt_config) C.tpt_status) (*Config, error) {
	if err := compatible(); err != nil {
		return nil, err
	}
	var made *C.tpt_config
	if err := (*root)(nil).run(nil, nil, func() C.tpt_status { return f(&made) }); err != nil {
		return nil, err
	}
	return &Config{wrap(unsafe.Pointer(made), configKind, nil, new(guard))}, nil
}

// NewConfig makes a description with all defaults: the preset "3pt-5m".
func NewConfig() (*Config, error) {
	return newConfig(func(out **C.tpt_config) C.tpt_status { return C.tpt_config_create(out) })
}

// PresetConfig makes a description by the name of a preset.
func PresetConfig(name string) (config *Config, err error) {
	err = terminated("name", name, func(name *C.char) (err error) {
		config, err = newConfig(func(out **C.tpt_config) C.tpt_status { return C.tpt_config_preset(name, out) })
		return err
	})
	return config, err
}

// PresetNames are the names of the presets.
func PresetNames() []string {
	var names []string
	for i := 0; ; i++ {
		name := C.tpt_config_preset_name(C.size_t(i))
		if name == nil {
			return names
		}
		names = append(names, C.GoString(name))
	}
}

// LoadConfig reads a YAML file: its keys over the defaults, checked as a whole.
func LoadConfig(path string) (config *Config, err error) {
	err = terminated("path", path, func(path *C.char) (err error) {
		config, err = newConfig(func(out **C.tpt_config) C.tpt_status { return C.tpt_config_load(path, out) })
		return err
	})
	return config, err
}

// ParseConfig does the same from memory.
func ParseConfig(yaml string) (*Config, error) {
	return newConfig(func(out **C.tpt_config) C.tpt_status {
		text, length := chars(yaml)
		return C.tpt_config_parse(text, length, out)
	})
}

// Close ends the description.
func (c *Config) Close() error {
	if c == nil {
		return nil
	}
	return c.close()
}

// LastError is the text of the last failed call on the description, "" where none has failed.
func (c *Config) LastError() (string, error) { return c.lastError() }

// Copy makes a second description, equal and independent.
func (c *Config) Copy() (*Config, error) {
	h, err := c.create(nil, shared, configKind, func(out *unsafe.Pointer) C.tpt_status {
		return C.tpt_config_copy(c.c(), (**C.tpt_config)(unsafe.Pointer(out)))
	})
	if err != nil {
		return nil, err
	}
	return &Config{h}, nil
}

// Set sets one key, "model.n_phases", to a YAML value, as it would stand in the file: "4", "none", "[0.1, 0.2]".
func (c *Config) Set(key, value string) error {
	return terminated("key", key, func(key *C.char) error {
		return terminated("value", value, func(value *C.char) error {
			return c.do(nil, exclusive, func() C.tpt_status { return C.tpt_config_set(c.c(), key, value) })
		})
	})
}

// Get is the value of a key, such that Set takes it.
func (c *Config) Get(key string) (value string, err error) {
	err = terminated("key", key, func(key *C.char) error {
		return c.do(nil, shared, func() C.tpt_status {
			return result(&value, 0, func(to *C.char, capacity C.size_t, length *C.size_t) C.tpt_status {
				return C.tpt_config_get(c.c(), key, to, capacity, length)
			})
		})
	})
	return value, err
}

// number is the value of a key that is a whole number.
func (c *Config) number(key string) (int, error) {
	value, err := c.Get(key)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(value)
}

// Format is YAML with every key, in a form that ParseConfig takes.
func (c *Config) Format() (yaml string, err error) {
	err = c.do(nil, shared, func() C.tpt_status {
		return result(&yaml, 4096, func(to *C.char, capacity C.size_t, length *C.size_t) C.tpt_status {
			return C.tpt_config_format(c.c(), to, capacity, length)
		})
	})
	return yaml, err
}

// Check applies the rules between keys.
func (c *Config) Check() error {
	return c.do(nil, shared, func() C.tpt_status { return C.tpt_config_check(c.c()) })
}

// ParameterCount is how many trainable numbers the described model has.
func (c *Config) ParameterCount() (int, error) {
	var count C.size_t
	err := c.do(nil, shared, func() C.tpt_status { return C.tpt_config_parameter_count(c.c(), &count) })
	return int(count), err
}

// MemoryUse is what Config.Memory counts.
type MemoryUse int32

const (
	MemoryInference MemoryUse = C.TPT_MEMORY_INFERENCE // the model and one decoder
	MemoryTraining  MemoryUse = C.TPT_MEMORY_TRAINING  // the model, its trainer, its optimizer
)

// Memory is how many bytes will be asked for, at 2 threads; each further thread takes 1 MiB.
func (c *Config) Memory(use MemoryUse) (int, error) {
	var bytes C.size_t
	err := c.do(nil, shared, func() C.tpt_status {
		return C.tpt_config_memory(c.c(), C.tpt_memory_use(use), &bytes)
	})
	return int(bytes), err
}
