// Package typednil finds interface values that hold a nil. Such a value is not equal to
// nil, but panics when it is used.
package typednil

import "reflect"

// Is reports whether v holds a nil pointer, map, function or channel. It returns false
// for a nil interface, because configurations use it for a default, and for a nil slice,
// because that can be used.
func Is(v any) bool { return holdsNil(reflect.ValueOf(v)) }

// Field returns the name of the first interface field of a struct that holds such a nil,
// or "". It searches nested structs, too, and returns the path to the field, such as
// "Scan.Recognizer". It skips unexported fields. config must be a struct.
func Field(config any) string { return field(reflect.ValueOf(config)) }

func field(config reflect.Value) string {
	for i := range config.NumField() {
		name, v := config.Type().Field(i).Name, config.Field(i)
		switch {
		case !config.Type().Field(i).IsExported():
		case v.Kind() == reflect.Interface && holdsNil(v.Elem()):
			return name
		case v.Kind() == reflect.Struct:
			if inner := field(v); inner != "" {
				return name + "." + inner
			}
		}
	}
	return ""
}

func holdsNil(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return v.IsNil()
	default:
		return false
	}
}
