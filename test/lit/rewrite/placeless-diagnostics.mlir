// What is wrong with an option is no place of a file, and is said without one.

// RUN: not cgx-opt %s --cgx-compress=bits=9 2>&1 | FileCheck %s
// CHECK: {{^}}cgx-opt: error: expected bits in 1..8, got 9

// RUN: %if native %{ not cgx-compile %s -o %t.so --mcpu=znver9 2>&1 | FileCheck %s --check-prefix=CPU %}
// CPU: {{^}}error: expected --mcpu to be native or a processor of {{.*}}, got 'znver9'

module {
}
