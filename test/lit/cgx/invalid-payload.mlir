// The explicit form: one test per constraint, named by its label.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @compress_c1(%a: tensor<4xf32>) {
  // expected-error@below {{expected id to be 0 or more, got -1}}
  %0 = cgx.compress %a phase(contribution) id(-1) layer("", other) operand_number(0)
      : tensor<4xf32> -> !cgx.payload<4xf32, #cgx.identity, chunks = 2>
  return
}

// -----

func.func @compress_c1_operand_number(%a: tensor<4xf32>) {
  // expected-error@below {{expected operand_number to be 0 or more, got -1}}
  %0 = cgx.compress %a phase(contribution) id(0) layer("", other) operand_number(-1)
      : tensor<4xf32> -> !cgx.payload<4xf32, #cgx.identity, chunks = 2>
  return
}

// -----

func.func @compress_c2(%a: tensor<5xf32>) {
  // expected-error@below {{expected the operand to be 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0 = cgx.compress %a phase(contribution) id(0) layer("", other) operand_number(0)
      : tensor<5xf32> -> !cgx.payload<4xf32, #cgx.identity, chunks = 2>
  return
}

// -----

func.func @compress_c2_slots(%a: tensor<4xf32>) {
  // expected-error@below {{expected the result to be '!cgx.payload<4xf32, #cgx.identity, chunks = 2>'}}
  %0 = cgx.compress %a phase(contribution) id(0) layer("", other) operand_number(0)
      : tensor<4xf32> -> !cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 1>
  return
}

// -----

func.func @compress_c3(%a: tensor<4xf32>) {
  // expected-error@below {{expected the operand to be 'tensor<2xf32>', got 'tensor<4xf32>'}}
  %0 = cgx.compress %a phase(result) id(0) layer("", other) operand_number(0)
      : tensor<4xf32> -> !cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 1>
  return
}

// -----

func.func @compress_c3_slots(%a: tensor<2xf32>) {
  // expected-error@below {{expected the result to be '!cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 1>'}}
  %0 = cgx.compress %a phase(result) id(0) layer("", other) operand_number(0)
      : tensor<2xf32> -> !cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 2>
  return
}

// -----

func.func @compress_phase(%a: tensor<2xf32>) {
  // expected-error@below {{expected contribution or result, got final}}
  %0 = cgx.compress %a phase(final) id(0) layer("", other) operand_number(0)
      : tensor<2xf32> -> !cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 1>
  return
}

// -----

func.func @payload_all_to_all_c1(%a: !cgx.payload<4xf32, #cgx.identity, chunks = 2>) {
  // expected-error@below {{expected id to be 0 or more, got -1}}
  %0 = cgx.payload_all_to_all %a groups([[0, 1]]) id(-1) operand_number(0)
      : !cgx.payload<4xf32, #cgx.identity, chunks = 2> -> !cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 2>
  return
}

// -----

func.func @payload_all_to_all_c2(%a: !cgx.payload<4xf32, #cgx.identity, chunks = 2>) {
  // expected-error@below {{expected groups of 2 ranks, one per chunk, got #cgx.groups<}}
  %0 = cgx.payload_all_to_all %a groups([[0, 1, 2]]) id(0) operand_number(0)
      : !cgx.payload<4xf32, #cgx.identity, chunks = 2> -> !cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 2>
  return
}

// -----

func.func @payload_all_to_all_c3(%a: !cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 2>) {
  // expected-error@below {{expected the operand to be '!cgx.payload<4xf32, #cgx.identity, chunks = 2>'}}
  %0 = cgx.payload_all_to_all %a groups([[0, 1]]) id(0) operand_number(0)
      : !cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 2>
     -> !cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 2>
  return
}

// -----

func.func @payload_all_to_all_c4(%a: !cgx.payload<4xf32, #cgx.identity, chunks = 2>) {
  // expected-error@below {{expected the result to be '!cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 2>'}}
  %0 = cgx.payload_all_to_all %a groups([[0, 1]]) id(0) operand_number(0)
      : !cgx.payload<4xf32, #cgx.identity, chunks = 2> -> !cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 3>
  return
}

// -----

func.func @decompress_accumulate_c1(%a: !cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 2>) {
  // expected-error@below {{expected operand_number to be 0 or more, got -1}}
  %0 = cgx.decompress_accumulate sum %a id(0) operand_number(-1)
      : !cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 2> -> tensor<2xf32>
  return
}

// -----

func.func @decompress_accumulate_c2(%a: !cgx.payload<4xf32, #cgx.identity, chunks = 2>) {
  // expected-error@below {{expected a payload with slots, got '!cgx.payload<4xf32, #cgx.identity, chunks = 2>'}}
  %0 = cgx.decompress_accumulate sum %a id(0) operand_number(0)
      : !cgx.payload<4xf32, #cgx.identity, chunks = 2> -> tensor<2xf32>
  return
}

// -----

func.func @decompress_accumulate_c3(%a: !cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 2>) {
  // expected-error@below {{expected the result to be 'tensor<2xf32>', got 'tensor<4xf32>'}}
  %0 = cgx.decompress_accumulate sum %a id(0) operand_number(0)
      : !cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 2> -> tensor<4xf32>
  return
}

// -----

func.func @decompress_accumulate_c4(%a: !cgx.payload<4xf32, #cgx.quantize<bucket = 2>, chunks = 2, slots = 2>) {
  // expected-error@below {{expected an exact codec with reduction max, got #cgx.quantize}}
  %0 = cgx.decompress_accumulate max %a id(0) operand_number(0)
      : !cgx.payload<4xf32, #cgx.quantize<bucket = 2>, chunks = 2, slots = 2> -> tensor<2xf32>
  return
}

// -----

func.func @payload_all_gather_c1(%a: !cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 1>) {
  // expected-error@below {{expected id to be 0 or more, got -1}}
  %0 = cgx.payload_all_gather %a groups([[0, 1]]) id(-1) operand_number(0)
      : !cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 1> -> !cgx.payload<4xf32, #cgx.identity, chunks = 2>
  return
}

// -----

func.func @payload_all_gather_c2(%a: !cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 1>) {
  // expected-error@below {{expected groups of 2 ranks, one per chunk, got #cgx.groups<}}
  %0 = cgx.payload_all_gather %a groups([[0, 1], [2]]) id(0) operand_number(0)
      : !cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 1> -> !cgx.payload<4xf32, #cgx.identity, chunks = 2>
  return
}

// -----

func.func @payload_all_gather_c3(%a: !cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 2>) {
  // expected-error@below {{expected the operand to be '!cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 1>'}}
  %0 = cgx.payload_all_gather %a groups([[0, 1]]) id(0) operand_number(0)
      : !cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 2> -> !cgx.payload<4xf32, #cgx.identity, chunks = 2>
  return
}

// -----

func.func @payload_all_gather_c4(%a: !cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 1>) {
  // expected-error@below {{expected the result to be '!cgx.payload<4xf32, #cgx.identity, chunks = 2>'}}
  %0 = cgx.payload_all_gather %a groups([[0, 1]]) id(0) operand_number(0)
      : !cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 1> -> !cgx.payload<5xf32, #cgx.identity, chunks = 2>
  return
}

// -----

func.func @decompress_c1(%a: !cgx.payload<4xf32, #cgx.identity, chunks = 2>) {
  // expected-error@below {{expected id to be 0 or more, got -1}}
  %0 = cgx.decompress %a id(-1) operand_number(0) : !cgx.payload<4xf32, #cgx.identity, chunks = 2> -> tensor<4xf32>
  return
}

// -----

func.func @decompress_c2(%a: !cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 1>) {
  // expected-error@below {{expected the operand to be '!cgx.payload<4xf32, #cgx.identity, chunks = 2>'}}
  %0 = cgx.decompress %a id(0) operand_number(0)
      : !cgx.payload<4xf32, #cgx.identity, chunks = 2, slots = 1> -> tensor<4xf32>
  return
}

// -----

func.func @decompress_c3(%a: !cgx.payload<4xf32, #cgx.identity, chunks = 2>) {
  // expected-error@below {{expected the result to be 'tensor<4xf32>', got 'tensor<2xf32>'}}
  %0 = cgx.decompress %a id(0) operand_number(0) : !cgx.payload<4xf32, #cgx.identity, chunks = 2> -> tensor<2xf32>
  return
}
