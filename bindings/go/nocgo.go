//go:build !cgo

package threept

// Without cgo there is nothing here. The compiler's error then shows the name below.
var _ = lib3pt_needs_cgo_and_a_C_compiler_set_CGO_ENABLED_to_1_and_install_one
