//===-- StablehloTransferOps.td - infeeds, outfeeds and messages -*- tablegen -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_DIALECT_STABLEHLO_STABLEHLOTRANSFEROPS_TD
#define CGX_DIALECT_STABLEHLO_STABLEHLOTRANSFEROPS_TD

include "cgx/Dialect/Stablehlo/StablehloAttrs.td"
include "cgx/Dialect/Stablehlo/StablehloTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// Ops that move data to or from somewhere else, ordered by tokens. They are never removed.
class Stablehlo_TransferOp<string mnemonic> : Stablehlo_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]>;

def Stablehlo_InfeedOp : Stablehlo_TransferOp<"infeed"> {
  let summary = "data that the host feeds in";
  let description = [{
    Example:
    ```mlir
    %1:2 = "stablehlo.infeed"(%0) <{infeed_config = ""}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
    ```

    **Constraints:**
    - (C1) there is at least one result
    - (C2) the results but for the last are tensors
    - (C3) the last result is a token
  }];
  let arguments = (ins Stablehlo_TokenType:$token, DefaultValuedStrAttr<StrAttr, "">:$infeed_config,
                       OptionalAttr<ArrayAttr>:$layout);
  let results = (outs Variadic<Stablehlo_TensorOrToken>);
  let hasVerifier = 1;
}

def Stablehlo_OutfeedOp : Stablehlo_TransferOp<"outfeed"> {
  let summary = "data that the host takes out";
  let description = [{
    Example:
    ```mlir
    %2 = "stablehlo.outfeed"(%0, %1) <{outfeed_config = ""}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
    ```
  }];
  let arguments = (ins Variadic<Stablehlo_Tensor>:$inputs, Stablehlo_TokenType:$token,
                       DefaultValuedStrAttr<StrAttr, "">:$outfeed_config);
  let results = (outs Stablehlo_TokenType:$result);
}

def Stablehlo_SendOp : Stablehlo_TransferOp<"send"> {
  let summary = "sends values over a channel";
  let description = [{
    Example:
    ```mlir
    %2 = "stablehlo.send"(%0, %1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>,
        is_host_transfer = true}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
    ```

    **Constraints:**
    - (C1) the channel's type is 1 (device to device), or 2 (device to host) if `is_host_transfer`
  }];
  let arguments = (ins Variadic<Stablehlo_Tensor>:$inputs, Stablehlo_TokenType:$token,
                       Stablehlo_ChannelHandleAttr:$channel_handle,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_host_transfer,
                       OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs Stablehlo_TokenType:$result);
  let hasVerifier = 1;
}

def Stablehlo_RecvOp : Stablehlo_TransferOp<"recv"> {
  let summary = "receives values over a channel";
  let description = [{
    Example:
    ```mlir
    %1:2 = "stablehlo.recv"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>,
        is_host_transfer = true}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
    ```

    **Constraints:**
    - (C1) the channel's type is 1 (device to device), or 3 (host to device) if `is_host_transfer`
    - (C2) there is at least one result
    - (C3) the results but for the last are tensors
    - (C4) the last result is a token
  }];
  let arguments = (ins Stablehlo_TokenType:$token, Stablehlo_ChannelHandleAttr:$channel_handle,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_host_transfer,
                       OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs Variadic<Stablehlo_TensorOrToken>);
  let hasVerifier = 1;
}

#endif // CGX_DIALECT_STABLEHLO_STABLEHLOTRANSFEROPS_TD
