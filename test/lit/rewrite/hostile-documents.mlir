// A plan or a machine file may be anything; it is refused by its place, and read in bounded time and depth.

// RUN: python3 -c "print('{\"cgx_plan\": 1, \"layers\": [{\"layer\": \"a\", \"kind\": \"gradient\", \"dtype\": \"f32\", \"elements\": 1, \"codec\": ' + '[' * 80000 + ']' * 80000 + '}]}')" > %t.deep.json
// RUN: not cgx-opt %s --cgx-assign-codecs="plan=%t.deep.json" 2>&1 | FileCheck %s --check-prefix=DEEP
// RUN: not cgx-opt %s --cgx-choose-algorithms="machine=%t.deep.json" 2>&1 | FileCheck %s --check-prefix=DEEP
// RUN: not cgx-opt %s --cgx-assign-codecs="plan=/dev/zero" 2>&1 | FileCheck %s --check-prefix=ENDLESS
// RUN: python3 -c "print('{\"cgx_plan\": 1, \"layers\": [{\"layer\": \"a\", \"kind\": \"gradient\", \"dtype\": \"f32\", \"elements\": 1, \"codec\": {\"family\": \"quantize\", \"bits\": \"' + '<' * 80000 + '\"}}]}')" > %t.long.json
// RUN: not cgx-opt %s --cgx-assign-codecs="plan=%t.long.json" 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: echo '{"cgx_plan": 1, "layers": [], "layers": []}' > %t.twice.json
// RUN: not cgx-opt %s --cgx-assign-codecs="plan=%t.twice.json" 2>&1 | FileCheck %s --check-prefix=TWICE

// DEEP: error: {{plan|machine}} '{{.*}}deep.json': expected JSON: layers[0].codec{{.*}}: expected at most 64 arrays and objects in each other
// ENDLESS: error: plan '/dev/zero': cannot read it: expected at most 67108864 bytes
// LONG: error: plan '{{.*}}long.json': layer at position 0: expected at most 64 characters as 'bits' of a codec, got "<<<
// TWICE: error: plan '{{.*}}twice.json': expected JSON: at the top: 'layers' is there twice
module {}
