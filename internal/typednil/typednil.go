// Package typednil finds interface values that hold a nil, which pass every
// comparison with nil and panic when they are used.
package typednil

import "reflect"

// Is reports whether v holds a nil pointer, map, function or channel. A plain
// nil and a nil slice are none: the former is the absence that configurations
// document, the latter is ready for use.
func Is(v any) bool { return holdsNil(reflect.ValueOf(v)) }

// Field returns the name of the first interface field of a configuration that
// holds such a nil, with those of the structs around it ("Scan.Recognizer"), or
// "". Fields that are not exported are not looked at.
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
