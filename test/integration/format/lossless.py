"""Decodes entropy-coded exponents, by the text of FORMAT.md."""

import numpy as np

BLOCK, STREAM, LONGEST = 8192, 2048, 11


def decoder(lengths):
    """Returns (symbol, length) for each value of the next 11 bits, the first of which is the lowest."""
    table, code = [None] * (1 << LONGEST), 0
    last = 0
    for length, symbol in sorted((length, symbol) for symbol, length in enumerate(lengths) if length):
        code <<= length - last
        last = length
        begin = int(format(code, f"0{length}b")[::-1], 2)
        for bits in range(begin, 1 << LONGEST, 1 << length):
            table[bits] = symbol, length
        code += 1
    assert code == 1 << last and all(table)
    return table


def read_stream(data, table, count):
    bits, at, symbols = int.from_bytes(data, "little"), 0, []
    for _ in range(count):
        symbol, length = table[bits >> at & (1 << LONGEST) - 1]
        symbols.append(symbol)
        at += length
    assert -(-at // 8) == len(data)
    return symbols


def mantissas_of(body, dtype, nonzero):
    """Returns the signs, and bits 0 to 22, of the elements that are not zero."""
    low = body.take("<u2", nonzero).astype(np.uint32) if dtype == "f32" else np.zeros(nonzero, np.uint32)
    rest = body.take(np.uint8, nonzero).astype(np.uint32)
    return rest >> 7 << 31 | (rest & 127) << 16 | low


def decode(body, dtype, elements):
    """Returns the bits of the elements, in the upper half of 32 for 16-bit types."""
    word = np.uint32 if dtype == "f32" else np.uint16
    blocks = -(-elements // BLOCK)
    offsets = body.take("<u8", blocks)
    first, symbols = (int(n) for n in body.take("<u2", 2))
    packed = body.take(np.uint8, -(-symbols // 2))
    lengths = np.stack([packed & 15, packed >> 4], 1).ravel()[:symbols]
    table = decoder(lengths.tolist())
    result = np.zeros(elements, np.uint32)
    for b in range(blocks):
        body.at += -body.offset() % 8
        assert body.offset() == offsets[b]
        own = result[b * BLOCK:(b + 1) * BLOCK]
        nonzero = int(body.take("<u2", 1)[0])
        if nonzero == 0xffff:
            body.take(np.uint8, 6)
            raw = body.take(np.dtype(word).newbyteorder("<"), len(own)).astype(np.uint32)
            own[:] = raw if dtype == "f32" else raw << 16
            continue
        streams = range(0, len(own), STREAM)
        sizes = [int(n) for n in body.take("<u2", len(streams))]
        mantissas = mantissas_of(body, dtype, nonzero)
        symbols_of_block = []
        for begin, size in zip(streams, sizes):
            symbols_of_block += read_stream(body.take(np.uint8, size).tobytes(), table, min(STREAM, len(own) - begin))
        found = np.array(symbols_of_block)
        own[found == 1] = 1 << 31
        own[found > 1] = ((found[found > 1] + first - 2).astype(np.uint32) << 23) | mantissas
        assert (found > 1).sum() == nonzero
    body.at += -body.offset() % 8
    return result


def values(body, dtype, elements):
    bits = decode(body, dtype, elements)
    return bits if dtype == "f32" else (bits >> 16).astype(np.uint16)
